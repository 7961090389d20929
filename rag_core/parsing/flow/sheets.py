"""Divide the cells of a sheet into titles and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from rag_core.parsing.flow.content import (
    LANDSCAPE,
    Block,
    Cell,
    PageStart,
    TableBlock,
    TextBlock,
    clean_text,
    read_cell,
)
from rag_core.parsing.flow.header_rows import count_header_rows
from rag_core.parsing.formats.base import UnpackedSizeError


class SheetCell(NamedTuple):
    """A cell of a sheet; ``is_figure`` is ``None`` if its text shows whether it is a figure."""

    column: int
    text: str
    is_figure: bool | None = None
    column_span: int = 1
    row_span: int = 1


# Maximum number of cells of a workbook.
MAX_CELLS = 4_000_000
Row = tuple[int, list[Cell]]


def lay_out_sheet(name: str, rows: Iterable[tuple[int, Sequence[SheetCell]]]) -> list[Block]:
    """Return the content of a sheet: its name, the texts above its tables, and its tables.

    Empty rows divide tables, unless the rows below have the same columns and no header.

    Parameters
    ----------
    name : str
        Empty for the only table of a file.
    rows : iterable of (int, sequence of SheetCell)
        Number and cells of the rows that are not empty, in order.
    """
    read = [(number, list(map(_read, cells))) for number, cells in rows]
    read = [(number, [cell for cell in cells if cell.text]) for number, cells in read]
    # A table is a list of rows until all rows are read, because rows below an empty row may be appended to it.
    parts: list[Block | list[Row]] = [PageStart(name, LANDSCAPE, is_sheet=True)]
    parts += [TextBlock(clean_text(name), level=0)] if name else []
    for group in _split(read):
        texts, body = _split_titles(group)
        if isinstance(parts[-1], list) and not texts and _goes_on(parts[-1], body):
            parts[-1] += body
            continue
        parts += [TextBlock(row[0].text, row=number) for number, row in texts]
        parts += [body] if body else []
    return [_build_table(part) if isinstance(part, list) else part for part in parts]


def add_cells(total: int, more: int) -> int:
    """Return the number of cells of a workbook that were read; raise `UnpackedSizeError` above ``MAX_CELLS``."""
    total += more
    if total > MAX_CELLS:
        raise UnpackedSizeError(f"has more than {MAX_CELLS:,} cells, which are not read")
    return total


def _read(cell: SheetCell) -> Cell:
    return read_cell(cell.text, cell.column, cell.column_span, cell.row_span, cell.is_figure)


def _split(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the rows between empty rows."""
    filled = [(number, cells) for number, cells in rows if cells]
    for _, group in groupby(enumerate(filled), key=lambda one: one[1][0] - one[0]):
        yield [row for _, row in group]


def _split_titles(group: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows at the top that have one cell each, and the rows of the table below them."""
    if all(len(cells) == 1 for _, cells in group) and len({cells[0].column for _, cells in group}) == 1:
        return group, []
    count = 0
    while count < len(group) - 1 and len(group[count][1]) == 1 and not group[count][1][0].column:
        count += 1
    # A row with one cell directly above a table with a header is its title; without one, it is a section of the table.
    below = _build_table(group[count:])
    return (group[:count], group[count:]) if count_header_rows(below) else ([], group)


def _goes_on(above: list[Row], below: list[Row]) -> bool:
    first, last = (
        {cell.column for _, cells in part for cell in cells if len(cells) > 1} for part in (above[-50:], below[:50])
    )
    return bool(last) and last <= first and not count_header_rows(_build_table(below))


def _build_table(rows: list[Row]) -> TableBlock:
    first = min(cell.column for _, cells in rows for cell in cells)
    moved = (
        [[replace(cell, column=cell.column - first) for cell in cells] for _, cells in rows]
        if first
        else [cells for _, cells in rows]
    )
    return TableBlock(moved, None, [number for number, _ in rows], first)
