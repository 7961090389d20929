"""The gradient of late interaction with respect to the token vectors of a question."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rag_core.retrieval.late_interaction import NEIGHBOUR_WEIGHTS, SENTENCE_WEIGHT, compute_token_similarities
from rag_core.types.arrays import FloatArray, Int64Array
from rag_core.types.chunks import ChunkVectors


def align_tokens(question: FloatArray, chunk: ChunkVectors, weights: FloatArray) -> FloatArray:
    """Return the gradient of a chunk's score with respect to the token vectors of the question, shape (m, dimension).

    `score_chunks` defines the score. For fixed matches, the score is linear in the vectors of the question, so that the
    score equals the sum of the inner products of the rows of ``question`` and of the gradient.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors of the compared tokens.
    chunk : ChunkVectors
    weights : FloatArray, shape (m,)
        Weights of the compared tokens.
    """
    vectors = chunk.to_float()
    similarities = compute_token_similarities(question, vectors)
    starts = [0, *(int(one) for one in np.minimum(chunk.sentences, len(vectors) - 1) if one > 0), len(vectors)]
    runs = [similarities[:, first:last] for first, last in pairwise(sorted(set(starts)))]
    best = max(range(len(runs)), key=lambda run: float(weights @ runs[run].max(axis=1)))
    start = sorted(set(starts))[best]
    whole = _compute_gradient(vectors, similarities.argmax(axis=1), weights)
    sentence = _compute_gradient(vectors, start + runs[best].argmax(axis=1), weights)
    gradient: FloatArray = ((whole + SENTENCE_WEIGHT * sentence) / (1 + SENTENCE_WEIGHT)).astype(np.float32)
    return gradient


def _compute_gradient(vectors: FloatArray, matches: Int64Array, weights: FloatArray) -> FloatArray:
    """Return the gradient of the weighted sum of similarities for fixed matches.

    Token ``i`` of the question matches token ``matches[i]`` of the chunk.
    """
    total = 1 + 2 * sum(NEIGHBOUR_WEIGHTS)
    gathered = weights[:, np.newaxis] * vectors[matches]
    for distance, factor in enumerate(NEIGHBOUR_WEIGHTS, 1):
        for shift in (-distance, distance):
            for token, match in enumerate(matches):
                if 0 <= token + shift < len(matches) and 0 <= match + shift < len(vectors):
                    gathered[token + shift] += factor * weights[token] * vectors[match + shift]
    return gathered / total
