"""Fuse several rankings into one by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.retrieval.late_interaction import rerank_chunks
from rag_core.types import Hit
from rag_core.types.retrieval import NAMED, Ranking
from rag_core.types.searches import RankedChunks


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


def fuse_rankings(rankings: Sequence[RankedChunks], rrf_k: int) -> RankedChunks:
    """Return the chunks of all rankings in the order of their fusion, as found for the first one's question.

    ``rrf`` becomes the score that orders them. Each is compared with the first question, which gate and reader use;
    scores of the stages before that are kept where its own search computed them.
    """
    first = rankings[0]
    hits = reciprocal_rank_fusion([[Hit(one, 0.0) for one in ranked.ranking.order] for ranked in rankings], rrf_k)
    scores = {name: dict(by_chunk) for name, by_chunk in first.ranking.scores.items()}
    vectors = {chunk_id: one for ranked in reversed(rankings) for chunk_id, one in ranked.vectors.items()}
    others = [hit.chunk_id for hit in hits if hit.chunk_id not in scores["rerank"]]
    reranked = rerank_chunks(first.question, first.weights, lambda _: vectors, others)
    scores["rerank"] |= {hit.chunk_id: hit.score for hit in reranked}
    scores["rrf"] = {hit.chunk_id: hit.score for hit in hits}
    scores["financials"] = scores[NAMED] = {}
    rows = {chunk_id: row for ranked in rankings for chunk_id, row in ranked.rows.items()}
    ranking = Ranking(tuple(hit.chunk_id for hit in hits), scores)
    return replace(first, ranking=ranking, rows=rows, vectors=vectors)
