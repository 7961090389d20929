"""The stages in their order, over retrievers that give what a test says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rag_core.retrieval.pipeline import Pipeline
from rag_core.types import Hit, Question, RankBy
from rag_core.types.retrieval import Timer

QUESTION = Question("q", np.ones(2, np.float32), np.ones((1, 2), np.float32), np.array([[0, 1]], np.int32))


class Fixed:
    """Finds what it is told; remembers how it was asked."""

    def __init__(self, name: str, *pairs: tuple[int, float]) -> None:
        self.name = name
        self.hits = [Hit(*pair) for pair in pairs]
        self.asked: list[tuple[int, object]] = []

    def retrieve(self, question: Question, k: int, versions: Sequence[str] | None = None) -> list[Hit]:
        self.asked.append((k, versions))
        return self.hits[:k]

    def rerank(self, question: Question, chunk_ids: Sequence[int]) -> list[Hit]:
        self.asked.append((len(chunk_ids), tuple(chunk_ids)))
        return [hit for hit in self.hits if hit.chunk_id in chunk_ids]


DENSE = Fixed("dense", (1, 0.9), (2, 0.8))
WORDS = Fixed("bm25", (2, 7.0), (3, 3.0))


def pipeline(reranker: Fixed, candidates: int = 10) -> Pipeline:
    return Pipeline(DENSE, WORDS, reranker, candidates=candidates, rrf_k=60)


def test_the_reranker_has_the_last_word() -> None:
    ranking = pipeline(Fixed("rerank", (3, 0.7), (1, 0.6), (2, 0.5))).run(QUESTION, None, Timer())
    assert ranking.order == (3, 1, 2)


def test_what_cannot_be_scored_follows_in_fused_order() -> None:
    ranking = pipeline(Fixed("rerank", (3, 0.7))).run(QUESTION, None, Timer())
    assert ranking.order == (3, 2, 1)
    assert set(ranking.scores["rerank"]) == {3}


def test_scores_are_kept_under_the_name_of_what_made_them() -> None:
    scores = pipeline(Fixed("rerank", (1, 0.6))).run(QUESTION, None, Timer()).scores
    assert scores["dense"] == {1: 0.9, 2: 0.8}
    assert scores["bm25"] == {2: 7.0, 3: 3.0}
    assert scores["rerank"] == {1: 0.6}
    assert scores["rrf"][2] == pytest.approx(1 / 61 + 1 / 62)


def test_each_retriever_is_asked_for_the_candidates_in_scope() -> None:
    reranker = Fixed("rerank")
    pipeline(reranker, candidates=1).run(QUESTION, ["v1"], Timer())
    assert DENSE.asked[-1] == WORDS.asked[-1] == (1, ["v1"])
    assert reranker.asked == [(1, (2,)), (1, (1,))]


@pytest.mark.parametrize(
    ("rank_by", "stages", "order", "scored"),
    [
        ("dense", ["rerank", "dense"], (1, 2), {"dense", "rerank"}),
        ("bm25", ["lexical", "rerank"], (2, 3), {"bm25", "rerank"}),
        ("rrf", ["lexical", "rerank", "dense"], (2, 1, 3), {"dense", "bm25", "rrf", "rerank"}),
        ("rerank", ["lexical", "rerank", "dense"], (3, 1, 2), {"dense", "bm25", "rrf", "rerank"}),
        ("financials", ["lexical", "rerank", "dense"], (3, 1, 2), {"dense", "bm25", "rrf", "rerank"}),
    ],
)
def test_the_chosen_stage_orders_and_what_it_does_not_need_is_not_run(
    rank_by: RankBy, stages: list[str], order: tuple[int, ...], scored: set[str]
) -> None:
    reranker = Fixed("rerank", (3, 0.7), (1, 0.6), (2, 0.5))
    timer = Timer()
    ranking = Pipeline(DENSE, WORDS, reranker, candidates=10, rrf_k=60, rank_by=rank_by).run(QUESTION, None, timer)
    assert ranking.order == order
    assert list(timer.ms) == stages
    assert {name for name, by_chunk in ranking.scores.items() if by_chunk} == scored


def test_a_cross_encoder_orders_the_first_of_the_reranker_s_order_and_the_rest_follow() -> None:
    reranker = Fixed("rerank", (3, 0.7), (1, 0.6), (2, 0.5))
    reading = Fixed("cross_encoder", (1, 0.9), (3, 0.2), (2, 0.1))
    timer = Timer()
    ranking = Pipeline(
        *(DENSE, WORDS, reranker),
        candidates=10,
        rrf_k=60,
        rank_by="cross_encoder",
        cross_encoder=reading,
        cross_encoder_top=2,
    ).run(QUESTION, None, timer)
    assert reading.asked == [(2, (3, 1))]
    assert ranking.order == (1, 3, 2)
    assert ranking.scores["cross_encoder"] == {1: 0.9, 3: 0.2}
    assert ranking.scores["rerank"] == {3: 0.7, 1: 0.6, 2: 0.5}
    assert ranking.scores["rrf"]
    assert list(timer.ms) == ["lexical", "rerank", "dense", "cross_encoder"]


def test_a_cross_encoder_is_not_run_for_another_order() -> None:
    reading = Fixed("cross_encoder", (1, 0.9))
    reranker = Fixed("rerank", (3, 0.7), (1, 0.6))
    ranking = Pipeline(DENSE, WORDS, reranker, candidates=10, rrf_k=60, cross_encoder=reading).run(
        QUESTION, None, Timer()
    )
    assert (ranking.order, reading.asked) == ((3, 1, 2), [])
    assert "cross_encoder" not in ranking.scores


def test_to_rank_by_a_cross_encoder_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="cross-encoder"):
        Pipeline(DENSE, WORDS, Fixed("rerank"), candidates=10, rrf_k=60, rank_by="cross_encoder")


def test_what_words_found_is_compared_while_meaning_is_looked_for() -> None:
    reranker = Fixed("rerank", (3, 0.7), (1, 0.7), (2, 0.5))
    compared_before: list[int] = []

    class Last(Fixed):
        def retrieve(self, question: Question, k: int, versions: Sequence[str] | None = None) -> list[Hit]:
            compared_before.extend(count for count, _ in reranker.asked)
            return super().retrieve(question, k, versions)

    meaning = Last("dense", (1, 0.9), (2, 0.8))
    ranking = Pipeline(meaning, WORDS, reranker, candidates=10, rrf_k=60, rank_by="rerank").run(QUESTION, None, Timer())
    assert compared_before == [2]
    assert reranker.asked == [(2, (2, 3)), (1, (1,))]
    # Of one score, and fusion had 1 before 3.
    assert ranking.order == (1, 3, 2)


def test_stages_are_told_in_order_and_timed() -> None:
    told: list[str] = []
    timer = Timer()
    pipeline(Fixed("rerank")).run(QUESTION, None, timer, told.append)
    assert told == ["lexical", "dense", "rerank"]
    assert list(timer.ms) == ["lexical", "rerank", "dense"]
    assert all(value >= 0 for value in timer.ms.values())


def test_a_stage_that_fails_is_timed_all_the_same() -> None:
    timer = Timer()
    with pytest.raises(RuntimeError), timer.measure("dense"):
        raise RuntimeError
    assert "dense" in timer.ms
