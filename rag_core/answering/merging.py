"""Merge the outcomes of several searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types import Hit, Passage
from rag_core.types.searches import SearchOutcome


def merge_outcomes(whole: SearchOutcome, searches: Sequence[SearchOutcome], top_k: int, rrf_k: int) -> SearchOutcome:
    """Merge the outcomes of several searches into one outcome for the ``whole`` question.

    If at least one search passes the gate, searches that do not pass are ignored. The merged outcome has the gate of
    the search with the highest gate score. A passage that several searches found keeps the scores of the search that
    gave it the highest gate score. Passages in the result of any search come first, followed by passages that the
    searches ranked lower; reciprocal rank fusion orders each of these two groups.
    """
    answering = [one for one in searches if one.result.gate.answerable] or searches
    score_name = whole.result.gate.score_name
    above = _fuse_passages([outcome.result.passages for outcome in answering], score_name, rrf_k)
    below = _fuse_passages([outcome.passages for outcome in answering], score_name, rrf_k)
    order = (above | {chunk_id: one for chunk_id, one in below.items() if chunk_id not in above}).values()
    passages = tuple(replace(one, rank=rank) for rank, one in enumerate(order, 1))
    gate = max((outcome.result.gate for outcome in answering), key=lambda gate: gate.score)
    rows = {chunk_id: row for outcome in searches for chunk_id, row in outcome.ranked.rows.items()}
    result = replace(whole.result, passages=passages[: min(top_k, len(above))], gate=gate)
    tokens = {chunk_id: one for outcome in searches for chunk_id, one in outcome.tokens.items()}
    ranked = replace(whole.ranked, rows={**whole.ranked.rows, **rows})
    return SearchOutcome(result, ranked, passages, {**tokens, **whole.tokens})


def _fuse_passages(searches: Sequence[Sequence[Passage]], score_name: str, rrf_k: int) -> dict[int, Passage]:
    """Return a mapping of chunk id to passage, ordered by reciprocal rank fusion."""
    best: dict[int, Passage] = {}
    for passage in (one for passages in searches for one in passages):
        known = best.get(int(passage.chunk_id))
        if known is None or (passage.scores[score_name] or 0.0) > (known.scores[score_name] or 0.0):
            best[int(passage.chunk_id)] = passage
    fused = reciprocal_rank_fusion([[Hit(int(one.chunk_id), 0.0) for one in passages] for passages in searches], rrf_k)
    return {hit.chunk_id: best[hit.chunk_id] for hit in fused}
