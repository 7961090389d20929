"""Rerank chunks by late interaction: each token of the question is compared with all tokens of a chunk."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numkong
import numpy as np

from rag_core.text.words import ALPHANUMERIC
from rag_core.types.arrays import FloatArray, Int8Array, Int64Array, IntArray
from rag_core.types.chunks import ChunkVectors
from rag_core.types.protocols import InverseDocumentFrequency
from rag_core.types.retrieval import Hit, Question

# Factor for the weights of stop words. Words such as "what" and "how" are rare in documents, so that their inverse
# document frequency is high.
STOPWORD_FACTOR = 0.3
# Weight of the score of the best sentence relative to the score of the whole chunk.
SENTENCE_WEIGHT = 0.5
# Weights of the cosines of neighbours at a distance of 1 and 2 tokens in the similarity of two tokens. The cosine of
# the two tokens themselves has the weight 1.
NEIGHBOUR_WEIGHTS = (0.2, 0.1)
# Number of chunks in a matrix product. With fewer chunks, more calls are needed; with more, memory access is slower.
CHUNKS_PER_PRODUCT = 16
# Maximum number of question tokens that are compared with chunks. In a long question, the tokens with the lowest
# weights, such as "the" and "of", have little effect on the score.
MAX_TOKENS = 24
# The largest value of int8.
_INT8_MAX = 127
_TOTAL_WEIGHT = 1 + 2 * sum(NEIGHBOUR_WEIGHTS)


def compute_token_weights(question: Question, idf: InverseDocumentFrequency, stopwords: Collection[str]) -> FloatArray:
    """Return the weights of the question's tokens, shape (n,), with sum 1.

    - The weight of a token is proportional to the square root of the inverse document frequency of its word, so that
      one rare word does not dominate the score.
    - Stop words have a lower weight, and punctuation has the weight 0.
    - If all weights would be 0, all tokens have the same weight.
    - Only the `MAX_TOKENS` highest weights are kept; the others are set to 0.
    """
    words = _find_words(question.text, question.offsets)
    rarity = idf(sorted({word for word in words if word}))
    weights = np.array(
        [math.sqrt(rarity[word]) * (STOPWORD_FACTOR if word in stopwords else 1.0) if word else 0.0 for word in words],
        np.float32,
    )
    if weights.sum() <= 0:
        weights = np.ones(len(words), np.float32)
    weights[np.argsort(-weights, kind="stable")[MAX_TOKENS:]] = 0
    total = weights.sum()
    return weights / total if total > 0 else weights


def select_compared_tokens(weights: FloatArray) -> Int64Array:
    """Return the indices of the question tokens that are compared with chunks, ascending.

    If the question has at most `MAX_TOKENS` tokens, all tokens are compared, because even tokens with the weight 0,
    such as hyphens, affect the similarities of their neighbours. In a longer question, only tokens with a weight above
    0 are compared.

    Parameters
    ----------
    weights : FloatArray, shape (m,)
        See `compute_token_weights`.
    """
    return np.flatnonzero(weights) if len(weights) > MAX_TOKENS else np.arange(len(weights))


def compute_token_similarities(question: FloatArray, chunk: FloatArray) -> FloatArray:
    """Return the similarity of each question token to each chunk token, shape (m, n), from -1 to 1.

    The similarity of two tokens is a weighted mean of their cosine and of the cosines of their neighbours at equal
    distances, with the weights `NEIGHBOUR_WEIGHTS`. Missing neighbours count as 0. Tokens of a phrase are therefore
    more similar if the chunk contains the whole phrase. This is soft n-gram matching as in Dai et al., "Convolutional
    neural networks for soft-matching n-grams in ad-hoc search", WSDM 2018, but with one fixed filter.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors.
    chunk : FloatArray, shape (n, dimension)
        Unit vectors.
    """
    return _add_neighbours(question @ chunk.T / _TOTAL_WEIGHT, np.zeros(1, np.intp))


def _add_neighbours(cosines: FloatArray, starts: IntArray) -> FloatArray:
    """Return the cosines plus the weighted cosines of their neighbours in the same chunk.

    ``starts`` contains the first column of each chunk, ascending from 0.
    """
    summed = cosines.copy()
    firsts = starts[1:]
    for distance, weight in enumerate(NEIGHBOUR_WEIGHTS, 1):
        weighted = weight * cosines
        summed[distance:, distance:] += weighted[:-distance, :-distance]
        summed[:-distance, :-distance] += weighted[distance:, distance:]
        # Subtract what was added across the border between two chunks, whose tokens are not neighbours.
        columns = np.unique(firsts[:, None] + np.arange(distance))
        columns = columns[(columns >= distance) & (columns < cosines.shape[1])]
        summed[distance:, columns] -= weighted[:-distance, columns - distance]
        summed[:-distance, columns - distance] -= weighted[distance:, columns]
    return summed


def compute_max_sim(similarities: FloatArray, weights: FloatArray) -> float:
    """Return MaxSim: the weighted sum of the highest similarity of each question token to any token of the chunk.

    This is the score of Khattab and Zaharia, "ColBERT: Efficient and effective passage search via contextualized late
    interaction over BERT", SIGIR 2020, but with weights. The weights sum to 1, so that the score is from -1 to 1.
    Without tokens, the score is 0.

    Parameters
    ----------
    similarities : FloatArray, shape (m, n)
        See `compute_token_similarities`.
    weights : FloatArray, shape (m,)
    """
    return float(weights @ similarities.max(axis=1)) if similarities.size else 0.0


def rerank_chunks(
    question: Question,
    weights: FloatArray,
    load_vectors: Callable[[Sequence[int]], Mapping[int, ChunkVectors]],
    chunk_ids: Sequence[int],
) -> list[Hit]:
    """Rerank chunks by MaxSim (see `compute_max_sim`) of their token vectors.

    The score of a chunk is a weighted mean of MaxSim over all its tokens, and of the highest MaxSim over the tokens of
    one of its sentences, which has half the weight. Matches within one sentence are stronger evidence than scattered
    matches. Scores are from -1 to 1.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        See `compute_token_weights`.
    load_vectors : callable
        Function that returns the token vectors of chunks by chunk id. Chunks without token vectors are left out.
    chunk_ids : sequence of int

    Returns
    -------
    list of Hit
        The chunks with token vectors, best first. Chunks with equal scores keep the given order.
    """
    vectors = load_vectors(chunk_ids)
    present = [chunk_id for chunk_id in chunk_ids if chunk_id in vectors and len(vectors[chunk_id].scales)]
    if not present or not len(question.tokens):
        return []
    scores = score_chunks(question.tokens, [vectors[chunk_id] for chunk_id in present], weights)
    order = np.argsort(-scores, kind="stable")
    return [Hit(present[position], float(scores[position])) for position in order]


def score_chunks(question: FloatArray, chunks: Sequence[ChunkVectors], weights: FloatArray) -> FloatArray:
    """Return the score of each chunk, shape (len(chunks),); see `rerank_chunks`.

    The vectors of the question are quantized to int8, the type of the vectors of chunks, because products of int8
    vectors are fast. The scores are almost the same.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors. Only the tokens that `select_compared_tokens` returns are compared.
    chunks : sequence of ChunkVectors
        At least one chunk. Each chunk has at least one token.
    weights : FloatArray, shape (m,)
        See `compute_token_weights`.
    """
    compared = select_compared_tokens(weights)
    question, weights = question[compared], weights[compared]
    scale = float(np.abs(question).max()) / _INT8_MAX or 1.0
    quantized = np.rint(question / scale).astype(np.int8)
    parts = [chunks[first : first + CHUNKS_PER_PRODUCT] for first in range(0, len(chunks), CHUNKS_PER_PRODUCT)]
    return np.concatenate([_score_part(quantized, scale, part, weights) for part in parts])


def _score_part(quantized: Int8Array, scale: float, chunks: Sequence[ChunkVectors], weights: FloatArray) -> FloatArray:
    """Return the scores of chunks. The vectors of the compared question tokens are ``quantized * scale``."""
    # With packed vectors of chunks, the result has one contiguous row for each question token, as needed below.
    packed = numkong.dots_pack(np.concatenate([chunk.tokens for chunk in chunks]), dtype="int8")
    cosines = np.asarray(numkong.dots_packed(quantized, packed)).astype(np.float32)
    scales = np.concatenate([chunk.scales for chunk in chunks]) * np.float32(scale / _TOTAL_WEIGHT)
    lengths = np.array([len(chunk.scales) for chunk in chunks])
    ends = np.cumsum(lengths)
    starts = ends - lengths
    cosines *= scales
    similarities = _add_neighbours(cosines, starts)
    # The tokens of each chunk are divided into runs: the prefix, and each sentence.
    counts = [len(chunk.sentences) for chunk in chunks]
    sentences = np.concatenate([chunk.sentences for chunk in chunks]) + np.repeat(starts, counts)
    run_starts = np.unique(np.concatenate([starts, np.minimum(sentences, np.repeat(ends - 1, counts))]))
    first_runs = np.searchsorted(run_starts, starts)
    by_run = np.maximum.reduceat(similarities, run_starts, axis=1)
    whole = weights @ np.maximum.reduceat(by_run, first_runs, axis=1)
    best_sentence = np.maximum.reduceat(weights @ by_run, first_runs)
    scores: FloatArray = ((whole + SENTENCE_WEIGHT * best_sentence) / (1 + SENTENCE_WEIGHT)).astype(np.float32)
    return scores


def _find_words(text: str, offsets: IntArray) -> list[str | None]:
    """Return the word that contains each token, in lower case; ``None`` for punctuation."""
    spans = [(match.start(), match.end(), match.group().lower()) for match in ALPHANUMERIC.finditer(text)]
    return [
        next((word for first, last, word in spans if first <= start and end <= last), None) for start, end in offsets
    ]
