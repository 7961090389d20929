"""Cells over several rows: which rows they cover, so that each of these rows carries their text.

Drawn rules decide; in doubt, a blank cell stays blank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from statistics import median

import numpy as np

from rag_core.parsing.tables.bands import Column
from rag_core.parsing.tables.grid import ColumnKind, Grid, GridRow
from rag_core.parsing.tables.segments import Segment
from rag_core.types.arrays import FloatArray

TOTAL = re.compile(r"\W*(?:sub)?totals?\b", re.IGNORECASE)
# Greatest height and least length of a horizontal rule in points.
_BORDER_THICKNESS, _SHORTEST = 3.0, 4.0
# Rules whose distance is below this share of the height of the characters are one, as the borders of two cells.
_SAME_RULE = 0.45
# A rule is a cell border, and not the underline of a text, if it is this many points longer than the text.
_LONGER = 1.0

Range = tuple[int, int]


class HorizontalRules:
    """The horizontal lines drawn on a page, which are read when a table first needs them.

    Parameters
    ----------
    find_rules : callable
        Returns the boxes of the rules of the page in the coordinates of its lines, shape (n, 4).
    """

    def __init__(self, find_rules: Callable[[], FloatArray]) -> None:
        self._find_rules = find_rules

    @cached_property
    def _rects(self) -> FloatArray:
        rects = self._find_rules()
        rects = rects[(rects[:, 3] - rects[:, 1] < _BORDER_THICKNESS) & (rects[:, 2] - rects[:, 0] > _SHORTEST)]
        return rects[np.argsort(rects[:, 1])]

    def find_borders(self, columns: Sequence[Column], top: float, bottom: float, size: float) -> list[Border]:
        """Return the rules between two places that border cells, from the top down."""
        left, right = columns[0].x0, columns[-1].x1
        y = (self._rects[:, 1] + self._rects[:, 3]) / 2
        near = (y > top) & (y < bottom) & (self._rects[:, 0] < right) & (self._rects[:, 2] > left)
        groups: list[list[list[float]]] = []
        for rect in self._rects[near].tolist():
            if groups and rect[1] - groups[-1][-1][1] < _SAME_RULE * size:
                groups[-1].append(rect)
            else:
                groups.append([rect])
        borders = (Border(group, columns) for group in groups)
        return [border for border in borders if any(border.closes)]


class Border:
    """Rules at one height; ``closes`` tells for each column whether they border its cells."""

    def __init__(self, rects: Sequence[list[float]], columns: Sequence[Column]) -> None:
        self.y = sum(rect[1] + rect[3] for rect in rects) / (2 * len(rects))
        lines: list[list[float]] = []
        for x0, _, x1, _ in sorted(rects):
            if lines and x0 <= lines[-1][1] + 2:
                lines[-1][1] = max(lines[-1][1], x1)
            else:
                lines.append([x0, x1])
        self.closes = [any(_covers(line, column) for line in lines) for column in columns]


def _covers(line: Sequence[float], column: Column) -> bool:
    x0, x1 = line
    shared = min(x1, column.x1) - max(x0, column.x0)
    is_longer = x0 < column.x0 - _LONGER or x1 > column.x1 + _LONGER
    return is_longer and shared > 0.8 * (column.x1 - column.x0)


def carry_cells(grid: Grid, rules: HorizontalRules) -> Grid:
    """Return a grid in which each row has all cells that cover it; the rows that share a cell have the same list."""
    lines = grid.lines
    if len(lines) < 3 or all(len(cells) == len(grid.columns) for cells in lines):
        return grid
    segments = [segment for cells in lines for cell in cells.values() for segment in cell]
    size = median(segment.size for segment in segments)
    top, bottom = min(one.top for one in segments), max(one.bottom for one in segments)
    borders = rules.find_borders(grid.columns, top - 1.5 * size, bottom + 1.5 * size, size)
    rows = _build_ruled_rows(grid, borders) or grid.rows
    return replace(grid, rows=rows, is_ruled=_are_ruled(rows, borders))


def _are_ruled(rows: Sequence[GridRow], borders: Sequence[Border]) -> bool:
    """Return whether a rule over more than one column is between each row and the next one."""
    places = _find_places(rows, 0)
    rules = [border.y for border in borders if sum(border.closes) > 1]
    return all(any(upper < rule < lower for rule in rules) for upper, lower in pairwise(places))


def _middle(segment: Segment) -> float:
    return (segment.top + segment.bottom) / 2


def _build_ruled_rows(grid: Grid, borders: Sequence[Border]) -> list[GridRow] | None:
    """Return the rows between rules; ``None`` if rules do not show which cells cover several rows."""
    placed = [(column, one) for cells in grid.lines for column, cell in cells.items() for one in cell]
    first = min(_middle(one) for _, one in placed)
    last = max(_middle(one) for _, one in placed)
    inner = [border for border in borders if first < border.y < last]
    outer = [
        next((border for border in reversed(borders) if border.y <= first), None),
        *inner,
        next((border for border in borders if border.y >= last), None),
    ]
    count = len(inner) + 1
    rows = [GridRow({}, 0.0, 0.0) for _ in range(count)]
    spanning = 0
    figures = {column for column, kind in enumerate(grid.kinds) if kind is ColumnKind.FIGURE}
    for column in range(len(grid.columns)):
        own = [one for place, one in placed if place == column]
        for start, end in _find_regions(inner, column):
            upper, lower = outer[start], outer[end]
            above, below = (upper.y if upper else -np.inf), (lower.y if lower else np.inf)
            inside = [one for one in own if above < _middle(one) <= below]
            heights = sorted({round(_middle(one), 1) for one in inside})
            if len(heights) > 1 and column in figures:
                return None
            if not inside:
                continue
            if end - start > 1:
                is_closed = upper and lower and upper.closes[column] and lower.closes[column]
                if not is_closed or len(heights) >= end - start:
                    return None
                spanning += 1
            for number in range(start, end):
                rows[number].cells[column] = inside
                if end - start > 1:
                    rows[number].shared.add(column)
    if spanning < 2 or any(not set(row.cells) - row.shared for row in rows):
        return None
    for row in rows:
        own = [one for column, cell in row.cells.items() if column not in row.shared for one in cell]
        row.top, row.bottom = min(one.top for one in own), max(one.bottom for one in own)
    return rows


def _find_regions(inner: Sequence[Border], column: int) -> list[Range]:
    """Return the ranges of rows that the cells of a column cover."""
    ends = [number for number, border in enumerate(inner, 1) if border.closes[column]]
    return list(pairwise([0, *ends, len(inner) + 1]))


def _find_places(rows: Sequence[GridRow], column: int) -> list[float]:
    """Return the middle of the first line of each row, without its cell in a column."""
    return [
        min((_middle(cell[0]) for number, cell in row.cells.items() if number != column), default=row.top)
        for row in rows
    ]
