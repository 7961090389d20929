"""The training objective, against finite differences and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rag_core.embedding.query_adapter import map_vectors
from rag_core.research.learning.fitting import FitConfig, fit_matrix
from rag_core.research.learning.objective import MappedExample, compute_gradient, compute_loss, compute_marginal_loss

DIMENSION, NO = 5, -math.inf


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def examples(likelihoods: tuple[float, ...], count: int = 4, tokens: int = 3, seed: int = 0) -> list[MappedExample]:
    random = np.random.default_rng(seed)
    return [
        MappedExample(
            unit(random.standard_normal((tokens, DIMENSION))),
            random.standard_normal((len(likelihoods), tokens, DIMENSION)).astype(np.float32),
            np.array(likelihoods, np.float32),
        )
        for _ in range(count)
    ]


def test_loss_and_gradient_by_hand() -> None:
    # Two passages with p(z|x) = 3/4 and 1/4, and p(y|x,z) = 1/3 and 1: p(y|x) = 1/2 and p(z|x,y) = 1/2 each.
    loss, gradient = compute_marginal_loss(np.log([3.0, 1.0]), np.log([1 / 3, 1.0]))
    assert loss == pytest.approx(math.log(2))
    assert gradient == pytest.approx([0.25, -0.25])


def test_one_relevant_passage_gives_cross_entropy() -> None:
    scores = np.array([2.0, 0.5, -1.0])
    loss, gradient = compute_marginal_loss(scores, np.array([0.0, NO, NO]))
    probabilities = np.exp(scores) / np.exp(scores).sum()
    assert loss == pytest.approx(-math.log(probabilities[0]))
    assert gradient == pytest.approx(probabilities - [1, 0, 0])


def test_equally_helpful_passages_give_no_gradient() -> None:
    _, gradient = compute_marginal_loss(np.array([1.0, -2.0, 0.3]), np.full(3, -0.7))
    assert gradient == pytest.approx(0)


@pytest.mark.parametrize("likelihoods", [(0.0, NO, NO, NO), (0.0, 0.0, NO, NO), (-0.2, -3.0, NO, -0.5)])
def test_gradient_agrees_with_finite_differences(likelihoods: tuple[float, ...]) -> None:
    batch, decay, step = examples(likelihoods), 0.01, 1e-6
    matrix = np.random.default_rng(1).standard_normal((DIMENSION, DIMENSION)) * 0.2
    gradient = compute_gradient(batch, matrix, 0.3, decay)

    def loss(changed: np.ndarray) -> float:
        return compute_loss(batch, changed, 0.3) + decay * float((changed**2).sum())

    for row, column in np.ndindex(DIMENSION, DIMENSION):
        shift = np.zeros((DIMENSION, DIMENSION))
        shift[row, column] = step
        expected = (loss(matrix + shift) - loss(matrix - shift)) / (2 * step)
        assert gradient[row, column] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_fit_recovers_a_planted_map() -> None:
    """Questions are turned passages: a map that turns them back is found, and works for questions not seen."""
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.standard_normal((DIMENSION, DIMENSION)))[0]

    def planted(count: int) -> list[MappedExample]:
        made = []
        for _ in range(count):
            passages = unit(random.standard_normal((8, DIMENSION)))
            relevant = np.array([0.0, *[NO] * 7], np.float32)
            question = (passages[:1] @ rotation).astype(np.float32)
            made.append(MappedExample(question, passages[:, np.newaxis], relevant))
        return made

    def hits(matrix: np.ndarray, batch: list[MappedExample]) -> float:
        found = [np.argmax(one.targets[:, 0] @ map_vectors(one.vectors, matrix)[0]) == 0 for one in batch]
        return float(np.mean(found))

    training, validation, test = planted(200), planted(40), planted(100)
    matrix = fit_matrix(training, validation, DIMENSION, FitConfig(learning_rate=0.02, decay=0.0))
    assert matrix.dtype == np.float32
    assert hits(np.zeros((DIMENSION, DIMENSION), np.float32), test) < 0.5
    assert hits(matrix, test) > 0.9


def test_fit_changes_nothing_if_validation_loss_does_not_fall() -> None:
    training = examples((0.0, NO, NO))
    # In the validation examples, the opposite passage is right.
    validation = [MappedExample(one.vectors, -one.targets[:, :, :], one.log_likelihood) for one in training]
    assert not fit_matrix(training, validation, DIMENSION, FitConfig()).any()
