"""Several searches made into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.retrieval.late_interaction import LateInteractionReranker
from rag_core.retrieval.queries import Found, Ranked
from rag_core.types import Hit, Passage
from rag_core.types.retrieval import NAMED, Ranking


def fused(rankings: Sequence[Ranked], rrf_k: int) -> Ranked:
    """The chunks of all rankings in the order of their fusion, as found for the first one's question.

    ``rrf`` becomes the score that orders them. Each is compared with the first question, which is what
    gate and reader go by; scores of the stages before that are kept where its own search made them.
    """
    first = rankings[0]
    hits = reciprocal_rank_fusion([[Hit(one, 0.0) for one in ranked.ranking.order] for ranked in rankings], rrf_k)
    scores = {name: dict(by_chunk) for name, by_chunk in first.ranking.scores.items()}
    reranker = LateInteractionReranker(first.tokens.vectors, lambda _: first.weights)
    others = [hit.chunk_id for hit in hits if hit.chunk_id not in scores[reranker.name]]
    scores[reranker.name] |= {hit.chunk_id: hit.score for hit in reranker.rerank(first.question, others)}
    scores["rrf"] = {hit.chunk_id: hit.score for hit in hits}
    scores["financials"] = scores[NAMED] = {}
    rows = {chunk_id: row for ranked in rankings for chunk_id, row in ranked.rows.items()}
    return replace(first, ranking=Ranking(tuple(hit.chunk_id for hit in hits), scores), rows=rows)


def merged(whole: Found, searches: Sequence[Found], top_k: int, rrf_k: int) -> Found:
    """The passages of several questions' searches, ranks fused, as found for the ``whole`` one.

    Where a search passes the gate, those that do not add nothing, and the whole passes with the best
    score. A passage found more than once keeps the scores of the question that it fits best. What lies
    below the searches' own passages comes below all of them, however often it was found.
    """
    answering = [one for one in searches if one.result.gate.answerable] or searches
    score_name = whole.result.gate.score_name
    above = _merged([found.result.passages for found in answering], score_name, rrf_k)
    below = _merged([found.passages for found in answering], score_name, rrf_k)
    order = (above | {chunk_id: one for chunk_id, one in below.items() if chunk_id not in above}).values()
    passages = tuple(replace(one, rank=rank) for rank, one in enumerate(order, 1))
    gate = max((found.result.gate for found in answering), key=lambda gate: gate.score)
    rows = {chunk_id: row for found in searches for chunk_id, row in found.ranked.rows.items()}
    result = replace(whole.result, passages=passages[: min(top_k, len(above))], gate=gate)
    return Found(result, replace(whole.ranked, rows={**whole.ranked.rows, **rows}), passages)


def _merged(searches: Sequence[Sequence[Passage]], score_name: str, rrf_k: int) -> dict[int, Passage]:
    """Passages by chunk, in the order of their ranks' fusion."""
    best: dict[int, Passage] = {}
    for passage in (one for passages in searches for one in passages):
        known = best.get(int(passage.chunk_id))
        if known is None or (passage.scores[score_name] or 0.0) > (known.scores[score_name] or 0.0):
            best[int(passage.chunk_id)] = passage
    fused = reciprocal_rank_fusion([[Hit(int(one.chunk_id), 0.0) for one in passages] for passages in searches], rrf_k)
    return {hit.chunk_id: best[hit.chunk_id] for hit in fused}
