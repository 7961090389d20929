"""Find the heads of tables in the text of a page, so that a chunk inside a table can repeat the head."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.text.dates import YEAR
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import Page
from rag_core.types.tables import Span, TableRow

# Maximum number of tokens of a table head that a chunk inside the table repeats. It is lower if the window of the
# embedder has no more room.
HEAD_TOKENS = 40
# Maximum number of lines of a table head: the title, the units, and column heads of several lines.
_MAX_LINES = 16
# Longer lines are prose.
_MAX_CHARACTERS = 110
# Minimum width of a gap between columns, in line heights. Gaps between words of a sentence are narrower.
_MIN_GAP = 1.2
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")
_VALUE = re.compile(r"[(\[$€£¥+\-–−]*\d(?:[\d,.]*\d)?[%)\]]*|[-–—−]+|n/?[am]", re.IGNORECASE)
# Years are mostly column heads and not values.
_YEAR = re.compile(YEAR)
# A cheap test: a line without a match contains no values.
_FIGURE = re.compile(r"\d|\s[-–—−]+(?!\S)")
_DIGIT = re.compile(r"\d")
_ORDINAL = re.compile(r"\d{1,2}")
_MARK = re.compile(r"[$€£¥%)#*†‡]+|\([a-z]\)")
_MAX_VALUE_CHARACTERS = 24
_SENTENCE_END = re.compile(r"[.;][\"”’)]*$")
# A line with the end of a sentence is prose if it has at least this many words.
_MIN_SENTENCE_WORDS = 6


@dataclass(frozen=True, slots=True)
class HeadedTable:
    """A table in the text of a page.

    ``head`` contains the spans of the lines of the head: the title, the units and the column heads. ``end`` is the end
    of the last row.
    """

    head: tuple[Span, ...]
    end: int


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table: the number of its values, and the start offsets of the first and the last value."""

    value_count: int
    first: int
    last: int


class _TableScanner:
    """Finds the tables of a page, line by line."""

    def __init__(self, page: Page) -> None:
        self._page = page
        # The lines above the current line that can be the head of the next table.
        self._lines_above: list[Span] = []
        self._page_headers: list[Span] = []
        self._after_blank = self._after_prose = self._in_table = False
        self.tables: list[HeadedTable] = []

    def add_line(self, line: re.Match[str], *, apart: bool) -> None:
        """Process the next line. ``apart`` says whether a blank line is above it."""
        self._after_blank |= apart
        row = _parse_row(line[0], line.start())
        # A line with a single value is a row only inside a table.
        if row is not None and (self._in_table or row.value_count > 1):
            self._add_row(line.span(), row)
        elif text := line[0].strip():
            self._add_other(line.span(), text)

    def add_header(self, line: re.Match[str], *, apart: bool) -> None:
        """Process a line of a page header, which can be the head of a table that extends over several pages."""
        self._page_headers = [*([] if apart else self._page_headers), line.span()]

    def _add_row(self, span: Span, row: _Row) -> None:
        """Add a row to the current table. If there is none, or column heads are above the row, start a new table."""
        head: tuple[Span, ...] = ()
        if self._after_blank or not self._in_table:
            head = _find_head(self._page, self._lines_above, span, row) or _find_head(
                self._page, self._page_headers, span, row
            )
        if head or not self._in_table:
            self.tables.append(HeadedTable(head, span[1]))
        else:
            self.tables[-1] = HeadedTable(self.tables[-1].head, span[1])
        self._lines_above, self._page_headers = [], []
        self._after_blank, self._after_prose, self._in_table = False, False, True

    def _add_other(self, span: Span, text: str) -> None:
        """Process a line that is not a row. Prose ends a table, but labels, titles and column heads do not."""
        self._after_prose = _is_prose(text, after_prose=self._after_prose) and not _has_column_gap(self._page, span)
        if self._after_prose:
            self._lines_above, self._page_headers, self._in_table = [], [], False
        else:
            self._lines_above = [*self._lines_above[1 - _MAX_LINES :], span]


def find_headed_tables(page: Page) -> list[HeadedTable]:
    """Return the tables of a page that have column heads, in text order. The tables do not overlap.

    The first row of a table is a line with at least two values side by side. The table ends before a line of prose or
    before the next column heads. Page headers can contain the column heads of a table.

    Lines above a row are column heads if they extend over the last value of the row, and either begin to the right of
    the label of the row or have a gap between columns. A page without word boxes has no tables, because these positions
    are unknown.
    """
    scanner = _TableScanner(page)
    position = 0
    for line in _LINE.finditer(page.text):
        is_header = any(start < line.end() and line.start() < end for start, end in page.skip)
        (scanner.add_header if is_header else scanner.add_line)(line, apart=line.start() > position + 1)
        position = line.end()
    return [table for table in scanner.tables if table.head]


