"""The contract of all rerankers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from rag_core.embedding.projection import quantize
from rag_core.embedding.sentence_transformer import CrossEncoder
from rag_core.retrieval.cross_encoder import cross_encode_chunks
from rag_core.retrieval.late_interaction import compute_token_weights, rerank_chunks
from rag_core.types.chunks import ChunkVectors
from rag_core.types.retrieval import Hit, Question
from tests.support.cross_encoders import make_cross_encoder

RANDOM = np.random.default_rng(7)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


TOKENS = unit(RANDOM.normal(size=(3, 8)))
QUESTION = Question("alpha beta gamma", TOKENS[0], TOKENS, np.array([[0, 5], [6, 10], [11, 16]], np.int32))


def chunk(rows: np.ndarray, sentences: Sequence[int] = (0,)) -> ChunkVectors:
    values, scales = quantize(unit(rows))
    return ChunkVectors(values, scales, np.array(sentences, np.int32))


STORED: dict[int, ChunkVectors] = {
    1: chunk(RANDOM.normal(size=(9, 8)), (1, 4)),
    2: chunk(np.vstack([TOKENS, RANDOM.normal(size=(4, 8))]), (0, 3)),  # contains the tokens of the question
    3: chunk(RANDOM.normal(size=(1, 8))),
    4: chunk(-TOKENS),
}
# Copies of the first chunk, for equal scores.
STORED |= dict.fromkeys((11, 12, 13), STORED[1])


def stored(chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
    return {chunk_id: STORED[chunk_id] for chunk_id in chunk_ids if chunk_id in STORED}


TEXTS = {1: "alpha beta", 2: "gamma", 3: "delta epsilon zeta", 4: "eta"} | dict.fromkeys((11, 12, 13), "alpha beta")


def texts(chunk_ids: Sequence[int]) -> Mapping[int, str]:
    return {chunk_id: TEXTS[chunk_id] for chunk_id in chunk_ids if chunk_id in TEXTS}


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    return CrossEncoder(str(make_cross_encoder(tmp_path_factory.mktemp("cross_encoder"))))


Rerank = Callable[[Question, Sequence[int]], list[Hit]]


@pytest.fixture
def late_interaction() -> Rerank:
    def rerank(question: Question, chunk_ids: Sequence[int]) -> list[Hit]:
        weights = compute_token_weights(question, lambda words: dict.fromkeys(words, 1.0), frozenset())
        return rerank_chunks(question, weights, stored, chunk_ids)

    return rerank


@pytest.fixture(params=["late interaction", "cross-encoder"])
def rerank(request: pytest.FixtureRequest, late_interaction: Rerank, scorer: CrossEncoder) -> Rerank:
    if request.param == "late interaction":
        return late_interaction
    return lambda question, chunk_ids: cross_encode_chunks(scorer, question, texts, chunk_ids)


def test_scores_are_in_descending_order(rerank: Rerank) -> None:
    hits = rerank(QUESTION, [1, 2, 3, 4])
    scores = [hit.score for hit in hits]
    assert len(set(scores)) == 4
    assert scores == sorted(scores, reverse=True)


def test_late_interaction_prefers_tokens_of_the_question(late_interaction: Rerank) -> None:
    hits = late_interaction(QUESTION, [1, 2, 3, 4])
    assert hits[0].chunk_id == 2
    assert hits[-1].chunk_id == 4


def test_only_given_chunks_are_ranked_without_duplicates(rerank: Rerank) -> None:
    assert sorted(hit.chunk_id for hit in rerank(QUESTION, [3, 1])) == [1, 3]


def test_score_does_not_depend_on_other_chunks(rerank: Rerank) -> None:
    together = {hit.chunk_id: hit.score for hit in rerank(QUESTION, [1, 2, 3, 4])}
    for chunk_id, score in together.items():
        assert rerank(QUESTION, [chunk_id])[0].score == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("order", [[11, 1, 12, 13], [13, 12, 11, 1]])
def test_equal_scores_keep_the_given_order(rerank: Rerank, order: list[int]) -> None:
    assert [hit.chunk_id for hit in rerank(QUESTION, order)] == order


def test_missing_chunks_are_skipped(rerank: Rerank) -> None:
    assert [hit.chunk_id for hit in rerank(QUESTION, [98, 2, 99])] == [2]
    assert rerank(QUESTION, [98, 99]) == []


def test_no_chunks_give_no_hits(rerank: Rerank) -> None:
    assert rerank(QUESTION, []) == []


def test_question_without_tokens_gives_no_hits(rerank: Rerank) -> None:
    bare = Question("…", TOKENS[0], np.zeros((0, 8), np.float32), np.zeros((0, 2), np.int32))
    assert rerank(bare, [1, 2]) == []


def test_scores_are_floats_between_minus_one_and_one(rerank: Rerank) -> None:
    for hit in rerank(QUESTION, [1, 2, 3, 4]):
        assert type(hit.score) is float
        assert -1.01 <= hit.score <= 1.01
