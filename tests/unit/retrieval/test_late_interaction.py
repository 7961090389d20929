from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rag_core.embedding.embedder import Embedder
from rag_core.embedding.projection import quantize
from rag_core.gate.features import topic_similarity
from rag_core.retrieval.late_interaction import (
    MOST_TOKENS,
    NEIGHBOUR_WEIGHTS,
    SENTENCE_WEIGHT,
    STOPWORD_FACTOR,
    compared_tokens,
    max_sim,
    score_chunks,
    token_similarities,
    token_weights,
)
from rag_core.types import ChunkVectors, Question

X, Y = [1.0, 0.0], [0.0, 1.0]


def floats(*rows: Sequence[float]) -> np.ndarray:
    return np.array(rows, np.float32)


def question(text: str, *spans: tuple[int, int]) -> Question:
    n = len(spans)
    return Question(text, np.ones(2, np.float32), np.ones((n, 2), np.float32), np.array(spans, np.int32).reshape(-1, 2))


def test_max_sim_by_hand() -> None:
    near = floats([0.6, 1.0], [0.8, 0.0])
    # The first token's best match is exact (1), the second's is .8.
    assert max_sim(near, np.array([0.5, 0.5], np.float32)) == pytest.approx(0.9)
    assert max_sim(near, np.array([0.25, 0.75], np.float32)) == pytest.approx(0.85)


def test_max_sim_of_nothing_is_zero() -> None:
    assert max_sim(token_similarities(floats(X), np.zeros((0, 2), np.float32)), np.ones(1, np.float32)) == 0
    assert max_sim(token_similarities(np.zeros((0, 2), np.float32), floats(X)), np.zeros(0, np.float32)) == 0


def test_tokens_are_closer_where_those_beside_them_match_too() -> None:
    near, far = NEIGHBOUR_WEIGHTS
    every = 1 + 2 * near + 2 * far
    # X Y X Y against itself: on the diagonal all match; beside it X stands against Y, between like ones.
    same = floats(X, Y, X, Y)
    found = token_similarities(same, same)
    assert found[0, 0] == pytest.approx((1 + near + far) / every)
    assert found[1, 1] == pytest.approx((1 + 2 * near + far) / every)
    assert found[0, 1] == 0
    assert found[0, 2] == pytest.approx((1 + near) / every)
    turned_round = token_similarities(floats(X, Y), floats(Y, X))
    assert turned_round[0, 1] == pytest.approx(1 / every)


def test_the_topic_is_compared_by_the_means_of_all_tokens() -> None:
    values, scales = quantize(floats(X, X, Y))
    chunk = ChunkVectors(values, scales, np.zeros(0, np.int32))
    # The chunk's mean is (2, 1) / 3, whose cosine with X is 2 / sqrt(5).
    assert topic_similarity(floats(X), chunk) == pytest.approx(2 / math.sqrt(5), abs=1e-3)
    assert topic_similarity(floats(X, Y), chunk) == pytest.approx(3 / math.sqrt(10), abs=1e-3)


def by_the_definition(asked: np.ndarray, chunk: ChunkVectors, weights: np.ndarray) -> float:
    cosines = asked @ (chunk.tokens * chunk.scales[:, None]).T
    rows, columns = cosines.shape
    filtered = {0: 1.0, **{sign * place: one for place, one in enumerate(NEIGHBOUR_WEIGHTS, 1) for sign in (-1, 1)}}
    near = np.zeros_like(cosines)
    for row, column, (shift, share) in itertools.product(range(rows), range(columns), filtered.items()):
        if 0 <= row + shift < rows and 0 <= column + shift < columns:
            near[row, column] += share * cosines[row + shift, column + shift] / sum(filtered.values())
    cuts = sorted({0, *chunk.sentences.tolist(), columns})
    sentences = [max_sim(near[:, a:b], weights) for a, b in itertools.pairwise(cuts) if a < columns]
    return (max_sim(near, weights) + SENTENCE_WEIGHT * max(sentences)) / (1 + SENTENCE_WEIGHT)


def test_a_sentence_that_holds_all_scores_above_the_same_words_scattered() -> None:
    asked, weights = floats(X, Y), np.array([0.5, 0.5], np.float32)
    values, scales = quantize(floats(X, Y, X, Y))
    together = ChunkVectors(values, scales, np.array([0, 2], np.int32))
    apart = ChunkVectors(values[[0, 2, 1, 3]], scales, np.array([0, 2], np.int32))
    scores = score_chunks(asked, [together, apart], weights)
    assert scores[0] > scores[1] + 0.1


