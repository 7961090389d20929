"""Tables in a page's text: which lines head their columns, and where their rows end."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.types import FloatArray, Page
from rag_core.types.chunks import HEADING_SEPARATOR

Span = tuple[int, int]
# Column heads stacked over several lines, with the title and the units above them.
_MOST_LINES = 16
_LONGEST_LINE = 110
# Space between two words, in heights of the line, that words of a sentence do not have between them.
_GAP = 1.2
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")
_VALUE = re.compile(r"[(\[$€£¥+\-–−]*\d(?:[\d,.]*\d)?[%)\]]*|[-–—−]+|n/?[am]", re.IGNORECASE)
# Years stand over columns more often than in them.
_YEAR = re.compile(r"(?:19|20)\d\d")
# What a line without any figure is known by: most lines are looked at no further.
_FIGURE = re.compile(r"\d|\s[-–—−]+(?!\S)")
_DIGIT = re.compile(r"\d")
_ORDINAL = re.compile(r"\d{1,2}")
_MARK = re.compile(r"[$€£¥%)#*†‡]+|\([a-z]\)")
_LONGEST_VALUE = 24
_SENTENCE_END = re.compile(r"[.;][\"”’)]*$")
_SENTENCE_WORDS = 6


@dataclass(frozen=True, slots=True)
class Table:
    """``head`` are the spans of the lines from its title to its column heads, ``end`` is that of its last row."""

    head: tuple[Span, ...]
    end: int


@dataclass(frozen=True, slots=True)
class _Row:
    """Figures side by side in a line: how many, and where the first and the last of them begin."""

    values: int
    first: int
    last: int


class _Reader:
    """Goes down the lines of a page; knows whether it is in a table, and what stands above the next row."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._above: list[Span] = []
        self._running: list[Span] = []
        self._apart = self._after_prose = self._within = False
        self.found: list[Table] = []

    def take(self, line: re.Match[str], *, apart: bool) -> None:
        """Take the next line; ``apart`` if there is a blank one above it."""
        self._apart |= apart
        row = _row(line[0], line.start())
        # A single figure is a row's where a table has begun.
        if row is not None and (self._within or row.values > 1):
            self._row(line.span(), row)
        elif text := line[0].strip():
            self._other(line.span(), text)

    def pass_by(self, line: re.Match[str], *, apart: bool) -> None:
        """Take a running header, which may be the head of a table that goes on from page to page."""
        self._running = [*([] if apart else self._running), line.span()]

    def _row(self, span: Span, row: _Row) -> None:
        """One more row, or the first one below other column heads."""
        head: tuple[Span, ...] = ()
        if self._apart or not self._within:
            head = _head(self._page, self._above, span, row) or _head(self._page, self._running, span, row)
        if head or not self._within:
            self.found.append(Table(head, span[1]))
        else:
            self.found[-1] = Table(self.found[-1].head, span[1])
        self._above, self._running = [], []
        self._apart, self._after_prose, self._within = False, False, True

    def _other(self, span: Span, text: str) -> None:
        """A label, a title, a column head, or prose, which no table goes on after."""
        prose = _is_prose(text, after_prose=self._after_prose) and not _spread(self._page, span)
        if prose:
            self._above, self._running, self._within = [], [], False
        else:
            self._above = [*self._above[1 - _MOST_LINES :], span]
        self._after_prose = prose


def find_tables(page: Page) -> list[Table]:
    """Tables of a page that have column heads, in order; none overlap.

    A table begins with a line that holds two figures side by side, and ends before a line of prose or
    the next column heads. Column heads are told from the labels between the rows by where they stand:
    over the last figure of the row below, with the space of a column between their words. So pages
    without word boxes have none. Running headers are no part of a table, but may head its columns.
    Takes time linear in the length of the text.
    """
    reader = _Reader(page)
    position = 0
    for line in _LINE.finditer(page.text):
        running = any(start < line.end() and line.start() < end for start, end in page.skip)
        (reader.pass_by if running else reader.take)(line, apart=line.start() > position + 1)
        position = line.end()
    return [table for table in reader.found if table.head]


def header_lines(page: Page, found: Sequence[Table], start: int, prefix: str) -> list[str]:
    """Lines above ``start`` from the head of the table that it lies in, for a chunk that begins there.

    Without the title that is the page's heading, since that stands in the ``prefix`` of every chunk.
    """
    number = bisect_left(found, start, key=lambda table: table.head[0][0]) - 1
    if number < 0 or start >= found[number].end:
        return []
    lines = [" ".join(page.text[first:last].split()) for first, last in found[number].head if last <= start]
    return [line for line in lines if line not in prefix.split(HEADING_SEPARATOR)]


def _row(line: str, offset: int) -> _Row | None:
    """The last figures that stand side by side in a line, or the one that ends it."""
    if not _FIGURE.search(line):
        return None
    runs: list[list[re.Match[str]]] = [[]]
    for word in _WORD.finditer(line):
        if _is_value(word[0]):
            runs[-1].append(word)
        elif runs[-1] and not _MARK.fullmatch(word[0]):
            runs.append([])
    for run in reversed(runs):
        figures = [word[0] for word in run if _DIGIT.search(word[0])]
        # "- 51 -" is a page number and "Part 5 - Pensions" a title: dashes are figures where there is a label and
        # more of them. "Level 3" and "Note 12" name something.
        several = len(figures) > 1 or (len(run) > 2 and line[: run[0].start()].strip())
        ends = len(run) == 1 and run is runs[-1] and figures and not _ORDINAL.fullmatch(figures[0])
        if several or ends:
            return _Row(len(run), offset + run[0].start(), offset + run[-1].start())
    return None


def _is_value(word: str) -> bool:
    return len(word) <= _LONGEST_VALUE and _VALUE.fullmatch(word) is not None and not _YEAR.fullmatch(word)


def _is_prose(text: str, *, after_prose: bool) -> bool:
    """Whether a line reads like one of a sentence, or like the rest of one."""
    if len(text) > _LONGEST_LINE or (after_prose and text[0].islower()):
        return True
    return _SENTENCE_END.search(text) is not None and len(text.split()) >= _SENTENCE_WORDS


def _head(page: Page, above: Sequence[Span], row: Span, figures: _Row) -> tuple[Span, ...]:
    """The lines above a row, to the last that stands over its last figure; none where no line does."""
    label = _rects(page, (row[0], figures.first))
    last = _rects(page, (figures.last, row[1]))
    if not len(last):
        return ()
    label_end = label[:, 2].max(initial=0.0)
    for count in range(len(above), 0, -1):
        rects = _rects(page, above[count - 1])
        over = len(rects) and rects[:, 2].max() > last[0, 0]
        if over and (rects[:, 0].min() >= label_end or _spread(page, above[count - 1])):
            return tuple(above[:count])
    return ()


def _rects(page: Page, span: Span) -> FloatArray:
    """Rectangles of the words that begin in a span, in text order, shape (n, 4)."""
    starts = page.boxes.starts
    # Of the same type, for a search among numbers of another first copies them all.
    first, last = np.searchsorted(starts, np.array(span, starts.dtype))
    rects: FloatArray = page.boxes.rects[first:last]
    return rects


def _spread(page: Page, span: Span) -> bool:
    """Whether words of a line stand apart as those of two columns do."""
    rects = _rects(page, span)
    gaps = (rects[1:, 0] - rects[:-1, 2]) * page.width
    heights = (rects[:, 3] - rects[:, 1]) * page.height
    return bool(len(gaps) and gaps.max() > _GAP * heights.max())
