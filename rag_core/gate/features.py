"""How likely each of the first passages answers the question, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from rag_core.gate.calibration import GATED, READ, calibration, log_odds
from rag_core.gate.presuppositions import is_foreign, strange, unmet
from rag_core.retrieval.queries import Ranked
from rag_core.text.names import borne_out, named, names_in_title
from rag_core.types import ChunkVectors, FloatArray, IntArray, Passage, embedded_text
from rag_core.types.chunks import document_label

SCORE = "answerable"
# What the probability is made of beside the reranker's score.
SENTENCE, TOPIC, READING = "sentence", "topic", "reading"
# Whether a passage is on the topic at all, which decides whether a language model is asked.
ON_TOPIC = "on_topic"
# Of a passage so many letters are read, or its best sentence: with all three sentences no more questions are told
# apart, and it takes twice as long.
READ_CHARS = 250
# What a statement lacks that names another company or time, or none.
OTHER_FIGURES = "its figures may be of another company or time"
# What is left of the probability of a passage to whose document the question is strange.
STRANGE = 0.5


def judged(
    ranked: Ranked,
    passages: Sequence[Passage],
    holds: Callable[[str, str, str], bool],
    read: Callable[[str, Sequence[str]], Iterator[float]],
) -> tuple[Passage, ...]:
    """The passages with a score ``answerable``: the calibrated probability that one answers.

    It is made for the first passages alone, and ``None`` for the others and for those without token
    vectors; so are ``sentence``, the late-interaction score of the passage's best sentence, ``topic``,
    its `topic_similarity`. Of the first few the best sentence and those beside it are read with the question:
    ``reading`` is the probability that they answer. A statement of the company and time that are asked for
    answers with what is computed from it: its probability is that of the lines looked for, where that is higher.
    ``on_topic`` is the probability that the passage is on the topic at all, which is all that a language model needs.
    Where the question names what is nowhere in the passage's document, or another time than the document is of,
    the probability is halved: none over 0.5 is left.

    Parameters
    ----------
    ranked : Ranked
    passages : sequence of Passage
        Best first.
    holds : callable
        Whether a version has a word, or any that begins with the letters given third.
    read : callable
        Begins to read texts with a question; gives the probability that each answers it, in order.
    """
    vectors = ranked.tokens.vectors([int(one.chunk_id) for one in passages[:GATED]])
    first = [one for one in passages[:GATED] if int(one.chunk_id) in vectors and one.scores.get("rerank") is not None]
    its_rows = [ranked.rows[int(one.chunk_id)] for one in first]
    best = [best_sentence(ranked.question.tokens, vectors[row.id], ranked.weights) for row in its_rows]

    def places(which: slice) -> list[tuple[str, IntArray, IntArray, int]]:
        rows = its_rows[which]
        found = zip(first[which], rows, ranked.tokens.spans(rows), best[which], strict=True)
        return [(one.text, spans, vectors[row.id].sentences, sentence) for one, row, spans, (_, sentence) in found]

    # The first are read while the rest is looked at.
    to_read = places(slice(READ))
    begun = read(ranked.question.text, [_to_read(*place) for place in to_read])
    looked_at = [*to_read, *places(slice(READ, None))]
    tells = [tells_lines(ranked, one) for one in first]
    lacking = _lacking(ranked, first, [_around(*place) for place in looked_at], tells, cache(holds))
    readings = [*begun, *[None] * len(first[READ:])]
    found: dict[str, Passage] = {}
    for passage, (score, _), (other, missing), its_lines, reading, odds in zip(
        first, best, lacking, tells, readings, log_odds(readings), strict=True
    ):
        chunk = vectors[int(passage.chunk_id)]
        topic = topic_similarity(ranked.question.tokens, chunk)
        probability = calibration().probability(passage.scores["rerank"] or 0.0, score, topic, len(missing), odds)
        if other:
            missing = (*other, *(one for one in missing if one not in other.values()))
            probability *= STRANGE
        told = _told(ranked, passage, chunk) if its_lines else 0.0
        if told > probability:
            probability, missing = told, ()
        on_topic = calibration().on_topic.probability(passage.scores["rerank"] or 0.0, score, topic, odds)
        on_topic = max(on_topic, told)
        made = {SENTENCE: score, TOPIC: topic, READING: reading, SCORE: probability, ON_TOPIC: on_topic}
        found[passage.chunk_id] = replace(passage, scores={**passage.scores, **made}, unmet=missing)
    unmade = dict.fromkeys((SENTENCE, TOPIC, READING, SCORE, ON_TOPIC))
    return tuple(found.get(one.chunk_id) or replace(one, scores={**one.scores, **unmade}) for one in passages)


def _lacking(
    ranked: Ranked,
    first: Sequence[Passage],
    around: Sequence[str],
    tells: Sequence[bool],
    holds: Callable[[str, str, str], bool],
) -> list[tuple[dict[str, str], tuple[str, ...]]]:
    """What of the question is strange to each passage's document, and what its best sentences do not bear out."""
    of_others = _names_of_others(ranked, first)
    found = []
    for passage, text, its_lines in zip(first, around, tells, strict=True):
        title = embedded_text(ranked.rows[int(passage.chunk_id)].prefix, "")
        missing = unmet(ranked.question.text, text, title)
        if not its_lines and _is_told_of(ranked, passage):
            missing = (*missing, OTHER_FIGURES)
        found.append((_strange(ranked, passage, holds, of_others[passage.chunk_id]), missing))
    return found


