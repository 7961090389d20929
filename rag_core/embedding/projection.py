"""Compression of token vectors: a fixed linear projection, then 4-bit quantization with a scale per token."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np

from rag_core.types import FloatArray, Int8Array

BUNDLED = Path(__file__).with_name("token_projection.npy")
# The largest of the fifteen quantization levels, which are symmetric around zero.
LARGEST = 7
# Distance between levels in standard deviations, with the smallest error for normally distributed numbers
# (Max, "Quantizing for minimum distortion", IRE Transactions on Information Theory, 1960).
STEP = 0.354


class Projection:
    """A matrix that token vectors are multiplied by.

    Parameters
    ----------
    matrix : FloatArray, shape (dimension, token_dimension)
        Randomly rotated orthonormal axes, so that the projected numbers are about normally
        distributed with equal variance, as `quantize` expects. ``token_dimension`` is even.
    name : str
        Identifies the matrix in an index's fingerprint.
    """

    def __init__(self, matrix: FloatArray, name: str) -> None:
        self._matrix = matrix
        self.name = name

    @classmethod
    def bundled(cls) -> Projection:
        """Return the projection of the bundled model: the leading principal axes of token vectors of
        general text (``benchmarks/fit_projection.py``)."""
        matrix = np.load(BUNDLED, allow_pickle=False).astype(np.float32)
        return cls(matrix, hashlib.sha256(matrix.astype("<f4").tobytes()).hexdigest()[:12])

    @classmethod
    def rotation(cls, dimension: int) -> Projection:
        """Return a projection for any model that preserves all inner products; an odd dimension grows by one."""
        even = dimension + dimension % 2
        return cls(rotate_randomly(np.eye(dimension, even, dtype=np.float32)), f"rotation-{dimension}")

    @property
    def token_dimension(self) -> int:
        """Length of the projected vectors."""
        return int(self._matrix.shape[1])

    def apply(self, vectors: FloatArray) -> FloatArray:
        """Project rows, shape (n, dimension), to unit vectors, shape (n, token_dimension)."""
        projected = vectors @ self._matrix
        norms = np.linalg.norm(projected, axis=1, keepdims=True)
        unit: FloatArray = (projected / np.maximum(norms, 1e-9)).astype(np.float32)
        return unit


def rotate_randomly(axes: FloatArray) -> FloatArray:
    """Return axes, shape (dimension, n), multiplied by a random rotation that is the same in every run.

    Inner products of projected vectors do not change. The rotation is drawn uniformly (Mezzadri, "How to
    generate random matrices from the classical compact groups", Notices of the AMS, 2007).
    """
    # NumPy guarantees stable numbers only for this legacy generator.
    normal = np.random.RandomState(0).standard_normal((axes.shape[1], axes.shape[1]))
    rotation, triangle = np.linalg.qr(normal)
    rotated: FloatArray = (axes @ (rotation * np.sign(np.diag(triangle)))).astype(np.float32)
    return rotated


def quantize(vectors: FloatArray) -> tuple[Int8Array, FloatArray]:
    """Quantize rows to 4-bit integers with a scale per row: ``values * scales[:, None]`` approximates the rows.

    Returns
    -------
    values : Int8Array, shape (n, dimension)
        From -7 to 7.
    scales : FloatArray, shape (n,)
    """
    deviation = np.linalg.norm(vectors, axis=1) / math.sqrt(max(vectors.shape[1], 1))
    scales = np.maximum(STEP * deviation, 1e-9).astype(np.float32)
    return np.clip(np.rint(vectors / scales[:, None]), -LARGEST, LARGEST).astype(np.int8), scales
