"""Sums of probabilities that are given by their logarithms."""

from __future__ import annotations

import numpy as np

from rag_core.types.arrays import Float64Array


def log_sum_exp(values: Float64Array) -> Float64Array:
    """Return ``log Σ exp(v)`` over the last axis; minus infinity if all values are minus infinity."""
    total: Float64Array = np.logaddexp.reduce(values, axis=-1)
    return total
