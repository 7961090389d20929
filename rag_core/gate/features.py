"""Compute the answerability scores of the first passages, and the reasons why a passage may not answer the question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from rag_core.gate.calibration import PASSAGES_READ, PASSAGES_SCORED, compute_log_odds, load_calibration
from rag_core.gate.presuppositions import find_uncovered_by_document, find_unmet_by_passage
from rag_core.text.abbreviations import choose_forms
from rag_core.text.calendar_dates import find_matching_date, write_dates_as
from rag_core.text.names import contains_document_name, find_document_names
from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import ChunkVectors
from rag_core.types.retrieval import Passage, Reading, ReadTexts
from rag_core.types.searches import PassageTokens, RankedChunks

ANSWERABLE_SCORE = "answerable"
# Names of the scores from which, together with the reranker's score, the probability is computed.
SENTENCE, TOPIC, READING = "sentence", "topic", "reading"
# Name of the probability that a passage is on the topic of the question; see `TopicCalibration`.
ON_TOPIC = "on_topic"
# Maximum number of characters of a passage that the answerability model reads. A longer best sentence is read whole.
MAX_READ_CHARS = 250
# Message about a financial statement that may not be for the company and period of the question.
OTHER_FIGURES = "its figures may be for another company or period"
# Factor for the probability if the document lacks a date or a name of the question, or covers another year.
UNKNOWN_NAME_FACTOR = 0.5


def score_answerability(
    passages: Sequence[Passage],
    tokens: Mapping[int, PassageTokens],
    ranked: RankedChunks,
    closeness: Mapping[int, float],
    contains: Callable[[str, str, str], bool],
    read: ReadTexts,
) -> tuple[Passage, ...]:
    """Return the passages with five further scores, and with the reasons why they may not answer the question.

    - ``sentence``: the late-interaction score of the best sentence.
    - ``topic``: the result of `compute_topic_similarity`.
    - ``reading``: the probability of the answerability model that the best sentence and its neighbours answer the
      question; only for the first `PASSAGES_READ` passages.
    - ``answerable``: the calibrated probability that the passage answers the question. It is multiplied by
      `UNKNOWN_NAME_FACTOR` if the document lacks a date or a name of the question, or covers another year. For rows of
      a look-up, it is at least the probability of the look-up.
    - ``on_topic``: the calibrated probability that the passage is on the topic of the question. For rows of a look-up,
      it is at least the probability of the look-up, too.

    The scores are ``None`` for passages after the first `PASSAGES_SCORED` and for passages without token vectors.

    Parameters
    ----------
    passages : sequence of Passage
        Best first.
    tokens : mapping of int to PassageTokens
        The tokens of the first passages with token vectors, by chunk id.
    ranked : RankedChunks
    closeness : mapping of int to float
        The late-interaction scores by chunk id, for the question without a query adapter, because the calibration was
        fitted without one.
    contains : callable
        Function that takes a version id, a word and a beginning of words, and returns whether the version contains the
        word or a word with the beginning.
    read : callable
        See `ReadTexts`.
    """
    first = [
        passage
        for passage in passages[:PASSAGES_SCORED]
        if int(passage.chunk_id) in tokens and passage.scores.get("rerank") is not None
    ]
    passage_tokens = [tokens[int(passage.chunk_id)] for passage in first]
    asked = [ranked.get_question(int(passage.chunk_id)) for passage in first]
    best = [
        score_best_sentence(question.tokens, chunk.vectors, weights)
        for (question, weights), chunk in zip(asked, passage_tokens, strict=True)
    ]
    # The arguments of `_select_text` and `_join_neighbours` for each passage.
    sentences = [
        (
            passage.text,
            chunk.offsets,
            chunk.vectors.sentences,
            _find_dated_token(ranked, passage, chunk.offsets, sentence),
        )
        for passage, chunk, (_, sentence) in zip(first, passage_tokens, best, strict=True)
    ]
    # Other threads read the texts while this thread checks the presuppositions.
    pending = _read_texts(ranked, first, [_select_text(*one) for one in sentences[:PASSAGES_READ]], read)
    has_lines = [contains_lookup(ranked, passage) for passage in first]
    lacking = _find_missing(ranked, first, [_join_neighbours(*one) for one in sentences], has_lines, cache(contains))
    readings = [*(one.probability for one in pending), *[None] * len(first[PASSAGES_READ:])]
    calibration = load_calibration(ranked.embedder.identity)
    scored: dict[str, Passage] = {}
    for passage, (question, _), chunk, (score, _), (other, missing), lines, reading, log_odds in zip(
        first, asked, passage_tokens, best, lacking, has_lines, readings, compute_log_odds(readings), strict=True
    ):
        topic = compute_topic_similarity(question.tokens, chunk.vectors)
        close = closeness[int(passage.chunk_id)]
        probability = calibration.compute_probability(close, score, topic, log_odds, len(missing))
        if other:
            missing = (*other, *(reason for reason in missing if reason not in other.values()))
            probability *= UNKNOWN_NAME_FACTOR
        lookup_probability = _compute_lookup_probability(ranked, passage, chunk.vectors) if lines else 0.0
        if lookup_probability > probability:
            probability, missing = lookup_probability, ()
        on_topic = max(calibration.on_topic.compute_probability(close, score, topic, log_odds), lookup_probability)
        scores = {SENTENCE: score, TOPIC: topic, READING: reading, ANSWERABLE_SCORE: probability, ON_TOPIC: on_topic}
        scored[passage.chunk_id] = replace(
            passage, scores={**passage.scores, **scores}, unmet=missing, lacks_name=bool(other and missing)
        )
    unscored = dict.fromkeys((SENTENCE, TOPIC, READING, ANSWERABLE_SCORE, ON_TOPIC))
    return tuple(
        scored.get(passage.chunk_id) or replace(passage, scores={**passage.scores, **unscored}) for passage in passages
    )


def _read_texts(
    ranked: RankedChunks, first: Sequence[Passage], texts: Sequence[str], read: ReadTexts
) -> Iterator[Reading]:
    """Start to read texts of passages, with the dates of the question in the notation of each text."""
    rows = [ranked.rows[int(passage.chunk_id)] for passage in first]
    return read(
        [
            (write_dates_as(ranked.question.text, ranked.dates.days_of(row.version_id), text, row.prefix_text), text)
            for text, row in zip(texts, rows, strict=False)
        ]
    )


def _find_dated_token(ranked: RankedChunks, passage: Passage, offsets: IntArray, best: int) -> int:
    """Return the index of the first token of a date of the question in a passage, or ``best`` if there is none."""
    dates = ranked.dates.days_of(passage.version_id)
    found = next(filter(None, (find_matching_date(one, passage.text, dates) for one in dates.dates)), None)
    if found is None:
        return best
    return int(np.argmax((offsets[:, 0] >= found.start) & (offsets[:, 1] > 0)))


def _find_missing(
    ranked: RankedChunks,
    first: Sequence[Passage],
    around: Sequence[str],
    has_lines: Sequence[bool],
    contains: Callable[[str, str, str], bool],
) -> list[tuple[dict[str, str], tuple[str, ...]]]:
    """Return, for each passage, messages about what its document does not cover, and about what the passage lacks.

    ``around`` contains the best sentence of each passage with its neighbours.
    """
    question = ranked.question.text
    results = []
    optional = _find_optional_names(ranked, first)
    for passage, text, lines, others in zip(first, around, has_lines, optional, strict=True):
        row = ranked.rows[int(passage.chunk_id)]
        asked = choose_forms(question, f"{row.prefix_text}{text}", ranked.forms)
        dates = ranked.dates.of(row.version_id)
        missing = find_unmet_by_passage(asked, text, row.prefix_text, dates)
        if not lines and _is_in_section(ranked, passage):
            missing = (*missing, OTHER_FIGURES)
        title, in_version = (row.prefix_text, row.document_label), partial(contains, row.version_id)
        results.append((find_uncovered_by_document(asked, passage.text, *title, in_version, others, dates), missing))
    return results


def _find_optional_names(ranked: RankedChunks, first: Sequence[Passage]) -> list[frozenset[str]]:
    """Return, for each passage, the names of documents in the question that the passage may lack.

    If a question names two documents, a passage that matches one name need not contain the other.
    """
    names = find_document_names(ranked.question.text)

    def find_in(text: str) -> frozenset[str]:
        return frozenset(name for name in names if contains_document_name(text, name))

    labels = {chunk_id: row.document_label for chunk_id, row in ranked.rows.items()}
    matched = [find_in(f"{labels[int(one.chunk_id)]}\n{one.heading}\n{one.text}") for one in first]
    known = frozenset[str]().union(*matched, *map(find_in, set(labels.values())))
    return [known if one else frozenset() for one in matched]


def contains_lookup(ranked: RankedChunks, passage: Passage) -> bool:
    """Return whether a passage is in a section of the look-up and about the subject and period of the question."""
    if ranked.lookup is None or not _is_in_section(ranked, passage):
        return False
    row = ranked.rows[int(passage.chunk_id)]
    return ranked.lookup.plan.is_relevant(
        passage, row.prefix_text, None if ranked.is_lookup_in_one_document else row.document_label
    )


def _is_in_section(ranked: RankedChunks, passage: Passage) -> bool:
    """Return whether a passage is in a section in which the look-up searches for rows, of any company and period."""
    lookup = ranked.lookup
    return lookup is not None and lookup.plan.has_rows and passage.scores.get("statement") is not None


def _compute_lookup_probability(ranked: RankedChunks, passage: Passage, vectors: ChunkVectors) -> float:
    """Return the probability that a passage contains the rows of the look-up; 0 without a look-up."""
    if ranked.lookup is None:
        return 0.0
    tokens = ranked.lookup.question.tokens
    sentence, _ = score_best_sentence(tokens, vectors, ranked.lookup.token_weights)
    close = passage.scores["statement"] or 0.0
    calibration = load_calibration(ranked.embedder.identity)
    topic = compute_topic_similarity(tokens, vectors)
    return calibration.compute_probability(close, sentence, topic, calibration.table_prior)


def _join_neighbours(text: str, spans: IntArray, sentences: IntArray, best: int) -> str:
    """Return the sentence that contains the token ``best``, with the sentences before and after it."""
    starts, index = _locate_sentence(spans, sentences, best)
    return _join_sentences(text, spans, starts, max(0, index - 1), index + 1) or text


def _select_text(text: str, spans: IntArray, sentences: IntArray, best: int) -> str:
    """Return the sentence that contains the token ``best``, with its neighbours if `MAX_READ_CHARS` permits."""
    starts, first = _locate_sentence(spans, sentences, best)
    last = first
    if first > 0 and len(_join_sentences(text, spans, starts, first - 1, last)) <= MAX_READ_CHARS:
        first -= 1
    if last + 1 < len(starts) and len(_join_sentences(text, spans, starts, first, last + 1)) <= MAX_READ_CHARS:
        last += 1
    return _join_sentences(text, spans, starts, first, last) or text


def _locate_sentence(spans: IntArray, sentences: IntArray, best: int) -> tuple[list[int], int]:
    """Return the first token of each sentence, and the index of the sentence that contains the token ``best``."""
    starts = [int(token) for token in sentences if token < len(spans)] or [0]
    return starts, max((index for index, start in enumerate(starts) if start <= best), default=0)


def _join_sentences(text: str, spans: IntArray, starts: Sequence[int], first: int, last: int) -> str:
    """Return the text from sentence ``first`` to sentence ``last``; empty if the sentences have no tokens."""
    end = starts[last + 1] if last + 1 < len(starts) else len(spans)
    token_spans = spans[starts[first] : end]
    token_spans = token_spans[token_spans[:, 1] > 0]
    return text[max(0, int(token_spans[0, 0])) : int(token_spans[-1, 1])] if len(token_spans) else ""


def score_best_sentence(question: FloatArray, chunk: ChunkVectors, weights: FloatArray) -> tuple[float, int]:
    """Return the MaxSim score of a chunk's best sentence, and the index of the sentence's first token.

    Unlike in the reranker's score, similarities of neighbouring tokens are not included.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
    chunk : ChunkVectors
        With at least one token.
    weights : FloatArray, shape (m,)
    """
    cosines = (question @ chunk.tokens.astype(np.float32).T) * chunk.scales
    # The first tokens of the prefix and of each sentence.
    starts = np.unique(np.clip([0, *chunk.sentences], 0, len(chunk.scales) - 1))
    scores = weights @ np.maximum.reduceat(cosines, starts, axis=1)
    best = int(scores.argmax())
    return float(scores[best]), int(starts[best])


def compute_topic_similarity(question: FloatArray, chunk: ChunkVectors) -> float:
    """Return the cosine of the mean token vectors of question and chunk, from -1 to 1.

    The cosine shows whether both have the same topic. MaxSim alone matches "in what year was it founded" with any text
    about a foundation.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors; at least one.
    chunk : ChunkVectors
        With at least one token.
    """
    question_mean = question.mean(axis=0)
    text_mean = chunk.scales @ chunk.tokens.astype(np.float32)
    return float(question_mean @ text_mean / (np.linalg.norm(question_mean) * np.linalg.norm(text_mean)))
