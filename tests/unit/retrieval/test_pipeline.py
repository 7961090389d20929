"""What becomes of the retrievers' hits: fused, reranked, ordered by the stage that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.retrieval.pipeline import RetrievedHits, rank_chunks
from rag_core.types import Hit, RankBy
from rag_core.types.retrieval import Ranking, Timer


def hits(*pairs: tuple[int, float]) -> list[Hit]:
    return [Hit(*pair) for pair in pairs]


DENSE = hits((1, 0.9), (2, 0.8))
WORDS = hits((2, 7.0), (3, 3.0))
RERANKED = hits((3, 0.7), (1, 0.6), (2, 0.5))


def rank(reranked: Sequence[Hit], rank_by: RankBy = "rerank") -> Ranking:
    found = RetrievedHits(DENSE, WORDS, (), reranked)
    return rank_chunks(found, rank_by=rank_by, rrf_k=60, timer=Timer())


class CrossEncoder:
    """Gives fixed scores, and remembers which chunks it read."""

    def __init__(self, *pairs: tuple[int, float]) -> None:
        self.hits = hits(*pairs)
        self.read: list[tuple[int, ...]] = []

    def __call__(self, chunk_ids: Sequence[int]) -> list[Hit]:
        self.read.append(tuple(chunk_ids))
        return [hit for hit in self.hits if hit.chunk_id in chunk_ids]


def test_the_reranker_orders_what_was_found() -> None:
    assert rank(RERANKED).order == (3, 1, 2)


def test_chunks_without_a_score_follow_in_fused_order() -> None:
    ranking = rank(hits((3, 0.7)))
    assert ranking.order == (3, 2, 1)
    assert set(ranking.scores["rerank"]) == {3}


def test_equal_scores_keep_the_fused_order() -> None:
    assert rank(hits((3, 0.7), (1, 0.7), (2, 0.5))).order == (1, 3, 2)


def test_scores_are_kept_under_the_name_of_their_stage() -> None:
    scores = rank(hits((1, 0.6))).scores
    assert scores["dense"] == {1: 0.9, 2: 0.8}
    assert scores["bm25"] == {2: 7.0, 3: 3.0}
    assert scores["rerank"] == {1: 0.6}
    assert scores["rrf"][2] == pytest.approx(1 / 61 + 1 / 62)


@pytest.mark.parametrize(
    ("rank_by", "found", "order", "scored"),
    [
        ("dense", (DENSE, []), (1, 2), {"dense", "rerank"}),
        ("bm25", ([], WORDS), (2, 3), {"bm25", "rerank"}),
        ("rrf", (DENSE, WORDS), (2, 1, 3), {"dense", "bm25", "rrf", "rerank"}),
        ("rerank", (DENSE, WORDS), (3, 1, 2), {"dense", "bm25", "rrf", "rerank"}),
        ("financials", (DENSE, WORDS), (3, 1, 2), {"dense", "bm25", "rrf", "rerank"}),
    ],
)
def test_the_chosen_stage_orders(
    rank_by: RankBy, found: tuple[list[Hit], list[Hit]], order: tuple[int, ...], scored: set[str]
) -> None:
    dense, words = found
    known = {hit.chunk_id for hit in (*dense, *words)}
    reranked = [hit for hit in RERANKED if hit.chunk_id in known]
    ranking = rank_chunks(RetrievedHits(dense, words, (), reranked), rank_by=rank_by, rrf_k=60, timer=Timer())
    assert ranking.order == order
    assert {name for name, by_chunk in ranking.scores.items() if by_chunk} == scored


def test_a_cross_encoder_orders_the_first_chunks_and_the_rest_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.retrieval.pipeline.CROSS_ENCODER_CHUNKS", 2)
    encoder, timer = CrossEncoder((1, 0.9), (3, 0.2), (2, 0.1)), Timer()
    found = RetrievedHits(DENSE, WORDS, (), RERANKED)
    ranking = rank_chunks(found, rank_by="cross_encoder", rrf_k=60, timer=timer, cross_encode=encoder)
    assert encoder.read == [(3, 1)]
    assert ranking.order == (1, 3, 2)
    assert ranking.scores["cross_encoder"] == {1: 0.9, 3: 0.2}
    assert ranking.scores["rerank"] == {3: 0.7, 1: 0.6, 2: 0.5}
    assert ranking.scores["rrf"]
    assert list(timer.ms) == ["rerank", "cross_encoder"]


def test_a_cross_encoder_does_not_read_for_another_order() -> None:
    encoder = CrossEncoder((1, 0.9))
    found = RetrievedHits(DENSE, WORDS, (), RERANKED)
    ranking = rank_chunks(found, rank_by="rerank", rrf_k=60, timer=Timer(), cross_encode=encoder)
    assert (ranking.order, encoder.read) == ((3, 1, 2), [])
    assert "cross_encoder" not in ranking.scores


def test_ranking_by_a_missing_cross_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match="cross-encoder"):
        rank_chunks(RetrievedHits(DENSE, WORDS), rank_by="cross_encoder", rrf_k=60, timer=Timer())


def test_a_stage_that_fails_is_timed_all_the_same() -> None:
    timer = Timer()
    with pytest.raises(RuntimeError), timer.measure("dense"):
        raise RuntimeError
    assert "dense" in timer.ms
