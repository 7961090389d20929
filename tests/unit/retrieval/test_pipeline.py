"""Fusion, reranking and ordering of retrieved hits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.retrieval.pipeline import RetrievedHits, rank_chunks
from rag_core.types.retrieval import Hit, Ranking, Timer


def hits(*pairs: tuple[int, float]) -> list[Hit]:
    return [Hit(*pair) for pair in pairs]


DENSE = hits((1, 0.9), (2, 0.8))
WORDS = hits((2, 7.0), (3, 3.0))
BOTH = {"dense": DENSE, "bm25": WORDS}
RERANKED = hits((3, 0.7), (1, 0.6), (2, 0.5))


def rank(reranked: Sequence[Hit], rank_by: str = "rerank") -> Ranking:
    retrieved = RetrievedHits(BOTH, (), reranked)
    return rank_chunks(retrieved, rank_by=rank_by, rrf_k=60, timer=Timer())


class RecordingCrossEncoder:
    """A cross-encoder with fixed scores that records the chunks it reads."""

    def __init__(self, *pairs: tuple[int, float]) -> None:
        self.hits = hits(*pairs)
        self.read: list[tuple[int, ...]] = []

    def __call__(self, chunk_ids: Sequence[int]) -> list[Hit]:
        self.read.append(tuple(chunk_ids))
        return [hit for hit in self.hits if hit.chunk_id in chunk_ids]


@pytest.mark.parametrize(
    ("reranked", "order"),
    [
        (RERANKED, (3, 1, 2)),
        (hits((3, 0.7)), (3, 2, 1)),
        (hits((3, 0.7), (1, 0.7), (2, 0.5)), (1, 3, 2)),
    ],
    ids=["all scored", "without scores in fused order", "equal scores in fused order"],
)
def test_reranker_determines_the_order(reranked: list[Hit], order: tuple[int, ...]) -> None:
    ranking = rank(reranked)
    assert ranking.order == order
    assert set(ranking.scores["rerank"]) == {hit.chunk_id for hit in reranked}


def test_scores_are_stored_by_stage() -> None:
    scores = rank(hits((1, 0.6))).scores
    assert scores["dense"] == {1: 0.9, 2: 0.8}
    assert scores["bm25"] == {2: 7.0, 3: 3.0}
    assert scores["rerank"] == {1: 0.6}
    assert scores["rrf"][2] == pytest.approx(1 / 61 + 1 / 62)


@pytest.mark.parametrize(
    ("rank_by", "retrieved", "order", "scored"),
    [
        ("dense", {"dense": DENSE}, (1, 2), {"dense", "rerank"}),
        ("bm25", {"bm25": WORDS}, (2, 3), {"bm25", "rerank"}),
        ("rrf", BOTH, (2, 1, 3), {"dense", "bm25", "rrf", "rerank"}),
        ("rerank", BOTH, (3, 1, 2), {"dense", "bm25", "rrf", "rerank"}),
        ("financials", BOTH, (3, 1, 2), {"dense", "bm25", "rrf", "rerank"}),
    ],
)
def test_selected_stage_determines_the_order(
    rank_by: str, retrieved: dict[str, list[Hit]], order: tuple[int, ...], scored: set[str]
) -> None:
    known = {hit.chunk_id for found in retrieved.values() for hit in found}
    reranked = [hit for hit in RERANKED if hit.chunk_id in known]
    ranking = rank_chunks(RetrievedHits(retrieved, (), reranked), rank_by=rank_by, rrf_k=60, timer=Timer())
    assert ranking.order == order
    assert {name for name, by_chunk in ranking.scores.items() if by_chunk} == scored


def test_cross_encoder_orders_the_first_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.retrieval.pipeline.CROSS_ENCODER_CHUNKS", 2)
    encoder, timer = RecordingCrossEncoder((1, 0.9), (3, 0.2), (2, 0.1)), Timer()
    retrieved = RetrievedHits(BOTH, (), RERANKED)
    ranking = rank_chunks(retrieved, rank_by="cross_encoder", rrf_k=60, timer=timer, cross_encode=encoder)
    assert encoder.read == [(3, 1)]
    assert ranking.order == (1, 3, 2)
    assert ranking.scores["cross_encoder"] == {1: 0.9, 3: 0.2}
    assert ranking.scores["rerank"] == {3: 0.7, 1: 0.6, 2: 0.5}
    assert ranking.scores["rrf"]
    assert list(timer.ms) == ["rerank", "cross_encoder"]


def test_cross_encoder_is_unused_for_another_stage() -> None:
    encoder = RecordingCrossEncoder((1, 0.9))
    retrieved = RetrievedHits(BOTH, (), RERANKED)
    ranking = rank_chunks(retrieved, rank_by="rerank", rrf_k=60, timer=Timer(), cross_encode=encoder)
    assert (ranking.order, encoder.read) == ((3, 1, 2), [])
    assert "cross_encoder" not in ranking.scores


def test_ranking_by_missing_cross_encoder_is_rejected() -> None:
    with pytest.raises(ValueError, match="cross-encoder"):
        rank_chunks(RetrievedHits(BOTH), rank_by="cross_encoder", rrf_k=60, timer=Timer())


def test_failed_stage_is_timed() -> None:
    timer = Timer()
    with pytest.raises(RuntimeError), timer.measure("dense"):
        raise RuntimeError
    assert "dense" in timer.ms
