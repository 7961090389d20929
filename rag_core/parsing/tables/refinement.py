"""Refine bands: divide them at repeated headers, and join columns that are one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rag_core.parsing.tables.bands import Band, Column, find_bands
from rag_core.parsing.tables.grid import ColumnKind, assign_cells, find_kinds, is_body_cell
from rag_core.parsing.tables.segments import PageWords, TextLine

# A column with at most so many cells, or cells in this share of the lines, may be a part of the column beside it.
_FEW, _SPARSE = 2, 0.3
# Largest gap between two such columns, in heights of the characters.
_FARTHEST = 3.0
# Fewest lines of a table above the header of the next table, if a band of lines contains both.
_MIN_LINES = 3


def refine_band(words: PageWords, band: Band) -> list[Band]:
    """Return the bands that a band consists of, from the top down."""
    return [_join_sparse_columns(part) for part in _split_at_headers(words, band)]


def _split_at_headers(words: PageWords, band: Band) -> list[Band]:
    """Divide a band before each line that has headers, but no figures, in the columns of figures above it."""
    if not any(map(_may_be_header, band.lines[_MIN_LINES:-1])):
        return [band]
    cells = [assign_cells(words, line, band.columns) for line in band.lines]
    kinds = find_kinds(cells, len(band.columns))
    figures = [number for number, kind in enumerate(kinds) if number and kind is not ColumnKind.TEXT]
    if len(figures) < 2:
        return [band]
    has_figures = [
        any(is_body_cell(row[column][0], kinds[column]) for column in figures if column in row) for row in cells
    ]
    for number in range(_MIN_LINES, len(cells) - 1):
        headers = [row for row in figures if row in cells[number]]
        if len(headers) < 2 or has_figures[number] or sum(has_figures[:number]) < 2 or not any(has_figures[number:]):
            continue
        start = number
        while start > 1 and not has_figures[start - 1] and 0 not in cells[start - 1]:
            start -= 1
        first = find_bands(words, band.lines[:start])
        second = find_bands(words, band.lines[start:])
        if len(first) != 1 or not second:
            return [band]
        first[0] = replace(first[0], head=[*band.head, *first[0].head], above=band.above)
        return [*first, *(part for one in second for part in _split_at_headers(words, replace(one, above=[])))]
    return [band]


def _may_be_header(line: TextLine) -> bool:
    return len(line.segments) > 1 and not any(
        segment.is_figure and not segment.is_period for segment in line.segments[1:]
    )


def _join_sparse_columns(band: Band) -> Band:
    """Join each column of few cells to a column beside it if no line has a cell in each of them."""
    columns = list(band.columns)
    number = 1
    while len(columns) > 2 and number < len(columns):
        column = columns[number]
        beside = [other for place in (number - 1, number + 1) if 0 < place < len(columns) and (other := columns[place])]
        beside = [other for other in beside if _gap(column, other) < _FARTHEST * band.lines[0].size]
        count = sum(any(map(column.overlaps, line.segments)) for line in band.lines)
        joined = next(
            (other for other in sorted(beside, key=partial(_gap, column)) if _is_one(band, column, other)), None
        )
        if joined is None or count > max(_FEW, _SPARSE * len(band.lines)):
            number += 1
            continue
        first = min(number, columns.index(joined))
        columns[first : first + 2] = [Column(min(column.x0, joined.x0), max(column.x1, joined.x1))]
    return replace(band, columns=columns)


def _gap(one: Column, other: Column) -> float:
    return max(one.x0, other.x0) - min(one.x1, other.x1)


def _is_one(band: Band, one: Column, other: Column) -> bool:
    """Return whether no line has a segment in one column and another segment in the other."""
    for line in (*band.head, *band.lines):
        in_one = [segment for segment in line.segments if one.overlaps(segment)]
        in_other = [segment for segment in line.segments if other.overlaps(segment)]
        if in_one and in_other and in_one != in_other:
            return False
    return True
