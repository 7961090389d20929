"""Rankings into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_core.types import Hit

# What the normalised fusion counts beside the reranker's score: enough to decide between passages that
# are about as close, as those of filings and other tables often are. On prose it changes nothing beyond
# chance; twice as much does harm.
FUSION_WEIGHT = 0.1


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Fuse rankings by the sum of ``1 / (k + rank)``, ranks counted from 1.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009. The order in which rankings are given changes nothing: equal sums
    are ordered by chunk id.

    Returns
    -------
    list of Hit
        Every chunk of any ranking once, best first.
    """
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            sums[hit.chunk_id] = sums.get(hit.chunk_id, 0.0) + 1.0 / (k + rank)
    # Rounded, so that the order of addition cannot decide between equal sums.
    ordered = sorted(sums.items(), key=lambda item: (-round(item[1], 12), item[0]))
    return [Hit(chunk_id, score) for chunk_id, score in ordered]


def weighted_sum(reranked: Sequence[Hit], fused: Mapping[int, float]) -> list[Hit]:
    """Reranked chunks by the weighted mean of the reranker's score and the fusion's over its largest.

    Fox and Shaw's CombSUM with weights ("Combination of multiple searches", TREC-2, 1994): what both
    retrievers found high is a sign of its own.

    Parameters
    ----------
    reranked : sequence of Hit
        Scores in -1..1.
    fused : mapping of chunk id to float
        Of `reciprocal_rank_fusion`; a chunk that it lacks counts 0.

    Returns
    -------
    list of Hit
        Best first, scores in -1..1.
    """
    largest = max(fused.values(), default=0.0) or 1.0
    scored = [
        Hit(hit.chunk_id, (hit.score + FUSION_WEIGHT * fused.get(hit.chunk_id, 0.0) / largest) / (1 + FUSION_WEIGHT))
        for hit in reranked
    ]
    return sorted(scored, key=lambda hit: -hit.score)
