"""Find the columns that each header of a table covers.

The lines that are headers are found in `bands` (lines above the columns), `grid` (tables with figures) and `finder`
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
    """A header of one or more columns, which may have several lines."""

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
    """Return the header rows, from the top down; lines that continue the same headers form one row."""
    rows: list[list[HeaderCell]] = []
    for line in reversed(lines):
        row = _place_headers(line.segments, columns, rows[0] if rows else [])
        if rows and _is_same_row(row, rows[0]):
            rows[0] = _join_rows(row, rows[0])
        else:
            rows.insert(0, row)
    return rows


def _place_headers(line: Sequence[Segment], columns: Sequence[Column], below: Sequence[HeaderCell]) -> list[HeaderCell]:
    """Return the headers of a line with their columns; ``below`` contains the headers of the row below the line."""
    segments = list(line)
    placed: list[HeaderCell] = []
    first = segments[0]
    overlapped = [number for number, column in enumerate(columns) if column.overlaps(first)]
    if overlapped == [0] or (not overlapped and first.x1 < columns[1].x0 - (columns[1].x1 - columns[1].x0)):
        placed.append(HeaderCell([segments.pop(0)], 0, 1))
    groups = _find_equal_groups(len(segments), len(columns), below)
    for number, segment in enumerate(segments):
        covered = groups[number] if groups else _find_covered_columns(segment, columns)
        if placed and placed[-1].column + placed[-1].column_span > covered.start:
            placed[-1].segments.append(segment)
            placed[-1].column_span = max(placed[-1].column_span, covered.stop - placed[-1].column)
        else:
            placed.append(HeaderCell([segment], covered.start, len(covered)))
    return placed


def _find_covered_columns(segment: Segment, columns: Sequence[Column]) -> range:
    """Return the columns that a header overlaps, or else the nearest column."""
    overlapped = [number for number, column in enumerate(columns) if column.overlaps(segment)]
    if overlapped:
        return range(overlapped[0], overlapped[-1] + 1)
    distances = [abs((column.x0 + column.x1) / 2 - segment.middle) for column in columns]
    nearest = distances.index(min(distances))
    return range(nearest, nearest + 1)


def _find_equal_groups(header_count: int, column_count: int, below: Sequence[HeaderCell]) -> list[range] | None:
    """Return the columns of each header if the headers below repeat, as in "Revenue, Costs, Revenue, Costs".

    Each group of columns with the same headers below gets one header. Return ``None`` if there are no such groups.
    """
    labels = {number: cell.text for cell in below for number in cell.columns}
    if header_count < 2:
        return None
    for first in (1, 0, 2):
        size, rest = divmod(column_count - first, header_count)
        if rest or size < 2:
            continue
        groups = [range(start, start + size) for start in range(first, column_count, size)]
        texts = [[labels.get(column, "") for column in group] for group in groups]
        if all(left == right and all(left) for left, right in pairwise(texts)):
            return groups
    return None


def _is_same_row(upper: Sequence[HeaderCell], lower: Sequence[HeaderCell]) -> bool:
    """Return whether a header line continues the headers of the row below, so that both form one row."""
    spans = {(cell.column, cell.column_span) for cell in lower}
    covered = {column for cell in lower for column in cell.columns}
    if any(cell.column_span > 1 and (cell.column, cell.column_span) not in spans for cell in upper):
        return False
    return not any(cell.column_span > 1 for cell in lower) or all(
        (cell.column, cell.column_span) in spans or not covered & set(cell.columns) for cell in upper
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
