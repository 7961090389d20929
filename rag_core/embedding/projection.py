"""Compress token vectors by a linear projection and a quantization to 4 bits with one scale for each token."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np

from rag_core.types.arrays import FloatArray, Int8Array

BUNDLED = Path(__file__).with_name("token_projection.npy")
# The highest quantization level. There are fifteen levels, from -7 to 7.
LARGEST = 7
# Distance between two quantization levels, in standard deviations. This distance minimizes the error for normally
# distributed numbers (Max, "Quantizing for minimum distortion", IRE Transactions on Information Theory, 1960).
STEP = 0.354


class Projection:
    """A linear projection of token vectors to vectors of another length.

    Parameters
    ----------
    matrix : FloatArray, shape (dimension, token_dimension)
        The matrix by which token vectors are multiplied, with an even ``token_dimension``. Its columns are randomly
        rotated orthonormal axes. The rotation makes the components of projected vectors approximately normally
        distributed with equal variance, which `quantize` requires.
    name : str
        Identifies the matrix in the fingerprint of an index.
    """

    def __init__(self, matrix: FloatArray, name: str) -> None:
        self._matrix = matrix
        self.name = name

    @classmethod
    def bundled(cls) -> Projection:
        """Return the projection for the bundled embedder.

        The axes are the first principal components of the token vectors of general texts, as computed by
        ``benchmarks/fit_projection.py``.
        """
        matrix = np.load(BUNDLED, allow_pickle=False).astype(np.float32)
        return cls(matrix, hashlib.sha256(matrix.astype("<f4").tobytes()).hexdigest()[:12])

    @classmethod
    def rotation(cls, dimension: int) -> Projection:
        """Return a projection for any embedder, a random rotation, which does not change cosines.

        ``token_dimension`` is ``dimension``, rounded up to an even number.
        """
        even = dimension + dimension % 2
        return cls(rotate_randomly(np.eye(dimension, even, dtype=np.float32)), f"rotation-{dimension}")

    @property
    def token_dimension(self) -> int:
        """Number of components of a projected vector."""
        return int(self._matrix.shape[1])

    def apply(self, vectors: FloatArray) -> FloatArray:
        """Return the projections of vectors, shape (n, dimension), as unit vectors of shape (n, token_dimension)."""
        return scale_to_unit_length(vectors @ self._matrix)


def scale_to_unit_length(vectors: FloatArray) -> FloatArray:
    """Return the vectors in the rows of an array, scaled to unit length, as float32."""
    scaled: FloatArray = (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)).astype(np.float32)
    return scaled


def rotate_randomly(axes: FloatArray) -> FloatArray:
    """Return the columns of ``axes``, shape (dimension, n), rotated by a random rotation that is the same in each run.

    The rotation does not change the inner products of projected vectors. All rotations are equally probable (Mezzadri,
    "How to generate random matrices from the classical compact groups", Notices of the AMS, 2007).
    """
    # `RandomState` is a legacy generator, but the only one with the same numbers in all versions of NumPy.
    normal = np.random.RandomState(0).standard_normal((axes.shape[1], axes.shape[1]))
    rotation, triangle = np.linalg.qr(normal)
    rotated: FloatArray = (axes @ (rotation * np.sign(np.diag(triangle)))).astype(np.float32)
    return rotated


def quantize(vectors: FloatArray) -> tuple[Int8Array, FloatArray]:
    """Quantize vectors to 4-bit integers with one scale for each vector.

    ``values * scales[:, None]`` approximates the given vectors.

    Returns
    -------
    values : Int8Array, shape (n, dimension)
        Integers from -7 to 7.
    scales : FloatArray, shape (n,)
    """
    deviation = np.linalg.norm(vectors, axis=1) / math.sqrt(max(vectors.shape[1], 1))
    scales = np.maximum(STEP * deviation, 1e-9).astype(np.float32)
    return np.clip(np.rint(vectors / scales[:, None]), -LARGEST, LARGEST).astype(np.int8), scales