def find_header_lines(page: Page, tables: Sequence[HeadedTable], start: int, prefix: str) -> list[str]:
    """Return the lines of the head of the table in which a chunk begins; empty if it begins outside of a table.

    Parameters
    ----------
    page : Page
    tables : sequence of HeadedTable
        The tables of the page.
    start : int
        Offset of the beginning of the chunk.
    prefix : str
        First line of the prefix of the chunk. Lines of the head that equal a part of it, such as the heading, are left
        out, and so are lines below ``start``, which are in the chunk.
    """
    number = bisect_left(tables, start, key=lambda table: table.head[0][0]) - 1
    if number < 0 or start >= tables[number].end:
        return []
    lines = [" ".join(page.text[first:last].split()) for first, last in tables[number].head if last <= start]
    return [line for line in lines if line not in prefix.split(HEADING_SEPARATOR)]


def find_carried_labels(page: Page, start: int, end: int) -> list[str]:
    """Return the texts of cells that extend, from rows above, into the first table row in a span of a page."""
    rows = [row for table in page.tables for row in table.body if any(start < cell.end for cell in row.cells)]
    row = min(rows, key=_find_row_start, default=None)
    return [cell.text for cell in row.cells if not cell.spans] if row and _find_row_start(row) < end else []


def fit_head(lines: Sequence[str], counts: Sequence[int], room: int) -> tuple[Sequence[str], int]:
    """Return the last lines of a table head that fit into ``room`` tokens, and their number of tokens.

    The number is at most `HEAD_TOKENS`. The last lines are the most important ones, because they contain the column
    heads. ``counts`` are the numbers of tokens of the lines.
    """
    first, tokens = len(lines), 0
    while first and tokens + counts[first - 1] <= min(HEAD_TOKENS, room):
        first -= 1
        tokens += counts[first]
    return lines[first:], tokens


def _find_row_start(row: TableRow) -> int:
    return min(cell.start for cell in row.cells if cell.spans)


def _parse_row(line: str, offset: int) -> _Row | None:
    """Return a line as a row with its last group of values, or with the value at its end; ``None`` without them.

    ``offset`` is the offset of the line in the text of the page.
    """
    if not _FIGURE.search(line):
        return None
    groups: list[list[re.Match[str]]] = [[]]
    for word in _WORD.finditer(line):
        if _is_value(word[0]):
            groups[-1].append(word)
        elif groups[-1] and not _MARK.fullmatch(word[0]):
            groups.append([])
    for group in reversed(groups):
        figures = [word[0] for word in group if _DIGIT.search(word[0])]
        # A group with fewer than two figures needs more than two values, dashes included, and a label before it:
        # "- 51 -" is a page number, and "Part 5 - Pensions" is a title.
        has_several = len(figures) > 1 or (len(group) > 2 and line[: group[0].start()].strip())
        # A single number of one or two digits at the end of a line is part of a name, such as "Note 12".
        is_last = len(group) == 1 and group is groups[-1] and figures and not _ORDINAL.fullmatch(figures[0])
        if has_several or is_last:
            return _Row(len(group), offset + group[0].start(), offset + group[-1].start())
    return None


def _is_value(word: str) -> bool:
    return len(word) <= _MAX_VALUE_CHARACTERS and _VALUE.fullmatch(word) is not None and not _YEAR.fullmatch(word)


def _is_prose(text: str, *, after_prose: bool) -> bool:
    """Return whether a line looks like a part of a sentence. ``after_prose`` says whether the line above does."""
    if len(text) > _MAX_CHARACTERS or (after_prose and text[0].islower()):
        return True
    return _SENTENCE_END.search(text) is not None and len(text.split()) >= _MIN_SENTENCE_WORDS


def _find_head(page: Page, above: Sequence[Span], row: Span, figures: _Row) -> tuple[Span, ...]:
    """Return the table head above a row: the lines ``above`` down to the last column heads; empty without these.

    See `find_headed_tables` for the positions of column heads.
    """
    label = _find_word_rects(page, (row[0], figures.first))
    last = _find_word_rects(page, (figures.last, row[1]))
    if not len(last):
        return ()
    label_end = label[:, 2].max(initial=0.0)
    for count in range(len(above), 0, -1):
        rects = _find_word_rects(page, above[count - 1])
        is_over_value = len(rects) and rects[:, 2].max() > last[0, 0]
        if is_over_value and (rects[:, 0].min() >= label_end or _has_column_gap(page, above[count - 1])):
            return tuple(above[:count])
    return ()


def _find_word_rects(page: Page, span: Span) -> FloatArray:
    """Return the rectangles of the words that begin in a span, in text order, shape (n, 4)."""
    starts = page.boxes.starts
    # The dtypes must be equal, because `searchsorted` would copy the whole array otherwise.
    first, last = np.searchsorted(starts, np.array(span, starts.dtype))
    rects: FloatArray = page.boxes.rects[first:last]
    return rects


def _has_column_gap(page: Page, span: Span) -> bool:
    """Return whether the gap between two neighbouring words of a line is as wide as a gap between columns."""
    rects = _find_word_rects(page, span)
    gaps = (rects[1:, 0] - rects[:-1, 2]) * page.width
    heights = (rects[:, 3] - rects[:, 1]) * page.height
    return bool(len(gaps) and gaps.max() > _MIN_GAP * heights.max())
