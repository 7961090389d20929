"""Reranking by late interaction: each token of the question looks for its best match in the chunk."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numkong
import numpy as np

from rag_core.text.words import ALPHANUMERIC
from rag_core.types import ChunkVectors, FloatArray, Hit, Int8Array, Int64Array, IntArray, Question
from rag_core.types.protocols import InverseDocumentFrequency

# Words such as "what" and "how" are rare in documents and say little: their weight is multiplied by
# this.
STOPWORD_FACTOR = 0.3
# What the best sentence's score counts beside the whole chunk's.
SENTENCE_WEIGHT = 0.5
# What the tokens one and two places before and after count in how close two tokens are.
NEIGHBOUR_WEIGHTS = (0.2, 0.1)
# Chunks whose tokens are compared by one product: one a chunk spends its time in calls, one for all in
# fetching from memory (170 chunks: 6.8, 6.1, 7.6 and 17 ms for 8, 16, 32 and all at once).
CHUNKS_PER_PRODUCT = 16
# Most tokens of a question that are compared: the cost grows with them, and the lightest of a long question, such as
# "the" and "of", change little.
MOST_TOKENS = 24
# The largest value of a byte with a sign.
_LARGEST = 127
_ALL_WEIGHTS = 1 + 2 * sum(NEIGHBOUR_WEIGHTS)


def token_weights(question: Question, idf: InverseDocumentFrequency, stopwords: Collection[str]) -> FloatArray:
    """How much each token of the question counts, shape (n,), summing to 1.

    A token weighs the square root of its word's inverse document frequency, so that one rare word
    does not drown the others; punctuation weighs nothing, nor do any but the `MOST_TOKENS` heaviest.
    Where no word has any weight, all tokens weigh the same.
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


def compared_tokens(weights: FloatArray) -> Int64Array:
    """The places of a question's tokens that are compared with chunks, in order.

    Of a question of more than `MOST_TOKENS` those that weigh anything; of any other all, since a hyphen that weighs
    nothing still stands beside what does.

    Parameters
    ----------
    weights : FloatArray, shape (m,)
        See `token_weights`.
    """
    return np.flatnonzero(weights) if len(weights) > MOST_TOKENS else np.arange(len(weights))


def token_similarities(question: FloatArray, chunk: FloatArray) -> FloatArray:
    """How close each token of the question is to each of the chunk, shape (m, n), in -1..1.

    Their cosine, averaged with the cosines of the tokens before them and of those after them (weighted
    by `NEIGHBOUR_WEIGHTS`; 0 where there is none): words that follow one another in the question and in the
    text are the same phrase. It is matching of n-grams, as in Dai et al., "Convolutional neural networks
    for soft-matching n-grams in ad-hoc search", WSDM 2018, with one fixed filter.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors.
    chunk : FloatArray, shape (n, dimension)
        Unit vectors.
    """
    return _with_beside(question @ chunk.T / _ALL_WEIGHTS, np.zeros(1, np.intp))


def _with_beside(cosines: FloatArray, starts: IntArray) -> FloatArray:
    """Cosines with the weighted ones beside them added; chunks begin at the columns ``starts``, the first at 0."""
    summed = cosines.copy()
    firsts = starts[1:]
    for distance, weight in enumerate(NEIGHBOUR_WEIGHTS, 1):
        share = weight * cosines
        summed[distance:, distance:] += share[:-distance, :-distance]
        summed[:-distance, :-distance] += share[distance:, distance:]
        # What stands in another chunk is not beside.
        into = np.unique(firsts[:, None] + np.arange(distance))
        into = into[(into >= distance) & (into < cosines.shape[1])]
        summed[distance:, into] -= share[:-distance, into - distance]
        summed[:-distance, into - distance] -= share[distance:, into]
    return summed


