"""The query adapter: trained linear maps of the vectors of questions."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

import numpy as np

from rag_core.embedding.projection import scale_to_unit_length
from rag_core.types.arrays import FloatArray
from rag_core.types.protocols import ModelIdentity
from rag_core.types.retrieval import Question


@dataclass(frozen=True, slots=True)
class QueryAdapter:
    """Linear maps of the vectors of questions that are fitted to labelled questions.

    A vector ``q`` is mapped to ``q + q @ matrix``, scaled to unit length. The vectors of passages are not mapped, so
    that the index stays valid and an adapter can be switched on and off at any time.

    Attributes
    ----------
    weights, projection : str
        Identify the embedder whose vectors are mapped; see `EmbedderIdentity`.
    dense : FloatArray, shape (dimension, dimension)
        Matrix for the dense vector.
    tokens : FloatArray, shape (token_dimension, token_dimension)
        Matrix for the token vectors.
    """

    weights: str
    projection: str
    dense: FloatArray
    tokens: FloatArray

    def find_problems(self, identity: ModelIdentity) -> list[str]:
        """Return the reasons why the adapter cannot map the vectors of an embedder; empty if it can."""
        if (self.weights, self.projection) == (identity.weights, identity.projection):
            return []
        return [
            f"The query adapter is not applied, because it was trained for another embedder than {identity.name}. "
            "Train it again or switch it off, on the Evaluate page or with the command train."
        ]

    def apply(self, question: Question) -> Question:
        """Return the question with mapped vectors."""
        dense = map_vectors(question.dense[np.newaxis], self.dense)[0]
        return replace(question, dense=dense, tokens=map_vectors(question.tokens, self.tokens))


def map_vectors(vectors: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return ``vectors + vectors @ matrix``, shape (n, dimension), with each row scaled to unit length."""
    return scale_to_unit_length(vectors + vectors @ matrix) if vectors.size else vectors


def pack_matrices(adapter: QueryAdapter) -> bytes:
    """Return the matrices of an adapter in the format ``npz``, as float32."""
    buffer = io.BytesIO()
    np.savez(buffer, dense=adapter.dense.astype(np.float32), tokens=adapter.tokens.astype(np.float32))
    return buffer.getvalue()


def unpack_adapter(weights: str, projection: str, data: bytes) -> QueryAdapter:
    """Return the adapter with the matrices in ``data``, which are the result of `pack_matrices`.

    ``weights`` and ``projection`` are as in `QueryAdapter`.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return QueryAdapter(weights, projection, arrays["dense"], arrays["tokens"])
