"""Rankings into one."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.types import Hit


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
