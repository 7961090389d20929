"""Scoring of the sentences of passages against a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.reading.answer_types import Kind, contains_kind, find_answer_kind, find_periods
from rag_core.reading.clauses import MAX_LIST_WORDS, count_items, find_clause_spans, is_introduction
from rag_core.reading.heading_lines import Line, is_heading
from rag_core.text.identifiers import contains_identifier, find_identifiers, is_about_similar
from rag_core.text.sentences import sentence_spans
from rag_core.text.tables import is_table_row, is_year_header
from rag_core.types import FloatArray, IntArray, Passage, Question

# Weight of the passage's score relative to the sentence's score. A sentence of a relevant passage is more reliable than
# a sentence that resembles the question by chance.
PASSAGE_WEIGHT = 4.0
# Bonus for a sentence with the expected kind of answer. It decides between sentences with similar scores, but is too
# small to prefer a sentence about another subject.
KIND_WEIGHT = 0.05
# Bonus for a sentence with the years and quarters of the question, since embeddings hardly distinguish different years.
PERIOD_WEIGHT = 0.05
# Weight of what adjacent sentences contribute to a sentence's score, since an answer is often next to the sentence that
# contains the question's words.
NEIGHBOUR_WEIGHT = 0.5
# A longer sentence is cut to some of its clauses if its score falls by at most ``MAX_SCORE_LOSS``.
MAX_SENTENCE_WORDS = 40
MAX_SCORE_LOSS = 0.02
MIN_TOKENS = 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage with its token vectors.

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


@dataclass(slots=True, eq=False)
class Sentence:
    """A sentence of a passage, or a part of a sentence.

    Attributes
    ----------
    start, end : int
        Span in the passage's text.
    token_scores : FloatArray, shape (m,)
        For each of the question's tokens, the highest cosine with any token of the sentence.
    score : float
        Weighted mean of ``token_scores`` (MaxSim), plus bonuses for the expected kind of answer and the periods.
    before, after : Sentence or None
        Adjacent sentences of the passage; ``None`` if a heading is in between.
    head : Sentence or None
        The heading or table header above the sentence.
    years : Sentence or None
        The header of years above a table row.
    """

    evidence: Evidence
    start: int
    end: int
    token_scores: FloatArray
    score: float
    before: Sentence | None = None
    after: Sentence | None = None
    head: Sentence | None = None
    years: Sentence | None = None

    @property
    def passage(self) -> Passage:
        return self.evidence.passage

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]

    @property
    def place(self) -> tuple[int, int]:
        """Span of the sentence in the text of its page."""
        return self.passage.start + self.start, self.passage.start + self.end


class SentenceScorer:
    """Splits passages into sentences and scores the sentences against one question.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        Weights of the question's tokens; their sum is 1.
    evidence : sequence of Evidence
        Best passage first.

    Attributes
    ----------
    question : Question
    sentences : list of Sentence
        The sentences of all passages, in the order of the passages.
    best : Sentence or None
        The sentence that answers best; ``None`` if there are no sentences.
    """

    def __init__(self, question: Question, weights: FloatArray, evidence: Sequence[Evidence]) -> None:
        self.question = question
        self._weights = weights
        self._kind: Kind | None = find_answer_kind(question.text)
        self._periods = find_periods(question.text)
        self._identifiers = find_identifiers(question.text)
        self.sentences = [sentence for source in evidence for sentence in self._split_passage(source)]
        self.best = max(self.sentences, key=self.score_lead, default=None)

    def _split_passage(self, evidence: Evidence) -> list[Sentence]:
        """Return the sentences of a passage that are not headings, each linked to its neighbours.

        If the passage contains the code or number of the question, sentences about a similar one are left out.
        """
        sentences: list[Sentence] = []
        if not len(evidence.offsets) or not len(self.question.tokens):
            return sentences
        before: Sentence | None = None
        head: Sentence | None = None
        years: Sentence | None = None
        passage = evidence.passage
        spans = sentence_spans(passage.first_page_text)
        for place, (start, end) in enumerate(spans):
            sentence = self._score_sentence(evidence, start, end)
            line = _create_line(passage, spans, place, announced=before is not None and is_introduction(before.text))
            if sentence is None or is_heading(line, passage.heading, self.question.text, self._kind):
                before, head = None, sentence
                years = sentence if sentence is not None and is_year_header(sentence.text) else None
                continue
            sentence.head = head
            if not is_table_row(sentence.text):
                years = None
            elif years is not None:
                self._attach_years(sentence, years)
            if before is not None:
                sentence.before, before.after = before, sentence
            sentences.append(sentence)
            before = sentence
        if not contains_identifier(passage.text, self._identifiers):
            return sentences
        return [one for one in sentences if not is_about_similar(one.text, self._identifiers)]

    def score_lead(self, sentence: Sentence) -> float:
        """Return how well a sentence and its passage answer the question."""
        return sentence.score + PASSAGE_WEIGHT * (sentence.passage.scores.get("rerank") or 0.0)

    def score_support(self, sentence: Sentence) -> float:
        """Return how well a sentence, with its neighbours, answers the question, to choose additional sentences."""
        gains = [self.compute_gain(sentence, other) for other in (sentence.before, sentence.after) if other is not None]
        return sentence.score + NEIGHBOUR_WEIGHT * sum(gains)

    def compute_gain(self, sentence: Sentence, other: Sentence) -> float:
        """Return how much of the question ``other`` covers in addition to ``sentence``, 0..1."""
        return float(self._weights @ (np.maximum(sentence.token_scores, other.token_scores) - sentence.token_scores))

    def shorten(self, sentence: Sentence) -> Sentence:
        """Return a long sentence without clauses that hardly add to its score, or a short sentence or list as it is."""
        if len(sentence.text.split()) <= (MAX_LIST_WORDS if count_items(sentence.text) > 1 else MAX_SENTENCE_WORDS):
            return sentence
        for start, end in find_clause_spans(sentence.text):
            part = self._score_sentence(sentence.evidence, sentence.start + start, sentence.start + end)
            if part is not None and part.score >= sentence.score - MAX_SCORE_LOSS:
                return part
        return sentence

    def _attach_years(self, row: Sentence, years: Sentence) -> None:
        """Attach the header of years to a row, and add the bonus for periods if only the header names them."""
        row.years = years
        if self._periods and not self._periods <= find_periods(row.text) and self._periods <= find_periods(years.text):
            row.score += PERIOD_WEIGHT

    def _score_sentence(self, evidence: Evidence, start: int, end: int) -> Sentence | None:
        inside = np.flatnonzero((evidence.offsets[:, 0] >= start) & (evidence.offsets[:, 1] <= end))
        if len(inside) < MIN_TOKENS:
            return None
        token_scores = (self.question.tokens @ evidence.vectors[inside].T).max(axis=1)
        score = float(self._weights @ token_scores)
        if self._kind is not None and contains_kind(self._kind, evidence.passage.text[start:end], self.question.text):
            score += KIND_WEIGHT
        if self._periods and self._periods <= find_periods(evidence.passage.text[start:end]):
            score += PERIOD_WEIGHT
        return Sentence(evidence, start, end, token_scores, score)


def _create_line(passage: Passage, spans: Sequence[tuple[int, int]], place: int, announced: bool) -> Line:
    """Return a sentence as a `Line`, with its neighbours and its position on the page."""
    text = passage.first_page_text
    start, end = spans[place]
    until = spans[place - 1][1] if place else 0
    since = spans[place + 1][0] if place + 1 < len(spans) else len(text)
    return Line(
        text[start:end],
        text[spans[place - 1][0] : until] if place else "",
        text[since : spans[place + 1][1]] if place + 1 < len(spans) else "",
        alone=_is_separated(text[until:start], not place) and _is_separated(text[end:since], place + 1 == len(spans)),
        first=not passage.start + start,
        announced=announced,
    )


def _is_separated(between: str, at_edge: bool) -> bool:
    return at_edge or between.count("\n") > 1
