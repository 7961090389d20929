"""Distinguish tables from other text in columns: prose, lists, contents and references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from rag_core.parsing.tables.grid import Cells, ColumnKind, Grid, GridRow
from rag_core.parsing.tables.segments import Segment

_MARKER = re.compile(r"[•◦‣▪●○■□✓☐☒–—*-]|[(\[]?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)\]]*|§.*|\d+(?:\.\d+)+\.?")
# A list of labels and values has at least this many pairs, no label of more words, and a median value of at most this
# many words.
_MIN_PAIRS = 3
_MAX_LABEL_WORDS = 7
_MAX_VALUE_WORDS = 14


def is_table(grid: Grid) -> bool:
    """Return whether a grid is a table; false in doubt."""
    rows = [row for row in grid.rows if len(row.cells) > 1]
    count = len(grid.columns)
    if len(rows) < 2 or count < 2 or len(rows) < 0.34 * len(grid.rows):
        return False
    if not grid.is_ruled and sum(bool(row.label) for row in rows) < 0.5 * len(rows):
        return False
    if not grid.head and grid.kinds[0] is not ColumnKind.TEXT:
        return False  # figures without labels and headers, such as those along the axes of a chart
    if _is_list(grid, rows):
        return False
    filled = sum(len(row.cells) for row in rows) / (len(rows) * count)
    figures = [kind for kind in grid.kinds[1:] if kind is not ColumnKind.TEXT]
    if figures:
        return filled > (0.35 if grid.head else 0.5) and (len(rows) > 2 or len(figures) > 1 or bool(grid.head))
    if count == 2:
        return _is_label_value_list(grid, rows)
    return _is_text_table(grid, rows, filled)


def _count_words(cell: Sequence[Segment]) -> int:
    return sum(len(segment.words) for segment in cell)


def _is_list(grid: Grid, rows: Sequence[GridRow]) -> bool:
    """Return whether most labels are list markers."""
    if len(grid.columns) > 2 and median(len(row.cells) for row in rows) > 2:
        return False
    labels = [row.label[0].text for row in rows if row.label]
    return bool(labels) and sum(bool(_MARKER.fullmatch(label)) for label in labels) > 0.5 * len(labels)


def _is_label_value_list(grid: Grid, rows: Sequence[GridRow]) -> bool:
    """Return whether the columns contain short labels and their values, aligned at the left."""
    if len(rows) < _MIN_PAIRS or len(rows) < 0.6 * len(grid.rows):
        return False
    labels, values = [row.label for row in rows if row.label], [row.cells[1] for row in rows if 1 in row.cells]
    if max(map(_count_words, labels), default=99) > _MAX_LABEL_WORDS:
        return False
    if median(map(_count_words, values)) > _MAX_VALUE_WORDS:
        return False
    return _are_aligned([cell[0] for cell in labels]) and _are_aligned([cell[0] for cell in values])


def _is_text_table(grid: Grid, rows: Sequence[GridRow], filled: float) -> bool:
    """Return whether the columns contain short, aligned texts; ``filled`` is the share of cells that are not empty."""
    if len(rows) < 3 or filled < 0.5:
        return False
    cells: list[Cells] = [row.cells for row in rows]
    aligned = sum(
        _are_aligned([row[column][0] for row in cells if column in row]) for column in range(len(grid.columns))
    )
    words = [_count_words(cell) for row in cells for cell in row.values()]
    return aligned >= 0.7 * len(grid.columns) and median(words) <= 12


def _are_aligned(segments: Sequence[Segment]) -> bool:
    """Return whether most segments begin, end or are centred at the same place."""
    if not segments:
        return False
    tolerance = 0.35 * segments[0].size
    for places in (
        [segment.x0 for segment in segments],
        [segment.x1 for segment in segments],
        [segment.middle for segment in segments],
    ):
        usual = median(places)
        if sum(abs(place - usual) < tolerance for place in places) >= 0.7 * len(places):
            return True
    return False
