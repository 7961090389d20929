"""Find the statement that answers a question, with the reading model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_core.reading.answer_finding import PROBABILITY_BOUND, RANK_WEIGHT, RERANK_WEIGHT, FoundAnswer
from rag_core.reading.excerpts import Excerpt
from rag_core.reading.statements import names_label, split_statements
from rag_core.reading.tick_boxes import read_boxes
from rag_core.reading.title_names import read_titled_texts
from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import find_quarters
from rag_core.text.identifiers import contains_identifier, contains_only_similar_identifier, find_identifiers
from rag_core.text.languages import detect_language
from rag_core.types import Passage, ReadTexts
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import to_log_odds

# Maximum number of statements that are read.
MAX_STATEMENTS = 10
# A statement has at least this many words. Page numbers and other marks have fewer.
MIN_WORDS = 2
# Weight of the log-odds of the excerpt relative to those of the statement alone, which lacks its context.
EXCERPT_WEIGHT = 0.5
# Weight of the similarity of the token vectors of question and statement. Statements without token vectors have the
# reranker's score of the passage, reduced because it includes the best sentence of the passage.
SIMILARITY_WEIGHT, WITHOUT_VECTORS = 20.0, -0.1
# Subtracted from the score of a statement that affirms what the question denies.
POLARITY_WEIGHT = 1.5
# Subtracted from the score of a statement that names no quarter of those in the question.
QUARTER_WEIGHT = 3.0
# Added to the score of a line with a label whose words are in the question.
LABEL_WEIGHT = 3.0

# Arguments: page, start, end. Returns the similarity of a span of a page and the question; ``None`` without vectors.
Compare = Callable[[PageKey, int, int], float | None]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A statement before it is read: its place on the page, and ``prior``, its score without the reading."""

    found: FoundAnswer
    start: int
    end: int
    text: str
    prior: float


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """A statement with its reading.

    Attributes
    ----------
    passage : Passage
        The best passage of its page.
    start, end : int
        Span in the text of the page.
    text : str
        The statement without line breaks; of a row of a table, its cells.
    answer : str
        The answer that the model found in the statement, or the value of its tick boxes.
    probability, span_score : float
        As in `Reading`, for the statement alone.
    score : float
        How well it answers in comparison to other statements.
    found : FoundAnswer
        The answer in the excerpt that contains the statement.
    has_boxes : bool
        Whether the answer is the value of tick boxes.
    needs_title : bool
        Whether only the title of the document contains a name of the question; see `read_titled_texts`.
    """

    passage: Passage
    start: int
    end: int
    text: str
    answer: str
    probability: float
    span_score: float
    score: float
    found: FoundAnswer
    has_boxes: bool = False
    needs_title: bool = False


def read_statements(
    question: str, answers: Sequence[FoundAnswer], read: ReadTexts, compare: Compare
) -> list[ReadStatement]:
    """Return the statements of the excerpts with the best answers, those that answer best first.

    Parameters
    ----------
    question : str
    answers : sequence of FoundAnswer
        Best first.
    read : callable
        As in `find_answers`.
    compare : callable
        Arguments: page, start, end. Returns the similarity of a span of a page and the question.
    """
    candidates = _without_similar_codes(question, list(_list_candidates(answers, compare)))
    candidates = sorted(candidates, key=lambda one: -one.prior)[:MAX_STATEMENTS]
    boxes = [read_boxes(one.text) for one in candidates]
    texts = [f"{label}: {value}" if value else one.text for (label, value), one in zip(boxes, candidates, strict=True)]
    denies, quarters = contains_negation(question), find_quarters(question)
    statements = []
    readings = read_titled_texts(question, texts, [one.found.passage.full_title for one in candidates], read)
    for one, text, (_, value), (reading, needs_title) in zip(candidates, texts, boxes, readings, strict=True):
        score = one.prior + to_log_odds(reading.probability, PROBABILITY_BOUND)
        if denies and not contains_negation(one.text):
            score -= POLARITY_WEIGHT
        if quarters and not quarters & find_quarters(one.text):
            score -= QUARTER_WEIGHT
        if names_label(question, one.text):
            score += LABEL_WEIGHT
        statements.append(
            ReadStatement(
                one.found.passage,
                one.start,
                one.end,
                one.text,
                value or text[reading.start : reading.end],
                reading.probability,
                reading.span_score,
                score,
                one.found,
                bool(value),
                needs_title,
            )
        )
    return sorted(statements, key=lambda one: -one.score)


def contains_negation(text: str) -> bool:
    """Return whether a text contains a word that denies something, such as "not" or "never".

    >>> contains_negation("Which rooms can't be booked?"), contains_negation("The hall can be booked.")
    (True, False)
    """
    return bool(AnnotatedText(text, detect_language(text)).negations)


def _without_similar_codes(question: str, candidates: list[_Candidate]) -> list[_Candidate]:
    """Return the candidates without those about a code that resembles the one in the question, if any contains it."""
    identifiers = find_identifiers(question)
    if not any(contains_identifier(one.found.excerpt.text, identifiers) for one in candidates):
        return candidates
    return [one for one in candidates if not contains_only_similar_identifier(one.text, identifiers)]


def _list_candidates(answers: Sequence[FoundAnswer], compare: Compare) -> Iterator[_Candidate]:
    """Yield each statement of the excerpts once, with the best excerpt that contains it."""
    seen: set[tuple[PageKey, int]] = set()
    for found in answers:
        passage, excerpt = found.passage, found.excerpt
        rerank = passage.scores.get("rerank") or 0.0
        for start, end, text in _list_statements(excerpt):
            if (passage.page_key, start) in seen:
                continue
            seen.add((passage.page_key, start))
            similarity = compare(passage.page_key, start, end)
            prior = (
                EXCERPT_WEIGHT * to_log_odds(found.probability, PROBABILITY_BOUND)
                + RERANK_WEIGHT * rerank
                - RANK_WEIGHT * excerpt.rank
                + SIMILARITY_WEIGHT * (rerank + WITHOUT_VECTORS if similarity is None else similarity)
            )
            yield _Candidate(found, start, end, text, prior)


def _list_statements(excerpt: Excerpt) -> Iterator[tuple[int, int, str]]:
    """Yield the statements of an excerpt with their spans in the page; a row of a table is one statement."""
    if excerpt.row is not None:
        yield excerpt.start, excerpt.end, " ".join(cell.text for cell in excerpt.row.cells)
        return
    for start, end in split_statements(excerpt.text):
        text = " ".join(excerpt.text[start:end].split())
        if sum(any(char.isalpha() for char in word) for word in text.split()) >= MIN_WORDS:
            yield excerpt.start + start, excerpt.start + end, text
