"""Find the answer to a question in pages, with a model that reads question and text together."""

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

# Weights of the model's log-odds that an excerpt, or a row of a table, answers, and of those of the answer's span.
PROBABILITY_WEIGHT, ROW_PROBABILITY_WEIGHT, SPAN_WEIGHT = 0.25, 0.17, 0.18
# Bounds of the probabilities and of the log-odds of a span, so that the model alone does not decide.
PROBABILITY_BOUND, SPAN_BOUND = 1e-6, 12.0
# Reading lowers the score of nine excerpts in ten by more than this, and raises hardly any.
LEAST_LOSS = 1.0
_FISCAL = re.compile(r"\b(?:fiscal|FY)", re.IGNORECASE)
# A word with hyphens, or a number with its separators and sign.
_WORD = re.compile(r"[$€£¥]?\w+(?:[-‐‑.,:/'’]\w+)*%?")


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An answer that the model found.

    Attributes
    ----------
    excerpt : Excerpt
    place : PageSpan
        Where the answer is; the empty start of the excerpt if the model marks only the caption of a table.
    text : str
        The answer without line breaks; empty if the model marks only the caption of a table.
    probability, span_score : float
        As in `Reading`.
    score : float
        How well it answers in comparison to answers in other excerpts.
    """

    excerpt: Excerpt
    place: PageSpan
    text: str
    probability: float
    span_score: float
    score: float

    @property
    def passage(self) -> Passage:
        """The best passage of the page."""
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
    """Return the answers that the model finds in passages and their pages, best first.

    The excerpts that fit the question best are read first.

    Parameters
    ----------
    question : str
    passages : sequence of Passage
        Best first.
    page_texts, tables : mapping of PageKey
        The texts and tables of the pages of the first passages.
    read : callable
        See `ReadTexts`.
    compare : callable
        See `Compare`.
    dates : AskedDates
    enough : int, optional
        Reading ends when answers in so many places are probably better than those in the excerpts that are not read. By
        default, all excerpts are read.
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
        if enough and _count_places(found, excerpt.prior - LEAST_LOSS) >= enough:
            break
        reading = next(readings)
        start, end = _widen_to_words(excerpt.text, reading.start, reading.end)
        # The span may be in the caption or the unit of a table, which are no answer; the row may be one nevertheless.
        located = excerpt.locate(start, end)
        cell = located.cell if located else None
        if cell and excerpt.table and _has_open_year(question, excerpt.table.column_header(cell.column)):
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
    """Return the number of places without a common part, of which a table is one, with answers of at least a score."""
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


def _has_open_year(question: str, header: str) -> bool:
    """Return whether a question is about a fiscal year, and that of a column may be named after either of two years."""
    ends = (one for written in find_dates(header.replace(HEADING_SEPARATOR, " ")) for one in written.readings)
    return _FISCAL.search(question) is not None and any(
        len(list_fiscal_years(one.year, one.month)) > 1 for one in ends if one.year
    )


def _widen_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span that also contains the rest of the words at its ends, since a part may mean something else.

    Tokens of the reading model end within words such as "forty-one" and "$5".
    """
    words = [word.span() for word in _WORD.finditer(text) if word.start() < end and start < word.end()]
    return (min(start, words[0][0]), max(end, words[-1][1])) if words else (start, end)
