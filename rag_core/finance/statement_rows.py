"""Quotes, with citations, of the rows of financial statements from which a measure is computed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.text.dates import YEAR
from rag_core.text.tables import is_table_row
from rag_core.text.words import tokenize
from rag_core.types import Citation, Passage

# Most words in a row's label that are not in the looked-up line, as in "Total CVS Health shareholders' equity".
MAX_OTHER_WORDS = 3
MAX_ROWS = 6
_FIGURE = re.compile(r"[$€£(]?\s?\d")
_YEAR = re.compile(rf"\b{YEAR}\b")
# A line that contains years and an amount is a table row, not a header of years.
_AMOUNT = re.compile(r"\d,\d{3}|\(\d|[$€£]")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A row with its span, the span of the header of years above it, if any, and the stems of its label."""

    passage: Passage
    start: int
    end: int
    head: tuple[int, int] | None
    label: frozenset[str]


def read_rows(lines: Sequence[str], passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
    """Quote, for each label in ``lines``, the row that matches it best, after the header of years above that row.

    Parameters
    ----------
    lines : sequence of str
        Labels of rows, such as ``total current assets``.
    passages : sequence of Passage
        Passages of one document's statements, best first.

    Returns
    -------
    text : str
        Headers and rows in the order of ``lines``, each on a line of text and followed by its ``[n]``; empty if no row
        matches.
    citations : tuple of Citation
        One per quote, in the order of the text.
    """
    rows = [row for passage in passages for row in _find_rows(passage)]
    chosen = list(dict.fromkeys(row for line in lines if (row := _find_best_row(line, rows)) is not None))[:MAX_ROWS]
    citations = tuple(dict.fromkeys(citation for row in chosen for citation in _cite_row(row)))
    return "\n".join(f"{' '.join(citation.quote.split())} [{citation.marker}]" for citation in citations), citations


def _find_best_row(line: str, rows: Sequence[_Row]) -> _Row | None:
    """Return the row whose label contains all words of the line and the fewest others; the first in case of a tie."""
    wanted = frozenset(word.stem for word in tokenize(line) if word.content)
    meant = [row for row in rows if wanted <= row.label and len(row.label - wanted) <= MAX_OTHER_WORDS]
    return min(meant, key=lambda row: len(row.label - wanted), default=None)


def _find_rows(passage: Passage) -> Iterator[_Row]:
    head: tuple[int, int] | None = None
    for match in _LINE.finditer(passage.first_page_text):
        text = match[0].strip()
        if len(_YEAR.findall(text)) > 1 and not _AMOUNT.search(text):
            head = match.span()
        elif is_table_row(text) and (figure := _FIGURE.search(text)):
            label = frozenset(word.stem for word in tokenize(text[: figure.start()]) if word.content)
            yield _Row(passage, *match.span(), head, label)


def _cite_row(row: _Row) -> list[Citation]:
    spans = [(row.start, row.end)] if row.head is None else [row.head, (row.start, row.end)]
    return [Citation.of(row.passage, start, end) for start, end in spans]
