"""Cells over several rows: which rows they cover, so that each of these rows carries their text.

Drawn rules decide if there are any between the rows. Otherwise the places of the labels and the other cells of their
rows must agree; in doubt, a blank cell stays blank.
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
from rag_core.parsing.tables.grid import Cells, ColumnKind, Grid, GridRow
from rag_core.parsing.tables.segments import Segment
from rag_core.types.arrays import FloatArray

TOTAL = re.compile(r"\W*(?:sub)?totals?\b", re.IGNORECASE)
# Greatest height and least length of a horizontal rule in points.
_BORDER_THICKNESS, _SHORTEST = 3.0, 4.0
# Rules whose distance is below this share of the height of the characters are one, as the borders of two cells.
_SAME_RULE = 0.45
# A rule is a cell border, and not the underline of a text, if it is this many points longer than the text.
_LONGER = 1.0
# Share of the rows of groups whose first cell beside the label another group has too.
_REPEATED = 0.6
# Distance of a label from the middle of its rows, as a share of the distance between rows.
_OFF_CENTRE = 0.3

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
    rows = _build_ruled_rows(grid, borders) or _carry_labels(grid, borders)
    return replace(grid, rows=rows or grid.rows, is_ruled=_are_ruled(rows or grid.rows, borders))


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


def _carry_labels(grid: Grid, borders: Sequence[Border]) -> list[GridRow] | None:
    """Return the rows with the labels of the groups of rows; ``None`` if the table has no such groups."""
    rows = [row for row in grid.rows if not row.is_label_only]
    loose = [row for row in grid.rows if row.is_label_only]
    if len(rows) < 4:
        return None
    count = next((number for number, kind in enumerate(grid.kinds) if kind is ColumnKind.FIGURE), len(grid.columns))
    columns = list(range(min(count, len(grid.columns) - 1)))
    filled = [GridRow(dict(row.cells), row.top, row.bottom) for row in rows]
    accepted = False
    for column in reversed(columns):
        if all(column in row.cells for row in rows):
            continue
        groups = _find_groups(rows, loose if column == 0 else [], grid.kinds, column, borders, nested=accepted)
        if groups is None:
            accepted = False
            continue
        accepted = True
        for start, end, cell in groups:
            numbers = [one for one in range(start, end) if column in rows[one].cells or not _is_total(rows[one])]
            for number in numbers:
                filled[number].cells[column] = cell
                if len(numbers) > 1:
                    filled[number].shared.add(column)
    is_changed = any(row.shared for row in filled)
    return filled if is_changed and (not loose or accepted) else None


def _is_total(row: GridRow) -> bool:
    return any(TOTAL.match(cell[0].text) for cell in row.cells.values())


Group = tuple[int, int, list[Segment]]


def _find_groups(
    rows: Sequence[GridRow],
    loose: Sequence[GridRow],
    kinds: Sequence[ColumnKind],
    column: int,
    borders: Sequence[Border],
    *,
    nested: bool,
) -> list[Group] | None:
    """Return the groups of rows with one label each: first row, end and label.

    Return ``None`` unless exactly one place of the label, at the top, at the bottom or in the middle, fits.
    """
    readings = [_group_at_middle(rows, loose, column)]
    if not loose:
        readings += [_group_at_top(rows, column), _group_at_bottom(rows, column)]
    found = [one for one in readings if one and _fits(rows, kinds, one, column, borders, nested=nested)]
    return found[0] if len(found) == 1 else None


def _group_at_top(rows: Sequence[GridRow], column: int) -> list[Group] | None:
    starts = [number for number, row in enumerate(rows) if column in row.cells]
    if not starts:
        return None
    ends = [*starts[1:], len(rows)]
    return [(start, end, rows[start].cells[column]) for start, end in zip(starts, ends, strict=True)]


def _group_at_bottom(rows: Sequence[GridRow], column: int) -> list[Group] | None:
    lasts = [number for number, row in enumerate(rows) if column in row.cells]
    if not lasts or lasts[-1] != len(rows) - 1:
        return None
    starts = [0, *(number + 1 for number in lasts[:-1])]
    return [(start, last + 1, rows[last].cells[column]) for start, last in zip(starts, lasts, strict=True)]


def _group_at_middle(rows: Sequence[GridRow], loose: Sequence[GridRow], column: int) -> list[Group] | None:
    places = _find_places(rows, column)
    pitch = median(lower - upper for upper, lower in pairwise(places))
    cells = [row.cells[column] for row in [*rows, *loose] if column in row.cells]
    labels = [((cell[0].top + cell[-1].bottom) / 2, cell) for cell in cells]
    groups: list[Group] = []
    start = 0
    for top, cell in sorted(labels, key=lambda one: one[0]):
        end = next(
            (
                number + 1
                for number in range(start, len(rows))
                if abs((places[start] + places[number]) / 2 - top) < _OFF_CENTRE * pitch
            ),
            None,
        )
        if end is None:
            return None
        groups.append((start, end, cell))
        start = end
    return groups if start == len(rows) else None


def _fits(
    rows: Sequence[GridRow],
    kinds: Sequence[ColumnKind],
    groups: Sequence[Group],
    column: int,
    borders: Sequence[Border],
    *,
    nested: bool,
) -> bool:
    """Return whether rules or repeated cells confirm the groups, and no rule or blank cell contradicts them."""
    several = [(start, end) for start, end, *_ in groups if end - start > 1]
    # Labels at the top that leave out the first rows continue a page, and may be blank cells.
    if len(several) < 2 or groups[0][0]:
        return False
    usual = [
        number
        for number in range(column + 1, max(max(row.cells) for row in rows) + 1)
        if sum(number in row.cells for row in rows) > 0.8 * len(rows)
    ]
    blank = [rows[number] for start, end in several for number in range(start, end) if column not in rows[number].cells]
    if not usual or any(number not in row.cells for row in blank for number in usual):
        return False
    edges = {start for start, *_ in groups} - {0}
    places = _find_places(rows, column)
    closed = {
        number
        for number in range(1, len(rows))
        for border in borders
        if border.closes[column] and places[number - 1] < border.y < places[number]
    }
    if closed:
        return closed == edges
    if nested and all(column + 1 in rows[start].cells for start in edges):
        return True
    if kinds[usual[0]] is ColumnKind.FIGURE:
        return False
    return _repeats(rows, groups, usual[0])


def _find_places(rows: Sequence[GridRow], column: int) -> list[float]:
    """Return the middle of the first line of each row, without its cell in a column."""
    return [
        min((_middle(cell[0]) for number, cell in row.cells.items() if number != column), default=row.top)
        for row in rows
    ]


def _repeats(rows: Sequence[GridRow], groups: Sequence[Group], column: int) -> bool:
    """Return whether the cells of a column differ within each group and are those of other groups."""
    parts: list[list[str]] = []
    for start, end, *_ in groups:
        cells: list[Cells] = [row.cells for row in rows[start:end]]
        parts.append(["".join(one.text for one in cell[column]).casefold() for cell in cells if column in cell])
    if any(len(set(part)) < len(part) for part in parts):
        return False
    texts = [text for part in parts if len(part) > 1 for text in part]
    shared = sum(sum(text in part for part in parts) > 1 for text in texts)
    return shared >= _REPEATED * len(texts)