def unit_rows(random: np.random.Generator, n: int, dimension: int = 16) -> np.ndarray:
    rows = random.normal(size=(n, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def made_chunks(random: np.random.Generator, dimension: int = 16) -> list[ChunkVectors]:
    chunks = []
    for length in (1, 2, 40, 5, 1, 17):
        values, scales = quantize(unit_rows(random, length, dimension))
        starts = np.unique(random.integers(0, length, 3)).astype(np.int32)
        chunks.append(ChunkVectors(values, scales, starts))
    return chunks


def made_weights(random: np.random.Generator) -> np.ndarray:
    weights = random.random(7).astype(np.float32)
    return weights / weights.sum()


def test_many_chunks_at_once_score_as_each_alone_by_the_definition() -> None:
    random = np.random.default_rng(3)
    asked = unit_rows(random, 7)
    # So that rounding to bytes changes nothing.
    step = np.abs(asked).max() / 127
    asked = np.rint(asked / step) * step
    chunks, weights = made_chunks(random), made_weights(random)
    expected = [by_the_definition(asked, chunk, weights) for chunk in chunks]
    assert score_chunks(asked, chunks, weights) == pytest.approx(expected, abs=1e-5)


def test_rounding_the_question_to_bytes_changes_scores_by_less_than_a_thousandth() -> None:
    random = np.random.default_rng(4)
    asked, chunks, weights = unit_rows(random, 7, 256), made_chunks(random, 256), made_weights(random)
    expected = [by_the_definition(asked, chunk, weights) for chunk in chunks]
    assert score_chunks(asked, chunks, weights) == pytest.approx(expected, abs=1e-3)


def test_a_question_whose_vectors_are_nothing_scores_nothing() -> None:
    chunks = made_chunks(np.random.default_rng(5))
    assert not score_chunks(np.zeros((7, 16), np.float32), chunks, np.full(7, 1 / 7, np.float32)).any()


@pytest.mark.parametrize("starts", [[], [0], [2], [0, 2, 9], [99]])
def test_sentence_starts_that_do_not_fit_the_vectors_break_nothing(starts: list[int]) -> None:
    values, scales = quantize(floats(X, Y, X))
    chunk = ChunkVectors(values, scales, np.array(starts, np.int32))
    score = score_chunks(floats(X, Y), [chunk, chunk], np.array([0.5, 0.5], np.float32))
    assert score[0] == score[1]
    assert 0 < score[0] <= 1.001


def idf(values: Mapping[str, float]) -> object:
    return lambda words: {word: values[word] for word in words}


def test_tokens_weigh_by_the_root_of_how_rare_their_word_is() -> None:
    # "rare" is cut in two tokens; the mark at the end is no word.
    asked = question("The rare cat?", (0, 3), (4, 6), (6, 8), (9, 12), (12, 13))
    weights = token_weights(asked, idf({"the": 4.0, "rare": 9.0, "cat": 1.0}), {"the"})
    raw = [2 * STOPWORD_FACTOR, 3.0, 3.0, 1.0, 0.0]
    assert weights == pytest.approx([one / sum(raw) for one in raw])
    assert math.isclose(float(weights.sum()), 1.0, rel_tol=1e-6)


@pytest.mark.parametrize("text", ["of?", "…"])
def test_where_no_word_has_weight_all_tokens_weigh_the_same(text: str) -> None:
    asked = question(text, (0, len(text) - 1), (len(text) - 1, len(text)))
    assert token_weights(asked, idf({"of": 0.0}), set()) == pytest.approx([0.5, 0.5])


def test_of_a_long_question_the_heaviest_tokens_alone_weigh() -> None:
    words = [f"w{number}" for number in range(MOST_TOKENS + 8)]
    ends = list(itertools.accumulate(len(word) + 1 for word in words))
    asked = question(" ".join(words), *((end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True)))
    light = {"w0", "w3", *words[-6:]}

    weights = token_weights(asked, idf({word: 1.0 if word in light else 4.0 for word in words}), set())

    assert {word for word, weight in zip(words, weights, strict=True) if not weight} == light
    assert weights.sum() == pytest.approx(1)
    assert compared_tokens(weights).tolist() == [place for place, word in enumerate(words) if word not in light]


def test_tokens_that_weigh_nothing_are_compared_in_a_short_question_alone() -> None:
    assert compared_tokens(np.array([0.5, 0, 0.5], np.float32)).tolist() == [0, 1, 2]

    random = np.random.default_rng(6)
    asked, chunks = unit_rows(random, MOST_TOKENS + 8), made_chunks(random)
    weights = np.zeros(MOST_TOKENS + 8, np.float32)
    kept = np.sort(random.choice(len(weights), MOST_TOKENS, replace=False))
    weights[kept] = 1 / MOST_TOKENS
    # Both are rounded to bytes alike.
    asked[kept[0], 0] = np.abs(asked).max() + 1
    assert score_chunks(asked, chunks, weights).tolist() == (score_chunks(asked[kept], chunks, weights[kept]).tolist())


def test_a_question_without_tokens_has_no_weights() -> None:
    assert token_weights(question(""), idf({}), set()).shape == (0,)


def test_the_embedder_s_tokens_are_matched_to_words(embedder: Embedder) -> None:
    asked = embedder.embed_question("What is EBITDA-margin in Zürich, 2022?")
    seen: list[str] = []

    def record(words: Sequence[str]) -> dict[str, float]:
        seen.extend(words)
        return dict.fromkeys(words, 1.0)

    weights = token_weights(asked, record, set())
    assert sorted(seen) == ["2022", "ebitda", "in", "is", "margin", "what", "zürich"]
    words = [asked.text[start:end] for start, end in asked.offsets]
    weightless = {word for word, weight in zip(words, weights, strict=True) if weight == 0}
    assert weightless == {"-", ",", "?"}
