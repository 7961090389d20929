"""Propose excerpts of pages: sentences, or rows of a table, around the words that the reading model marks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rag_core.answering.sources.candidates import Candidate, Quote
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.text.mails import find_header
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import PageKey

# Maximum number of words of an excerpt, and number of words before the answer that are kept of a longer excerpt.
MAX_WORDS, WORDS_BEFORE = 60, 20
# Maximum number of rows of an excerpt of a table.
MAX_ROWS = 6
# Minimum probability of an answer for its words or cell to be marked; less probable marks are mostly wrong.
MIN_MARKED = 0.2
_WORD = re.compile(r"\S+")


class Excerpts:
    """Proposes the sentences around each answer; the rows of one table are one excerpt."""

    def propose(self, answers: Sequence[FoundAnswer], page_texts: Mapping[PageKey, str]) -> Iterator[Candidate]:
        """Yield an excerpt for each answer in sentences, and one for each table with answers."""
        tables: dict[tuple[PageKey, int], list[FoundAnswer]] = defaultdict(list)
        for one in answers:
            if one.excerpt.table is not None:
                tables[one.passage.page_key, one.excerpt.table.start].append(one)
            else:
                yield _quote_sentences(one, page_texts.get(one.passage.page_key, ""))
        for (page, _), rows in tables.items():
            yield _quote_rows(rows, page_texts.get(page, ""))


def _quote_sentences(found: FoundAnswer, page_text: str) -> Candidate:
    """Return the sentences of an excerpt as a candidate, with the header of the mail that contains them, if any.

    If the sentences are too long, the candidate contains only the words around the answer.
    """
    start, end, place = found.excerpt.start, found.excerpt.end, found.place
    start = _skip_heading(found.passage.heading, page_text, start, place.start)
    words = [match.span() for match in _WORD.finditer(page_text, start, end)]
    if len(words) > MAX_WORDS:
        first = max(0, sum(last <= place.start for _, last in words) - WORDS_BEFORE)
        first = min(first, len(words) - MAX_WORDS)
        start, end = words[first][0], words[first + MAX_WORDS - 1][1]
    is_marked = found.probability >= MIN_MARKED and place.start < end and start < place.end
    marks = ((max(start, place.start), min(end, place.end)),) if is_marked else ()
    header = find_header(page_text, start, is_first=found.passage.page_index == 0)
    quotes = (Quote(start, end, marks), *([Quote(*header)] if header else ()))
    return Candidate(found.passage, quotes, found.probability, found.score)


def _skip_heading(heading: str, page_text: str, start: int, answer: int) -> int:
    """Return the offset at which an excerpt begins, after the heading of its section.

    The heading is not skipped if the answer, which begins at the offset ``answer``, is in it.
    """
    written = r"\s+".join(map(re.escape, heading.split(HEADING_SEPARATOR)[-1].split()))
    match = re.compile(rf"{written}[ \t]*\n\s*").match(page_text, start) if written else None
    return match.end() if match and match.end() <= max(answer, start) else start


def find_line(text: str, line: str, end: int) -> Quote | None:
    """Return the last place of a line in a text before the offset ``end``; ``None`` if the line is not there."""
    pattern = re.compile(r"\s+".join(map(re.escape, line.split())))
    found = [match.span() for match in pattern.finditer(text, 0, end)]
    return Quote(*found[-1]) if found and line else None


def _quote_rows(rows: Sequence[FoundAnswer], page_text: str) -> Candidate:
    """Return a candidate with the best `MAX_ROWS` rows of a table, in the order of the table.

    ``rows`` are answers that the reading model found in rows of the table, best first. The cell of the best answer is
    marked if its probability is at least `MIN_MARKED`. A line above that states the unit is the first quote.
    """
    best = rows[0]
    kept = sorted(rows[:MAX_ROWS], key=lambda one: one.excerpt.start)
    cell = best.place.cell
    place = cell.spans if cell else ((best.place.start, best.place.end),)
    marked = place if best.text and best.probability >= MIN_MARKED else ()
    quotes = [Quote(one.excerpt.start, one.excerpt.end, marked if one is best else ()) for one in kept]
    table = best.excerpt.table
    unit = table.unit_line if table else ""
    above = find_line(page_text, unit, quotes[0].start)
    return Candidate(
        best.passage,
        tuple([above, *quotes] if above else quotes),
        max(one.probability for one in rows),
        best.score,
        table=table,
        rows=tuple(one.excerpt.row for one in kept if one.excerpt.row),
        unit=unit,
    )
