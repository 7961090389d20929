"""Fuse several rankings into one by reciprocal rank fusion (RRF)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_core.retrieval.late_interaction import rerank_chunks
from rag_core.types.retrieval import NAMED_SCORE, Hit, Ranking
from rag_core.types.searches import RankedChunks

# The constant in the paper of Cormack, Clarke and Büttcher.
RRF_K = 60


def reciprocal_rank_fusion(rankings: Iterable[Sequence[int]], k: int) -> list[Hit]:
    """Fuse rankings of chunk ids.

    The score of a chunk is the sum of ``1 / (k + rank)`` over the rankings that contain the chunk. Ranks are counted
    from 1. Chunks with equal scores are ordered by chunk id. The method is that of Cormack, Clarke and Büttcher,
    "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.

    Returns
    -------
    list of Hit
        The distinct chunks of all rankings, best first.
    """
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, chunk_id in enumerate(ranking, 1):
            sums[chunk_id] = sums.get(chunk_id, 0.0) + 1.0 / (k + rank)
    # Rounding removes differences in the last digits, which depend on the order of addition.
    ordered = sorted(sums.items(), key=lambda item: (-round(item[1], 12), item[0]))
    return [Hit(chunk_id, score) for chunk_id, score in ordered]


def fuse_rankings(rankings: Sequence[RankedChunks], rrf_k: int) -> RankedChunks:
    """Fuse the rankings of several queries into one ranking for the first query.

    - The chunks are ordered by the score ``rrf`` of this fusion.
    - Chunks without the score ``rerank`` for the first query are reranked for this query, because the gate and the
      extractive reader need the score.
    - The scores ``financials`` and ``named`` are empty.
    - The other scores, such as ``dense`` and ``bm25``, are those of the first query.
    """
    first = rankings[0]
    hits = reciprocal_rank_fusion((ranked.ranking.order for ranked in rankings), rrf_k)
    scores = {name: dict(by_chunk) for name, by_chunk in first.ranking.scores.items()}
    vectors = {chunk_id: one for ranked in reversed(rankings) for chunk_id, one in ranked.vectors.items()}
    others = [hit.chunk_id for hit in hits if hit.chunk_id not in scores["rerank"]]
    reranked = rerank_chunks(first.mapped_question, first.token_weights, lambda _: vectors, others)
    scores["rerank"] |= {hit.chunk_id: hit.score for hit in reranked}
    scores["rrf"] = {hit.chunk_id: hit.score for hit in hits}
    scores["financials"] = scores[NAMED_SCORE] = {}
    rows = {chunk_id: row for ranked in rankings for chunk_id, row in ranked.rows.items()}
    ranking = Ranking(tuple(hit.chunk_id for hit in hits), scores)
    return replace(first, ranking=ranking, rows=rows, vectors=vectors)
