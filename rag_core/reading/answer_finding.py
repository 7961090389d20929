"""Find answers to a question in pages, with the answerability model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.reading.excerpts import Excerpt, PageSpan, select_excerpts
from rag_core.reading.similarity import Compare
from rag_core.reading.title_names import replace_title_names
from rag_core.text.calendar_dates import find_dates, select_days, write_dates_as
from rag_core.text.dates import list_fiscal_years
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.dates import NO_DATES, AskedDates
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage, ReadTexts, to_log_odds
from rag_core.types.tables import Table

# Weights of the log-odds that an excerpt of sentences or a table row answers the question, and of the log-odds of the
# answer's span.
PROBABILITY_WEIGHT, ROW_PROBABILITY_WEIGHT, SPAN_WEIGHT = 0.25, 0.17, 0.18
# Bounds of the probabilities, and of the log-odds of a span, so that the model does not decide alone.
PROBABILITY_BOUND, SPAN_BOUND = 1e-6, 12.0
# Reading an excerpt lowers its score by more than this value in 90 % of cases.
MIN_LOSS = 1.0
_FISCAL = re.compile(r"\b(?:fiscal|FY)", re.IGNORECASE)
# A word with hyphens, or a number with its separators and sign.
_WORD = re.compile(r"[$€£¥]?\w+(?:[-‐‑.,:/'’]\w+)*%?")


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An answer that the model found in an excerpt.

    Attributes
    ----------
    excerpt : Excerpt
    place : PageSpan
        Span of the answer on the page; an empty span at the start of the excerpt if the answer has no place. This is
        the case if the model marks only a caption, unit or header of a table, or a cell whose year is ambiguous.
    text : str
        The answer without line breaks; empty if the answer has no place.
    probability, span_score : float
        See `Reading`.
    score : float
        Score for comparison with answers in other excerpts; higher is better.
    """

    excerpt: Excerpt
    place: PageSpan
    text: str
    probability: float
    span_score: float
    score: float

    @property
    def passage(self) -> Passage:
        """The passage of the excerpt."""
        return self.excerpt.passage


def find_answers(
    question: str,
    passages: Sequence[Passage],
    page_texts: Mapping[PageKey, str],
    tables: Mapping[PageKey, Sequence[Table]],
    read: ReadTexts,
    compare: Compare,
    dates: AskedDates = NO_DATES,
    enough: int | None = None,
) -> list[FoundAnswer]:
    """Return an answer for each excerpt that the model reads, best answer first.

    The excerpts are parts of the passages and of their pages. Those that fit the question best are read first.

    Parameters
    ----------
    question : str
    passages : sequence of Passage
        Best first.
    page_texts, tables : mapping
        Texts and tables of the pages of the first passages, by `Passage.page_key`.
    read : callable
        See `ReadTexts`.
    compare : callable
        See `Compare`.
    dates : AskedDates
        The dates in the question.
    enough : int, optional
        Number of wanted places. Reading ends when answers in this number of places are probably better than answers in
        the remaining excerpts. By default, all excerpts are read.
    """
    excerpts = select_excerpts(question, passages, page_texts, tables, compare, dates)
    found: list[FoundAnswer] = []
    pairs = []
    for one in excerpts:
        title = one.passage.full_title
        asked = write_dates_as(question, select_days(dates, one.passage.version_id, title), one.text, title)
        pairs.append((replace_title_names(asked, one.text, title), one.text))
    readings = read(pairs)
    for excerpt in excerpts:
        if enough and _count_places(found, excerpt.prior - MIN_LOSS) >= enough:
            break
        reading = next(readings)
        start, end = _widen_to_words(excerpt.text, reading.start, reading.end)
        # A span in the caption or the unit of a table has no place, but the row may be the answer nevertheless.
        located = excerpt.locate(start, end)
        cell = located.cell if located else None
        if cell and excerpt.table and _has_ambiguous_year(question, excerpt.table.column_header(cell.column)):
            located = None
        place = located or PageSpan(excerpt.start, excerpt.start)
        weight = PROBABILITY_WEIGHT if excerpt.row is None else ROW_PROBABILITY_WEIGHT
        score = (
            excerpt.prior
            + weight * to_log_odds(reading.probability, PROBABILITY_BOUND)
            + SPAN_WEIGHT * min(max(reading.span_score, -SPAN_BOUND), SPAN_BOUND)
        )
        text = place.cell.text if place.cell else " ".join(excerpt.text[start:end].split()) if located else ""
        found.append(FoundAnswer(excerpt, place, text, reading.probability, reading.span_score, score))
    return sorted(found, key=lambda one: -one.score)


def _count_places(found: Sequence[FoundAnswer], score: float) -> int:
    """Return the number of separate places with an answer whose score is at least ``score``. A table is one place."""
    places: list[tuple[PageKey, int, int]] = []
    for one in sorted(found, key=lambda one: -one.score):
        table = one.excerpt.table
        page, start, end = one.passage.page_key, one.excerpt.start, one.excerpt.end
        if table:
            start, end = table.start, table.end
        if one.score < score:
            break
        if not any(page == other and start < last and first < end for other, first, last in places):
            places.append((page, start, end))
    return len(places)


def _has_ambiguous_year(question: str, header: str) -> bool:
    """Return whether a question names a fiscal year, and a column's header has the end of one with two possible names.

    See `list_fiscal_years` for the names of fiscal years.
    """
    ends = (one for written in find_dates(header.replace(HEADING_SEPARATOR, " ")) for one in written.readings)
    return _FISCAL.search(question) is not None and any(
        len(list_fiscal_years(one.year, one.month)) > 1 for one in ends if one.year
    )


def _widen_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span extended to whole words. Tokens of the model can end within words such as "forty-one"."""
    words = [word.span() for word in _WORD.finditer(text) if word.start() < end and start < word.end()]
    return (min(start, words[0][0]), max(end, words[-1][1])) if words else (start, end)
