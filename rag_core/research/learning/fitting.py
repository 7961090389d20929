"""Fit the matrices of a query adapter by gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.research.learning.objective import MappedExample, Values, compute_gradient, compute_loss
from rag_core.types.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class FitConfig:
    """Parameters of the fit.

    Attributes
    ----------
    temperature : float
        Divisor of the scores before the softmax.
    decay : float
        Weight of the squared norm of the matrix in the loss. A higher weight keeps the map closer to the identity.
    learning_rate : float
    batch : int
        Number of examples per step.
    epochs : int
        Maximum number of passes over the examples.
    patience : int
        Number of epochs without a lower validation loss after which the fit ends.
    """

    temperature: float = 0.05
    decay: float = 1e-3
    learning_rate: float = 3e-4
    batch: int = 32
    epochs: int = 30
    patience: int = 3


def fit_matrix(
    examples: Sequence[MappedExample],
    validation: Sequence[MappedExample],
    dimension: int,
    config: FitConfig = FitConfig(),
) -> FloatArray:
    """Return the matrix of the residual map with the lowest validation loss, shape (dimension, dimension).

    If training does not lower the validation loss, return the zero matrix, which changes nothing. The optimizer is Adam
    (Kingma and Ba, "Adam: A method for stochastic optimization", ICLR 2015). The examples are shuffled with a fixed
    seed.
    """
    random = np.random.default_rng(0)
    matrix: Values = np.zeros((dimension, dimension))
    best, best_loss, waited = matrix, compute_loss(validation, matrix, config.temperature), 0
    mean, square, step = np.zeros_like(matrix), np.zeros_like(matrix), 0
    for _ in range(config.epochs):
        order = random.permutation(len(examples))
        for first in range(0, len(examples), config.batch):
            batch = [examples[position] for position in order[first : first + config.batch]]
            gradient = compute_gradient(batch, matrix, config.temperature, config.decay)
            step += 1
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            scale = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            matrix = matrix - config.learning_rate * mean / (1 - 0.9**step) / scale
        loss = compute_loss(validation, matrix, config.temperature)
        waited = 0 if loss < best_loss else waited + 1
        if loss < best_loss:
            best, best_loss = matrix, loss
        if waited == config.patience:
            break
    return best.astype(np.float32)
