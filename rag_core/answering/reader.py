"""The extractive reader: the sentences that answer, verbatim, each with its citation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.sentences import sentence_spans
from rag_core.types import Citation, FloatArray, IntArray, Passage, Question

MAX_SENTENCES = 3
# A further sentence is quoted only if it is about as close to the question as the best one.
MARGIN = 0.15
# How much the whole passage's score counts beside the sentence's own: a sentence out of a passage
# that fits is worth more than one that resembles the question by chance.
PASSAGE_WEIGHT = 2.0
LEAST_TOKENS = 2
MOST_HEADING_WORDS = 8


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage with what the reader needs of it.

    Attributes
    ----------
    passage : Passage
    vectors : FloatArray, shape (n, token_dimension)
        Unit token vectors of the passage's text.
    offsets : IntArray, shape (n, 2)
        Character span of each token in the passage's text.
    """

    passage: Passage
    vectors: FloatArray
    offsets: IntArray


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: Passage
    start: int
    end: int
    score: float
    total: float


def read(question: Question, weights: FloatArray, evidence: Sequence[Evidence]) -> tuple[str, tuple[Citation, ...]]:
    """Quote one to three sentences from the page that answers best.

    Each sentence of the passages is scored by MaxSim of the question against the sentence's own
    tokens; the best one leads, and others of the same page follow in reading order where they are
    about as close. One page, because a second page's sentence is more often beside the point than
    not (on 300 questions: 0.89 of sentences on the right page, against 0.77).

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        How much each of the question's tokens counts.
    evidence : sequence of Evidence
        Best passage first.

    Returns
    -------
    text : str
        The sentences, each followed by its ``[n]``; empty when no passage holds a sentence.
    citations : tuple of Citation
        One a sentence, in the order of the text.
    """
    ranked = sorted(_sentences(question, weights, evidence), key=lambda one: -one.total)
    chosen: list[_Sentence] = []
    for one in ranked:
        if len(chosen) == MAX_SENTENCES:
            break
        if not chosen or (_beside(chosen[0], one) and not any(_overlap(one, other) for other in chosen)):
            chosen.append(one)
    chosen.sort(key=_place)
    citations = tuple(Citation.of(one.passage, one.start, one.end) for one in chosen)
    text = " ".join(f"{' '.join(citation.quote.split())} [{citation.marker}]" for citation in citations)
    return text, citations


def _sentences(question: Question, weights: FloatArray, evidence: Sequence[Evidence]) -> list[_Sentence]:
    found = []
    for one in evidence:
        if not len(one.offsets) or not len(question.tokens):
            continue
        similarities = question.tokens @ one.vectors.T
        passage_score = one.passage.scores.get("rerank") or 0.0
        starts, ends = one.offsets[:, 0], one.offsets[:, 1]
        for start, end in sentence_spans(one.passage.first_page_text):
            inside = np.flatnonzero((starts >= start) & (ends <= end))
            if len(inside) < LEAST_TOKENS or _is_heading(one.passage.text[start:end], one.passage.heading):
                continue
            score = float(weights @ similarities[:, inside].max(axis=1))
            found.append(_Sentence(one.passage, start, end, score, score + PASSAGE_WEIGHT * passage_score))
    return found


def _is_heading(text: str, heading: str) -> bool:
    """A few words without a figure or an end say what follows is about, and answer nothing."""
    words = " ".join(text.split())
    if words and heading.endswith(words):
        return True
    return words.count(" ") < MOST_HEADING_WORDS and not re.search(r"\d|[.!?:;。！？]$", words)


def _beside(best: _Sentence, other: _Sentence) -> bool:
    """Whether another sentence is quoted along with the best."""
    same_page = (best.passage.version_id, best.passage.page_index) == (
        other.passage.version_id,
        other.passage.page_index,
    )
    return same_page and other.score >= best.score - MARGIN


def _place(one: _Sentence) -> tuple[int, int]:
    return one.passage.page_index, one.passage.start + one.start


def _overlap(one: _Sentence, other: _Sentence) -> bool:
    """Overlapping chunks hold the same sentence twice."""
    first, second = one.passage.start, other.passage.start
    return first + one.start < second + other.end and second + other.start < first + one.end