def max_sim(similarities: FloatArray, weights: FloatArray) -> float:
    """Weighted sum over question tokens of the highest similarity to any token of the chunk.

    Khattab and Zaharia, "ColBERT: Efficient and effective passage search via contextualized late
    interaction over BERT", SIGIR 2020, with weights that sum to 1, so that the score lies in -1..1.

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
    """Score chunks by MaxSim over token vectors stored at indexing.

    A chunk's score is the mean of its MaxSim over all its tokens and, at half the weight, that of its
    best sentence alone: words that stand together in one sentence say more than the same words
    scattered over the chunk. It lies in -1..1 like each of them.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        See `token_weights`.
    load_vectors : callable
        Returns token vectors by chunk id, of those chunks that have any.
    chunk_ids : sequence of int

    Returns
    -------
    list of Hit
        The chunks that could be scored, best first; equal scores keep the given order.
    """
    vectors = load_vectors(chunk_ids)
    present = [chunk_id for chunk_id in chunk_ids if chunk_id in vectors and len(vectors[chunk_id].scales)]
    if not present or not len(question.tokens):
        return []
    scores = score_chunks(question.tokens, [vectors[chunk_id] for chunk_id in present], weights)
    order = np.argsort(-scores, kind="stable")
    return [Hit(present[position], float(scores[position])) for position in order]


def score_chunks(question: FloatArray, chunks: Sequence[ChunkVectors], weights: FloatArray) -> FloatArray:
    """The score of each chunk, shape (len(chunks),); see `rerank_chunks`.

    The question's vectors are rounded to bytes, as the chunks' are stored, and the products are those of
    whole numbers: a fifth to a third of what NumPy takes over the same vectors as floats, and scores
    within 0.001 of those.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors; compared are those `compared_tokens`.
    chunks : sequence of ChunkVectors
        At least one, each with at least one token.
    weights : FloatArray, shape (m,)
        Summing to 1.
    """
    places = compared_tokens(weights)
    question, weights = question[places], weights[places]
    scale = float(np.abs(question).max()) / _LARGEST or 1.0
    asked = np.rint(question / scale).astype(np.int8)
    parts = [chunks[first : first + CHUNKS_PER_PRODUCT] for first in range(0, len(chunks), CHUNKS_PER_PRODUCT)]
    return np.concatenate([_scores(asked, scale, part, weights) for part in parts])


def _scores(asked: Int8Array, scale: float, chunks: Sequence[ChunkVectors], weights: FloatArray) -> FloatArray:
    """Scores of chunks; a question's vectors are those ``asked`` times ``scale``."""
    # Packed are the chunks' and not the question's: each of its tokens then has its row in one piece, along which
    # all that follows goes. To turn the products round takes a third to half as long as to make them.
    packed = numkong.dots_pack(np.concatenate([chunk.tokens for chunk in chunks]), dtype="int8")
    cosines = np.asarray(numkong.dots_packed(asked, packed)).astype(np.float32)
    scales = np.concatenate([chunk.scales for chunk in chunks]) * np.float32(scale / _ALL_WEIGHTS)
    lengths = np.array([len(chunk.scales) for chunk in chunks])
    ends = np.cumsum(lengths)
    starts = ends - lengths
    cosines *= scales
    near = _with_beside(cosines, starts)
    # Runs: the prefix, then each sentence; the first of a chunk begins where the chunk does.
    counts = [len(chunk.sentences) for chunk in chunks]
    sentences = np.concatenate([chunk.sentences for chunk in chunks]) + np.repeat(starts, counts)
    firsts = np.unique(np.concatenate([starts, np.minimum(sentences, np.repeat(ends - 1, counts))]))
    first_runs = np.searchsorted(firsts, starts)
    by_run = np.maximum.reduceat(near, firsts, axis=1)
    whole = weights @ np.maximum.reduceat(by_run, first_runs, axis=1)
    best_sentence = np.maximum.reduceat(weights @ by_run, first_runs)
    scores: FloatArray = ((whole + SENTENCE_WEIGHT * best_sentence) / (1 + SENTENCE_WEIGHT)).astype(np.float32)
    return scores


def _words(text: str, offsets: IntArray) -> list[str | None]:
    spans = [(match.start(), match.end(), match.group().lower()) for match in ALPHANUMERIC.finditer(text)]
    found: list[str | None] = []
    for start, end in offsets:
        found.append(next((word for first, last, word in spans if first <= start and end <= last), None))
    return found
