"""The tokens that late interaction matches, and the gradient of its score."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.research.learning.alignment import align_tokens
from rag_core.retrieval.late_interaction import score_chunks
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import ChunkVectors

DIMENSION = 16


def unit(vectors: FloatArray) -> FloatArray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def make_chunk(random: np.random.Generator, sentences: list[int]) -> ChunkVectors:
    tokens = random.integers(-7, 8, (20, DIMENSION)).astype(np.int8)
    scales = 1 / np.linalg.norm(tokens.astype(np.float32), axis=1)
    return ChunkVectors(tokens, scales.astype(np.float32), np.array(sentences, np.int32))


@pytest.mark.parametrize("sentences", [[], [0], [4, 11], [0, 7, 19], [3, 25]])
def test_inner_product_is_the_score_of_the_reranker(sentences: list[int]) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        question = unit(random.standard_normal((6, DIMENSION)))
        weights = random.dirichlet(np.ones(6)).astype(np.float32)
        chunk = make_chunk(random, sentences)
        targets = align_tokens(question, chunk, weights)
        # The reranker rounds the vectors of the question to int8.
        assert (question * targets).sum() == pytest.approx(score_chunks(question, [chunk], weights)[0], abs=0.01)


def test_targets_are_the_gradient_of_the_score() -> None:
    random = np.random.default_rng(1)
    question = unit(random.standard_normal((4, DIMENSION))).astype(np.float64)
    weights = np.array([0.4, 0.3, 0.2, 0.1], np.float32)
    chunk = make_chunk(random, [5, 12])
    targets = align_tokens(question, chunk, weights)

    def score(vectors: np.ndarray) -> float:
        return float((vectors * align_tokens(vectors, chunk, weights)).sum())

    for token, component in [(0, 0), (1, 7), (3, 15)]:
        shift = np.zeros_like(question)
        shift[token, component] = 1e-4
        expected = (score(question + shift) - score(question - shift)) / 2e-4
        assert targets[token, component] == pytest.approx(expected, abs=1e-3)