def _strange(
    ranked: Ranked, passage: Passage, holds: Callable[[str, str, str], bool], others: Collection[str]
) -> dict[str, str]:
    """What of the question is strange to a passage's whole document; see `strange`."""
    row = ranked.rows[int(passage.chunk_id)]
    document, held = document_label(row.prefix), partial(holds, row.version_id)
    return strange(ranked.question.text, passage.text, embedded_text(row.prefix, ""), document, held, others)


def _names_of_others(ranked: Ranked, first: Sequence[Passage]) -> dict[str, frozenset[str]]:
    """Of the question's names those that may be strange to each of these passages, by chunk.

    A question that names what two documents have, or are called by, is of both, though each name is strange to
    the other: where a passage has one of the names, those that others have speak no more against it.
    """
    asked = ranked.question.text
    names = named(asked)
    calls = {
        label: names_in_title(label, names) for label in {document_label(row.prefix) for row in ranked.rows.values()}
    }
    met = {}
    for passage in first:
        prefix = ranked.rows[int(passage.chunk_id)].prefix
        met[passage.chunk_id] = calls[document_label(prefix)] | borne_out(
            asked, passage.text, embedded_text(prefix, "")
        )
    known = frozenset[str]().union(*calls.values(), *met.values())
    return {chunk_id: known if own else frozenset() for chunk_id, own in met.items()}


def tells_lines(ranked: Ranked, passage: Passage) -> bool:
    """Whether a passage is of a statement that tells the lines looked for, of the company and time asked for."""
    looked_up = ranked.financials
    if looked_up is None or not _is_told_of(ranked, passage):
        return False
    prefix = ranked.rows[int(passage.chunk_id)].prefix
    document = None if ranked.alone else document_label(prefix)
    return not is_foreign(looked_up.wanted.rest, passage.text, embedded_text(prefix, ""), document)


def _is_told_of(ranked: Ranked, passage: Passage) -> bool:
    """Whether a passage is of a statement that has the lines looked for, whosever they are."""
    looked_up = ranked.financials
    return looked_up is not None and bool(looked_up.wanted.lines) and passage.scores.get("statement") is not None


def _told(ranked: Ranked, passage: Passage, chunk: ChunkVectors) -> float:
    """The probability that a passage tells the lines looked for."""
    if ranked.financials is None:
        return 0.0
    asked = ranked.financials.question.tokens
    sentence, _ = best_sentence(asked, chunk, ranked.financials.weights)
    close = passage.scores["statement"] or 0.0
    return calibration().probability(close, sentence, topic_similarity(asked, chunk), 0, calibration().told)


def _around(text: str, spans: IntArray, sentences: IntArray, best: int) -> str:
    """The sentence whose tokens begin at ``best`` with the one before and the one after it."""
    starts, at = _place(spans, sentences, best)
    return _cut(text, spans, starts, max(0, at - 1), at + 1) or text


def _to_read(text: str, spans: IntArray, sentences: IntArray, best: int) -> str:
    """That sentence with those beside it, where they leave it short enough."""
    starts, first = _place(spans, sentences, best)
    last = first
    if first > 0 and len(_cut(text, spans, starts, first - 1, last)) <= READ_CHARS:
        first -= 1
    if last + 1 < len(starts) and len(_cut(text, spans, starts, first, last + 1)) <= READ_CHARS:
        last += 1
    return _cut(text, spans, starts, first, last) or text


def _place(spans: IntArray, sentences: IntArray, best: int) -> tuple[list[int], int]:
    """The first token of each sentence, and the number of the one that begins at ``best``."""
    starts = [int(one) for one in sentences if one < len(spans)] or [0]
    return starts, max((number for number, start in enumerate(starts) if start <= best), default=0)


def _cut(text: str, spans: IntArray, starts: Sequence[int], first: int, last: int) -> str:
    """From the first to the last of these sentences; empty where they have no token."""
    end = starts[last + 1] if last + 1 < len(starts) else len(spans)
    own = spans[starts[first] : end]
    own = own[own[:, 1] > 0]
    return text[max(0, int(own[0, 0])) : int(own[-1, 1])] if len(own) else ""


def best_sentence(question: FloatArray, chunk: ChunkVectors, weights: FloatArray) -> tuple[float, int]:
    """MaxSim, by plain cosines, of a chunk's best sentence alone, and the index of that sentence's first token.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
    chunk : ChunkVectors
        With at least one token.
    weights : FloatArray, shape (m,)
    """
    cosines = (question @ chunk.tokens.astype(np.float32).T) * chunk.scales
    run = np.unique(np.clip([0, *chunk.sentences], 0, len(chunk.scales) - 1))
    by_run = weights @ np.maximum.reduceat(cosines, run, axis=1)
    best = int(by_run.argmax())
    return float(by_run[best]), int(run[best])


def topic_similarity(question: FloatArray, chunk: ChunkVectors) -> float:
    """Cosine of the means of all token vectors, in -1..1: whether both are about the same.

    MaxSim finds "in what year was it founded" in any text that founds something; what the text is about
    lies in all of its tokens.

    Parameters
    ----------
    question : FloatArray, shape (m, dimension)
        Unit vectors; at least one.
    chunk : ChunkVectors
        With at least one token.
    """
    asked = question.mean(axis=0)
    said = chunk.scales @ chunk.tokens.astype(np.float32)
    return float(asked @ said / (np.linalg.norm(asked) * np.linalg.norm(said)))
