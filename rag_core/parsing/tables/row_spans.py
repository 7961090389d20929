"""Find the rows that a cell covers, from the rules between cells, and repeat the cell in each of these rows.

In doubt, a blank cell stays blank.
"""

from __future__ import annotations

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

# Maximum height and minimum length of a horizontal rule in points.
_MAX_HEIGHT = 3.0
_MIN_LENGTH = 4.0
# Rules that are nearer to each other than this share of the height of the characters count as one rule.
_SAME_RULE = 0.45
# A rule that is this many points longer than a text is the border of a cell. Otherwise it may underline the text.
_LONGER = 1.0


class HorizontalRules:
    """The horizontal rules of a page, which are read when a table first needs them.

    Parameters
    ----------
    find_rules : callable
        Returns the boxes of the rules of the page in the coordinates of the text lines, shape (n, 4).
    """

    def __init__(self, find_rules: Callable[[], FloatArray]) -> None:
        self._find_rules = find_rules

    @cached_property
    def _rects(self) -> FloatArray:
        rects = self._find_rules()
        rects = rects[(rects[:, 3] - rects[:, 1] < _MAX_HEIGHT) & (rects[:, 2] - rects[:, 0] > _MIN_LENGTH)]
        return rects[np.argsort(rects[:, 1])]

    def find_borders(self, columns: Sequence[Column], top: float, bottom: float, size: float) -> list[Border]:
        """Return the borders of cells between the heights ``top`` and ``bottom``, from the top down.

        Rules that end no cell are left out. ``size`` is the height of the characters.
        """
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
    """Rules at one height; ``closes`` says for each column whether the rules end its cells."""

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
    """Return a grid in which each row has all cells that cover it; rows that share a cell have the same list object.

    The rows stay the same if the rules do not show which cells cover several rows.
    """
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
    middles = [min((_middle(cell[0]) for column, cell in row.cells.items() if column), default=row.top) for row in rows]
    rules = [border.y for border in borders if sum(border.closes) > 1]
    return all(any(upper < rule < lower for rule in rules) for upper, lower in pairwise(middles))


def _middle(segment: Segment) -> float:
    return (segment.top + segment.bottom) / 2


def _build_ruled_rows(grid: Grid, borders: Sequence[Border]) -> list[GridRow] | None:
    """Return the rows between rules; ``None`` if the rules do not show which cells cover several rows."""
    middles = [_middle(segment) for cells in grid.lines for cell in cells.values() for segment in cell]
    first, last = min(middles), max(middles)
    inner = [border for border in borders if first < border.y < last]
    edges = [
        next((border for border in reversed(borders) if border.y <= first), None),
        *inner,
        next((border for border in borders if border.y >= last), None),
    ]
    rows = [GridRow({}, 0.0, 0.0) for _ in range(len(inner) + 1)]
    shared_count = 0
    for column, kind in enumerate(grid.kinds):
        segments = [segment for cells in grid.lines for segment in cells.get(column, ())]
        for covered in _find_covered_rows(inner, column):
            upper, lower = edges[covered.start], edges[covered.stop]
            above, below = (upper.y if upper else -np.inf), (lower.y if lower else np.inf)
            cell = [segment for segment in segments if above < _middle(segment) <= below]
            if not cell:
                continue
            line_count = len({round(_middle(segment), 1) for segment in cell})
            if line_count > 1 and kind is ColumnKind.FIGURE:
                return None
            if len(covered) > 1:
                is_closed = upper and lower and upper.closes[column] and lower.closes[column]
                if not is_closed or line_count >= len(covered):
                    return None
                shared_count += 1
            for number in covered:
                rows[number].cells[column] = cell
                if len(covered) > 1:
                    rows[number].shared.add(column)
    if shared_count < 2 or any(not set(row.cells) - row.shared for row in rows):
        return None
    for row in rows:
        own = [segment for column, cell in row.cells.items() if column not in row.shared for segment in cell]
        row.top, row.bottom = min(segment.top for segment in own), max(segment.bottom for segment in own)
    return rows


def _find_covered_rows(inner: Sequence[Border], column: int) -> list[range]:
    """Return the rows that each cell of a column covers; ``inner`` contains the borders between the rows."""
    ends = [number for number, border in enumerate(inner, 1) if border.closes[column]]
    return [range(start, end) for start, end in pairwise([0, *ends, len(inner) + 1])]
