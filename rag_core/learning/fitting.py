"""Fit the matrices of a query adapter by gradient descent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.learning.objective import MappedExample, Values, compute_gradient
from rag_core.types import FloatArray


@dataclass(frozen=True, slots=True)
class FitConfig:
    """Parameters of the fit.

    Attributes
    ----------
    temperature : float
        Scores are divided by it before the softmax.
    decay : float
        Weight of the squared norm of the matrix, which keeps the map close to the identity.
    learning_rate : float
    epochs : int
        How often each example is used.
    batch : int
        Examples per step.
    """

    temperature: float = 0.05
    decay: float = 1e-3
    learning_rate: float = 2e-3
    epochs: int = 10
    batch: int = 32


def fit_matrix(
    examples: Sequence[MappedExample],
    dimension: int,
    config: FitConfig,
    is_stopped: Callable[[], bool] = lambda: False,
    matrix: FloatArray | None = None,
) -> FloatArray:
    """Return the matrix of the residual map that minimizes the loss, shape (dimension, dimension).

    The optimizer is Adam (Kingma and Ba, "Adam: A method for stochastic optimization", ICLR 2015). The order of the
    examples is shuffled with a fixed seed. If ``is_stopped`` returns true, the fit ends early.
    """
    random = np.random.default_rng(0)
    fitted: Values = np.zeros((dimension, dimension)) if matrix is None else matrix.astype(np.float64)
    mean, square = np.zeros_like(fitted), np.zeros_like(fitted)
    step = 0
    for _ in range(config.epochs):
        order = random.permutation(len(examples))
        for first in range(0, len(examples), config.batch):
            if is_stopped():
                return fitted.astype(np.float32)
            batch = [examples[position] for position in order[first : first + config.batch]]
            _, gradient = compute_gradient(batch, fitted, config.temperature, config.decay)
            step += 1
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            corrected = mean / (1 - 0.9**step), np.sqrt(square / (1 - 0.999**step))
            fitted = fitted - config.learning_rate * corrected[0] / (corrected[1] + 1e-8)
    return fitted.astype(np.float32)
