"""Divide a band into tables that are side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from rag_core.parsing.layout.columns import is_prose
from rag_core.parsing.tables.bands import Band, Column
from rag_core.parsing.tables.grid import ColumnKind, assign_cells, build_grid, find_kinds
from rag_core.parsing.tables.headers import build_headers
from rag_core.parsing.tables.segments import PageWords, Segment, TextLine

# The gap between two tables is at least this many times as wide as the gaps within them.
_WIDE_GAP = 1.5
# Least share of lines with cells on both sides if the lines of two tables are not level with each other.
_LEVEL_SHARE = 0.25
# Number of lines at the top of a band that may be headers.
_HEADER_LINES = 4


def split_band(words: PageWords, band: Band) -> list[Band]:
    """Return the tables of a band from left to right; usually it has one."""
    band = _drop_prose(band)
    columns = band.columns
    if len(columns) < 4:
        return [band]
    place = _find_split(words, band)
    if place is None:
        return [band]
    middle = (columns[place - 1].x1 + columns[place].x0) / 2
    return [
        *split_band(words, _select(band, columns[:place], lambda segment: segment.middle < middle)),
        *split_band(words, _select(band, columns[place:], lambda segment: segment.middle >= middle)),
    ]


def _drop_prose(band: Band) -> Band:
    """Return a band without prose beside its last or first column."""
    columns = band.columns
    ends = [columns[-1], columns[0]] if len(columns) > 2 else []
    prose = next((column for column in ends if _is_prose_column(band, column)), None)
    if prose is columns[0] and _are_figures(band, columns[1]):
        return band  # the first column contains long labels
    if prose is None:
        return band
    kept = [column for column in columns if column is not prose]
    return _select(band, kept, lambda segment: not prose.overlaps(segment))


def _are_figures(band: Band, column: Column) -> bool:
    cells = [segment for line in band.lines for segment in line.segments if column.overlaps(segment)]
    return sum(cell.is_figure for cell in cells) > 0.5 * len(cells)


def _is_prose_column(band: Band, column: Column) -> bool:
    """Return whether a column contains lines of prose and no header."""
    if any(column.overlaps(segment) for segment in (band.head or band.lines)[0].segments):
        return False
    lines = [
        [(segment.x0, segment.x1, word) for word in segment.text.split()]
        for line in band.lines
        for segment in line.segments
        if column.overlaps(segment)
    ]
    return len(lines) > 2 and is_prose(lines)


def _select(band: Band, columns: list[Column], is_wanted: Callable[[Segment], bool]) -> Band:
    parts = (
        [TextLine(segments) for line in group if (segments := [one for one in line.segments if is_wanted(one)])]
        for group in (band.lines, band.head)
    )
    lines, head = parts
    return Band(lines, columns, head, band.above)


def _find_split(words: PageWords, band: Band) -> int | None:
    """Return the number of the first column of the second table; ``None`` if the band has only one table."""
    columns = band.columns
    gaps = [right.x0 - left.x1 for left, right in pairwise(columns)]
    kinds: list[ColumnKind] | None = None
    for place in sorted(range(2, len(columns) - 1), key=lambda number: -gaps[number - 1]):
        if _are_not_level(band, (columns[place - 1].x1 + columns[place].x0) / 2):
            return place
        if _repeats_header(band, place):
            return place
        kinds = kinds or find_kinds([assign_cells(words, line, columns) for line in band.lines], len(columns))
        if kinds[place] is not ColumnKind.TEXT or kinds[place - 1] is ColumnKind.TEXT:
            continue
        # Labels begin again after figures. A wide gap or the same header as that of the labels shows another table.
        others = [gap for number, gap in enumerate(gaps, 1) if number != place]
        if kinds[-1] is not ColumnKind.TEXT and gaps[place - 1] > _WIDE_GAP * max(others):
            return place
        if _repeats(kinds, place) and _has_same_header(words, band, place):
            return place
    return None


def _are_not_level(band: Band, middle: float) -> bool:
    left = right = both = 0
    for line in band.lines:
        first, last = line.segments[0].middle < middle, line.segments[-1].middle >= middle
        both += first and last
        left += first and not last and len(line.segments) > 1
        right += last and not first and len(line.segments) > 1
    return left > 1 and right > 1 and both < _LEVEL_SHARE * len(band.lines)


def _repeats_header(band: Band, place: int) -> bool:
    """Return whether a line has the same texts in the first columns of both sides, as headers of two equal tables."""
    left, right = band.columns[0], band.columns[place]
    for line in (*band.head, *band.lines)[:_HEADER_LINES]:
        first = [number for number, segment in enumerate(line.segments) if left.overlaps(segment)]
        second = [number for number, segment in enumerate(line.segments) if right.overlaps(segment)]
        if first and second and second[0] > first[0] + 1:
            texts = [segment.text for segment in line.segments]
            length = min(second[0] - first[0], len(texts) - second[0], 2)
            start, again = first[0], second[0]
            if length > 1 and texts[start : start + length] == texts[again : again + length]:
                return not any(char.isdigit() for char in texts[start])
    return False


def _repeats(kinds: Sequence[ColumnKind], place: int) -> bool:
    """Return whether the columns on both sides are labels and then figures."""
    return all(
        part[0] is ColumnKind.TEXT and all(kind is not ColumnKind.TEXT for kind in part[1:])
        for part in (kinds[:place], kinds[place:])
    )


def _has_same_header(words: PageWords, band: Band, place: int) -> bool:
    """Return whether the labels of both tables have the same header, or both have none."""
    grid = build_grid(words, band)
    rows = build_headers(words, grid.head, grid.columns)
    texts = [" ".join(cell.text for row in rows for cell in row if cell.column == number) for number in (0, place)]
    return bool(rows) and texts[0] == texts[1]
