"""Late-interaction scores of chunks and weights of a question's tokens."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rag_core.embedding.embedder import Embedder
from rag_core.embedding.projection import quantize
from rag_core.gate.features import compute_topic_similarity
from rag_core.retrieval.late_interaction import (
    MAX_TOKENS,
    NEIGHBOUR_WEIGHTS,
    SENTENCE_WEIGHT,
    STOPWORD_FACTOR,
    compute_max_sim,
    compute_token_similarities,
    compute_token_weights,
    score_chunks,
    select_compared_tokens,
)
from rag_core.types.chunks import ChunkVectors
from rag_core.types.retrieval import Question

X, Y = [1.0, 0.0], [0.0, 1.0]


def floats(*rows: Sequence[float]) -> np.ndarray:
    return np.array(rows, np.float32)


def question(text: str, *spans: tuple[int, int]) -> Question:
    n = len(spans)
    return Question(text, np.ones(2, np.float32), np.ones((n, 2), np.float32), np.array(spans, np.int32).reshape(-1, 2))


def test_max_sim_weighs_the_best_similarity_of_each_token() -> None:
    near = floats([0.6, 1.0], [0.8, 0.0])
    # The best similarities of the two tokens are 1 and 0.8.
    assert compute_max_sim(near, np.array([0.5, 0.5], np.float32)) == pytest.approx(0.9)
    assert compute_max_sim(near, np.array([0.25, 0.75], np.float32)) == pytest.approx(0.85)


def test_matching_neighbours_raise_token_similarity() -> None:
    near, far = NEIGHBOUR_WEIGHTS
    total = 1 + 2 * near + 2 * far
    # X Y X Y against itself: on the diagonal all neighbours match; next to it X meets Y.
    same = floats(X, Y, X, Y)
    similarities = compute_token_similarities(same, same)
    assert similarities[0, 0] == pytest.approx((1 + near + far) / total)
    assert similarities[1, 1] == pytest.approx((1 + 2 * near + far) / total)
    assert similarities[0, 1] == 0
    assert similarities[0, 2] == pytest.approx((1 + near) / total)
    swapped = compute_token_similarities(floats(X, Y), floats(Y, X))
    assert swapped[0, 1] == pytest.approx(1 / total)


def test_topic_similarity_compares_mean_token_vectors() -> None:
    values, scales = quantize(floats(X, X, Y))
    chunk = ChunkVectors(values, scales, np.zeros(0, np.int32))
    # The chunk's mean is (2, 1) / 3, whose cosine with X is 2 / sqrt(5).
    assert compute_topic_similarity(floats(X), chunk) == pytest.approx(2 / math.sqrt(5), abs=1e-3)
    assert compute_topic_similarity(floats(X, Y), chunk) == pytest.approx(3 / math.sqrt(10), abs=1e-3)


def reference_score(question_tokens: np.ndarray, chunk: ChunkVectors, weights: np.ndarray) -> float:
    cosines = question_tokens @ (chunk.tokens * chunk.scales[:, None]).T
    rows, columns = cosines.shape
    filtered = {0: 1.0, **{sign * place: share for place, share in enumerate(NEIGHBOUR_WEIGHTS, 1) for sign in (-1, 1)}}
    near = np.zeros_like(cosines)
    for row, column, (shift, share) in itertools.product(range(rows), range(columns), filtered.items()):
        if 0 <= row + shift < rows and 0 <= column + shift < columns:
            near[row, column] += share * cosines[row + shift, column + shift] / sum(filtered.values())
    cuts = sorted({0, *chunk.sentences.tolist(), columns})
    sentences = [compute_max_sim(near[:, a:b], weights) for a, b in itertools.pairwise(cuts) if a < columns]
    return (compute_max_sim(near, weights) + SENTENCE_WEIGHT * max(sentences)) / (1 + SENTENCE_WEIGHT)


def unit_rows(random: np.random.Generator, n: int, dimension: int = 16) -> np.ndarray:
    rows = random.normal(size=(n, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def random_chunks(random: np.random.Generator, dimension: int = 16) -> list[ChunkVectors]:
    chunks = []
    for length in (1, 2, 40, 5, 1, 17):
        values, scales = quantize(unit_rows(random, length, dimension))
        starts = np.unique(random.integers(0, length, 3)).astype(np.int32)
        chunks.append(ChunkVectors(values, scales, starts))
    return chunks


def random_weights(random: np.random.Generator) -> np.ndarray:
    weights = random.random(7).astype(np.float32)
    return weights / weights.sum()


def test_batched_scores_match_reference_scores() -> None:
    random = np.random.default_rng(3)
    question_tokens = unit_rows(random, 7)
    # Rounding to bytes then changes nothing.
    step = np.abs(question_tokens).max() / 127
    question_tokens = np.rint(question_tokens / step) * step
    chunks, weights = random_chunks(random), random_weights(random)
    expected = [reference_score(question_tokens, chunk, weights) for chunk in chunks]
    assert score_chunks(question_tokens, chunks, weights) == pytest.approx(expected, abs=1e-5)


def test_question_of_zero_vectors_scores_zero() -> None:
    chunks = random_chunks(np.random.default_rng(5))
    assert not score_chunks(np.zeros((7, 16), np.float32), chunks, np.full(7, 1 / 7, np.float32)).any()


@pytest.mark.parametrize("starts", [[], [0], [2], [0, 2, 9], [99]])
def test_invalid_sentence_starts_are_accepted(starts: list[int]) -> None:
    values, scales = quantize(floats(X, Y, X))
    chunk = ChunkVectors(values, scales, np.array(starts, np.int32))
    score = score_chunks(floats(X, Y), [chunk, chunk], np.array([0.5, 0.5], np.float32))
    assert score[0] == score[1]
    assert 0 < score[0] <= 1.001


def idf(values: Mapping[str, float]) -> object:
    return lambda words: {word: values[word] for word in words}


def test_token_weight_is_the_square_root_of_idf() -> None:
    # "rare" has two tokens; the question mark is not a word.
    embedded = question("The rare cat?", (0, 3), (4, 6), (6, 8), (9, 12), (12, 13))
    weights = compute_token_weights(embedded, idf({"the": 4.0, "rare": 9.0, "cat": 1.0}), {"the"})
    raw = [2 * STOPWORD_FACTOR, 3.0, 3.0, 1.0, 0.0]
    assert weights == pytest.approx([weight / sum(raw) for weight in raw])
    assert math.isclose(float(weights.sum()), 1.0, rel_tol=1e-6)


@pytest.mark.parametrize("text", ["of?", "…"])
def test_without_weighted_words_all_tokens_weigh_the_same(text: str) -> None:
    embedded = question(text, (0, len(text) - 1), (len(text) - 1, len(text)))
    assert compute_token_weights(embedded, idf({"of": 0.0}), set()) == pytest.approx([0.5, 0.5])


def test_long_question_keeps_the_heaviest_tokens() -> None:
    words = [f"w{number}" for number in range(MAX_TOKENS + 8)]
    ends = list(itertools.accumulate(len(word) + 1 for word in words))
    embedded = question(
        " ".join(words), *((end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True))
    )
    light = {"w0", "w3", *words[-6:]}

    weights = compute_token_weights(embedded, idf({word: 1.0 if word in light else 4.0 for word in words}), set())

    assert {word for word, weight in zip(words, weights, strict=True) if not weight} == light
    assert weights.sum() == pytest.approx(1)
    assert select_compared_tokens(weights).tolist() == [place for place, word in enumerate(words) if word not in light]


def test_weightless_tokens_are_compared_only_in_short_questions() -> None:
    assert select_compared_tokens(np.array([0.5, 0, 0.5], np.float32)).tolist() == [0, 1, 2]

    random = np.random.default_rng(6)
    question_tokens, chunks = unit_rows(random, MAX_TOKENS + 8), random_chunks(random)
    weights = np.zeros(MAX_TOKENS + 8, np.float32)
    kept = np.sort(random.choice(len(weights), MAX_TOKENS, replace=False))
    weights[kept] = 1 / MAX_TOKENS
    # Both questions are rounded to bytes by the same step.
    question_tokens[kept[0], 0] = np.abs(question_tokens).max() + 1
    assert score_chunks(question_tokens, chunks, weights).tolist() == (
        score_chunks(question_tokens[kept], chunks, weights[kept]).tolist()
    )


def test_tokens_of_the_embedder_are_matched_to_words(embedder: Embedder) -> None:
    embedded = embedder.embed_question("What is EBITDA-margin in Zürich, 2022?")
    looked_up: list[str] = []

    def record(words: Sequence[str]) -> dict[str, float]:
        looked_up.extend(words)
        return dict.fromkeys(words, 1.0)

    weights = compute_token_weights(embedded, record, set())
    assert sorted(looked_up) == ["2022", "ebitda", "in", "is", "margin", "what", "zürich"]
    words = [embedded.text[start:end] for start, end in embedded.offsets]
    weightless = {word for word, weight in zip(words, weights, strict=True) if weight == 0}
    assert weightless == {"-", ",", "?"}


def test_rounding_error_of_scores_is_below_one_thousandth() -> None:
    random = np.random.default_rng(4)
    question_tokens, chunks, weights = unit_rows(random, 7, 256), random_chunks(random, 256), random_weights(random)
    expected = [reference_score(question_tokens, chunk, weights) for chunk in chunks]
    assert score_chunks(question_tokens, chunks, weights) == pytest.approx(expected, abs=1e-3)
