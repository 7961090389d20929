"""Token vectors made small: a fixed linear projection, then eight bits with one scale a token."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path

import numpy as np

from rag_core.types import FloatArray, Int8Array

BUNDLED = Path(__file__).with_name("token_projection.npy")


class Projection:
    """A matrix that token vectors are multiplied by; ``None`` leaves them as they are.

    Parameters
    ----------
    matrix : FloatArray, shape (dimension, token_dimension), optional
        For the bundled model it holds the leading principal axes of token vectors of general text
        (``benchmarks/fit_projection.py``).
    """

    def __init__(self, matrix: FloatArray | None = None) -> None:
        self._matrix = matrix

    @classmethod
    def bundled(cls) -> Projection:
        """The projection that comes with the bundled model."""
        return cls(np.load(BUNDLED, allow_pickle=False).astype(np.float32))

    @cached_property
    def name(self) -> str:
        """A short hash of the matrix, or ``none``."""
        if self._matrix is None:
            return "none"
        return hashlib.sha256(self._matrix.astype("<f4").tobytes()).hexdigest()[:12]

    def dimension(self, dimension: int) -> int:
        """Length of the vectors that come out for vectors of ``dimension``."""
        return dimension if self._matrix is None else int(self._matrix.shape[1])

    def apply(self, vectors: FloatArray) -> FloatArray:
        """Project rows, shape (n, dimension), to unit vectors, shape (n, token_dimension)."""
        projected = vectors if self._matrix is None else vectors @ self._matrix
        norms = np.linalg.norm(projected, axis=1, keepdims=True)
        unit: FloatArray = (projected / np.maximum(norms, 1e-9)).astype(np.float32)
        return unit


def quantize(vectors: FloatArray) -> tuple[Int8Array, FloatArray]:
    """Rows to int8 with a scale each, so that ``values * scales[:, None]`` is about the rows.

    Returns
    -------
    values : Int8Array, shape (n, dimension)
    scales : FloatArray, shape (n,)
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scales = np.maximum(largest, 1e-9) / 127.0
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)
