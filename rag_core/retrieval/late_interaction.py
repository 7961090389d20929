"""Rerank chunks by late interaction, which compares each token of the question with all tokens of a chunk."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numkong
import numpy as np

from rag_core.text.words import ALPHANUMERIC
from rag_core.types import ChunkVectors, FloatArray, Hit, Int8Array, Int64Array, IntArray, Question
from rag_core.types.protocols import InverseDocumentFrequency

# Factor for the weight of stop words: "what" and "how" are rare in documents, but have little meaning.
STOPWORD_FACTOR = 0.3
# Weight of the best sentence's score relative to the whole chunk's score.
SENTENCE_WEIGHT = 0.5
# Weights of the tokens at a distance of 1 and 2 in the similarity of two tokens.
NEIGHBOUR_WEIGHTS = (0.2, 0.1)
# Chunks per matrix product: with fewer, call overhead dominates; with more, memory access.
CHUNKS_PER_PRODUCT = 16
# Maximum number of question tokens to compare: the cost grows with their number, and the tokens with the least weight
# in a long question, such as "the" and "of", change the score little.
MOST_TOKENS = 24
# The largest value of int8.
_INT8_MAX = 127
_TOTAL_WEIGHT = 1 + 2 * sum(NEIGHBOUR_WEIGHTS)


def compute_token_weights(question: Question, idf: InverseDocumentFrequency, stopwords: Collection[str]) -> FloatArray:
    """Return the weights of the question's tokens, shape (n,), with sum 1.

    A token's weight is the square root of its word's inverse document frequency, so that one rare word does not
    dominate. Punctuation and all tokens except the `MOST_TOKENS` with the highest weights get 0. If no word has
    a weight, all tokens get the same.
    """
    words = _words(question.text, question.offsets)
    rarity = idf(sorted({word for word in words if word}))
    weights = np.array(
        [math.sqrt(rarity[word]) * (STOPWORD_FACTOR if word in stopwords else 1.0) if word else 0.0 for word in words],
        np.float32,
    )
    if weights.sum() <= 0:
        weights = np.ones(len(words), np.float32)
    weights[np.argsort(-weights, kind="stable")[MOST_TOKENS:]] = 0
    total = weights.sum()
    return weights / total if total > 0 else weights


def select_compared_tokens(weights: FloatArray) -> Int64Array:
    """Return the indices of the question tokens to compare with chunks, ascending.

    If there are more than `MOST_TOKENS`, these are the tokens with a weight. Otherwise they are all tokens, since a
    token without weight, such as a hyphen, affects the similarity of its neighbours.

    Parameters
    ----------
    weights : FloatArray, shape (m,)
        See `compute_token_weights`.
    """
    return np.flatnonzero(weights) if len(weights) > MOST_TOKENS else np.arange(len(weights))


def token_similarities(question: FloatArray, chunk: FloatArray) -> FloatArray:
    """Return the similarity of each question token to each chunk token, shape (m, n), in -1..1.

    The similarity is the mean of the tokens' cosine and the cosines of the tokens before and after them, weighted
    by `NEIGHBOUR_WEIGHTS`; missing neighbours count as 0. This favours matching phrases. It is soft n-gram matching
    as in Dai et al., "Convolutional neural networks for soft-matching n-grams in ad-hoc search", WSDM 2018, with
    one fixed filter.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors.
    chunk : FloatArray, shape (n, dimension)
        Unit vectors.
    """
    return _add_neighbours(question @ chunk.T / _TOTAL_WEIGHT, np.zeros(1, np.intp))


def _add_neighbours(cosines: FloatArray, starts: IntArray) -> FloatArray:
    """Add the weighted cosines of neighbours; ``starts`` are the columns at which chunks start, the first is 0."""
    summed = cosines.copy()
    firsts = starts[1:]
    for distance, weight in enumerate(NEIGHBOUR_WEIGHTS, 1):
        weighted = weight * cosines
        summed[distance:, distance:] += weighted[:-distance, :-distance]
        summed[:-distance, :-distance] += weighted[distance:, distance:]
        # Tokens of another chunk are not neighbours.
        columns = np.unique(firsts[:, None] + np.arange(distance))
        columns = columns[(columns >= distance) & (columns < cosines.shape[1])]
        summed[distance:, columns] -= weighted[:-distance, columns - distance]
        summed[:-distance, columns - distance] -= weighted[distance:, columns]
    return summed


def max_sim(similarities: FloatArray, weights: FloatArray) -> float:
    """Return the weighted sum over question tokens of the highest similarity to any token of the chunk.

    Khattab and Zaharia, "ColBERT: Efficient and effective passage search via contextualized late
    interaction over BERT", SIGIR 2020, with weights that sum to 1, so that the score is in -1..1.

    Parameters
    ----------
    similarities : FloatArray, shape (m, n)
        See `token_similarities`.
    weights : FloatArray, shape (m,)
    """
    return float(weights @ similarities.max(axis=1)) if similarities.size else 0.0


def rerank_chunks(
    question: Question,
    weights: FloatArray,
    load_vectors: Callable[[Sequence[int]], Mapping[int, ChunkVectors]],
    chunk_ids: Sequence[int],
) -> list[Hit]:
    """Score chunks by MaxSim over the token vectors stored at indexing.

    A chunk's score is the weighted mean of the MaxSim over all its tokens and, at half the weight, the MaxSim over
    its best sentence: matches within one sentence are stronger evidence than matches all over the chunk. The score
    is in -1..1.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        See `compute_token_weights`.
    load_vectors : callable
        Returns token vectors by chunk id for those of the chunks that have any.
    chunk_ids : sequence of int

    Returns
    -------
    list of Hit
        The chunks with token vectors, best first; equal scores keep the given order.
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

    The question's vectors are quantized to int8 like the stored vectors, since int8 products are faster than
    floating-point products and the scores are almost the same.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors; only those in `select_compared_tokens` count.
    chunks : sequence of ChunkVectors
        At least one, each with at least one token.
    weights : FloatArray, shape (m,)
        With sum 1.
    """
    places = select_compared_tokens(weights)
    question, weights = question[places], weights[places]
    scale = float(np.abs(question).max()) / _INT8_MAX or 1.0
    quantized = np.rint(question / scale).astype(np.int8)
    parts = [chunks[first : first + CHUNKS_PER_PRODUCT] for first in range(0, len(chunks), CHUNKS_PER_PRODUCT)]
    return np.concatenate([_scores(quantized, scale, part, weights) for part in parts])


def _scores(quantized: Int8Array, scale: float, chunks: Sequence[ChunkVectors], weights: FloatArray) -> FloatArray:
    """Return the scores of chunks; the question's vectors are ``quantized`` times ``scale``."""
    # Packing the chunks' vectors, not the question's, gives one contiguous row of products per question token, which
    # the code below needs; transposing the products would be slow.
    packed = numkong.dots_pack(np.concatenate([chunk.tokens for chunk in chunks]), dtype="int8")
    cosines = np.asarray(numkong.dots_packed(quantized, packed)).astype(np.float32)
    scales = np.concatenate([chunk.scales for chunk in chunks]) * np.float32(scale / _TOTAL_WEIGHT)
    lengths = np.array([len(chunk.scales) for chunk in chunks])
    ends = np.cumsum(lengths)
    starts = ends - lengths
    cosines *= scales
    similarities = _add_neighbours(cosines, starts)
    # A run is the prefix or a sentence; a chunk's first run starts at the chunk's first token.
    counts = [len(chunk.sentences) for chunk in chunks]
    sentences = np.concatenate([chunk.sentences for chunk in chunks]) + np.repeat(starts, counts)
    run_starts = np.unique(np.concatenate([starts, np.minimum(sentences, np.repeat(ends - 1, counts))]))
    first_runs = np.searchsorted(run_starts, starts)
    by_run = np.maximum.reduceat(similarities, run_starts, axis=1)
    whole = weights @ np.maximum.reduceat(by_run, first_runs, axis=1)
    best_sentence = np.maximum.reduceat(weights @ by_run, first_runs)
    scores: FloatArray = ((whole + SENTENCE_WEIGHT * best_sentence) / (1 + SENTENCE_WEIGHT)).astype(np.float32)
    return scores


def _words(text: str, offsets: IntArray) -> list[str | None]:
    spans = [(match.start(), match.end(), match.group().lower()) for match in ALPHANUMERIC.finditer(text)]
    words: list[str | None] = []
    for start, end in offsets:
        words.append(next((word for first, last, word in spans if first <= start and end <= last), None))
    return words
