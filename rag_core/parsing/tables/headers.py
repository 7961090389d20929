"""Header rows: which columns each header is for, if it has several levels.

Which lines are headers is decided in `bands` (lines above the columns), `grid` (tables with figures) and `finder`
(tables of texts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.parsing.tables.bands import Column
from rag_core.parsing.tables.segments import Segment, TextLine


@dataclass(slots=True)
class HeaderCell:
    """A header of one or more columns; it may have several lines."""

    segments: list[Segment]
    column: int
    column_span: int

    @property
    def columns(self) -> range:
        return range(self.column, self.column + self.column_span)

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)


def build_headers(lines: Sequence[TextLine], columns: Sequence[Column]) -> list[list[HeaderCell]]:
    """Return the header rows, from the top down; lines of the same header cells are one row."""
    rows: list[list[HeaderCell]] = []
    for line in reversed(lines):
        row = _place_headers(line.segments, columns, rows[0] if rows else [])
        if rows and _is_same_row(row, rows[0]):
            rows[0] = _join_rows(row, rows[0])
        elif row:
            rows.insert(0, row)
    return rows


def _place_headers(line: Sequence[Segment], columns: Sequence[Column], below: Sequence[HeaderCell]) -> list[HeaderCell]:
    segments = list(line)
    placed: list[HeaderCell] = []
    first = segments[0]
    touched = [number for number, column in enumerate(columns) if column.overlaps(first)]
    if touched == [0] or (not touched and first.x1 < columns[1].x0 - (columns[1].x1 - columns[1].x0)):
        placed.append(HeaderCell([segments.pop(0)], 0, 1))
    if not segments:
        return placed
    groups = _find_equal_groups(segments, len(columns), below)
    for number, segment in enumerate(segments):
        if groups:
            start, end = groups[number]
        else:
            touched = [place for place, column in enumerate(columns) if column.overlaps(segment)]
            start, end = (touched[0], touched[-1] + 1) if touched else (_nearest(segment, columns),) * 2
            end = max(end, start + 1)
        if placed and placed[-1].column + placed[-1].column_span > start:
            placed[-1].segments.append(segment)
            placed[-1].column_span = max(placed[-1].column_span, end - placed[-1].column)
        else:
            placed.append(HeaderCell([segment], start, end - start))
    return placed


def _nearest(segment: Segment, columns: Sequence[Column]) -> int:
    distances = [abs((column.x0 + column.x1) / 2 - segment.middle) for column in columns]
    return distances.index(min(distances))


def _find_equal_groups(
    segments: Sequence[Segment], count: int, below: Sequence[HeaderCell]
) -> list[tuple[int, int]] | None:
    """Return the first column and the column after the last one for each header above headers that repeat.

    The headers below repeat if they are the same in groups of equal size, such as "Revenue, Costs, Revenue, Costs".
    Otherwise return ``None``.
    """
    labels = {number: cell.text for cell in below for number in cell.columns}
    for first in (1, 0, 2):
        size, rest = divmod(count - first, len(segments))
        if rest or size < 2 or len(segments) < 2:
            continue
        groups = [(first + size * place, first + size * (place + 1)) for place in range(len(segments))]
        texts = [[labels.get(column, "") for column in range(*group)] for group in groups]
        if all(one == other and all(one) for one, other in pairwise(texts)):
            return groups
    return None


def _is_same_row(upper: Sequence[HeaderCell], lower: Sequence[HeaderCell]) -> bool:
    """Return whether two header lines are lines of the same cells."""
    spans = {(cell.column, cell.column_span) for cell in lower}
    by_column = {column for cell in lower for column in cell.columns}
    if any(cell.column_span > 1 and (cell.column, cell.column_span) not in spans for cell in upper):
        return False
    return not any(cell.column_span > 1 for cell in lower) or all(
        (cell.column, cell.column_span) in spans or not by_column & set(cell.columns) for cell in upper
    )


def _join_rows(upper: Sequence[HeaderCell], lower: Sequence[HeaderCell]) -> list[HeaderCell]:
    cells = {
        (cell.column, cell.column_span): HeaderCell(list(cell.segments), cell.column, cell.column_span)
        for cell in upper
    }
    for cell in lower:
        key = cell.column, cell.column_span
        if key in cells:
            cells[key].segments += cell.segments
        else:
            cells[key] = cell
    return sorted(cells.values(), key=lambda cell: cell.column)
