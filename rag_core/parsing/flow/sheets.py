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

# Maximum number of cells of a workbook.
MAX_CELLS = 4_000_000
# The number and the cells of a row.
Row = tuple[int, list[Cell]]
# Number of rows of a table that show which columns it has.
_SAMPLE_ROWS = 50


class SheetCell(NamedTuple):
    """A cell of a sheet; ``is_figure`` is ``None`` if the file does not state whether it is a figure."""

    column: int
    text: str
    is_figure: bool | None = None
    column_span: int = 1
    row_span: int = 1


def lay_out_sheet(name: str, rows: Iterable[tuple[int, Sequence[SheetCell]]]) -> list[Block]:
    """Return the content of a sheet: its name, the texts above its tables, and its tables.

    Empty rows divide tables. But rows below an empty row continue the table above if they have no titles, no header and
    no further columns.

    Parameters
    ----------
    name : str
        Name of the sheet; empty for the only table of a file.
    rows : iterable of (int, sequence of SheetCell)
        Number and cells of each row, in order. Empty rows may be left out.
    """
    read = [(number, [cell for cell in map(_read_sheet_cell, cells) if cell.text]) for number, cells in rows]
    # A table is a list of rows until all rows are read, because further rows may be appended.
    parts: list[Block | list[Row]] = [PageStart(name, LANDSCAPE, is_sheet=True)]
    parts += [TextBlock(clean_text(name), level=0)] if name else []
    for group in _split_at_empty_rows(read):
        titles, body = _split_titles(group)
        if isinstance(parts[-1], list) and not titles and _continues(parts[-1], body):
            parts[-1] += body
            continue
        parts += [TextBlock(row[0].text, row=number) for number, row in titles]
        parts += [body] if body else []
    return [_build_table(part) if isinstance(part, list) else part for part in parts]


def add_cells(total: int, more: int) -> int:
    """Return the sum of two numbers of cells; raise `UnpackedSizeError` if it is above ``MAX_CELLS``."""
    total += more
    if total > MAX_CELLS:
        raise UnpackedSizeError(f"has more than {MAX_CELLS:,} cells, which are not read")
    return total


def _read_sheet_cell(cell: SheetCell) -> Cell:
    return read_cell(cell.text, cell.column, cell.column_span, cell.row_span, cell.is_figure)


def _split_at_empty_rows(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield each group of rows without empty rows between them."""
    filled = [(number, cells) for number, cells in rows if cells]
    # The difference of the row number and the index changes at an empty row.
    for _, group in groupby(enumerate(filled), key=lambda pair: pair[1][0] - pair[0]):
        yield [row for _, row in group]


def _split_titles(group: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the titles at the top of a group, which are rows with one cell, and the rows of the table below.

    If each row has a single cell, all in the same column, all rows are titles. If the rows below have no header, there
    are no titles.
    """
    if all(len(cells) == 1 for _, cells in group) and len({cells[0].column for _, cells in group}) == 1:
        return group, []
    count = 0
    while count < len(group) - 1 and len(group[count][1]) == 1 and not group[count][1][0].column:
        count += 1
    # If the rows below have no header, a row with one cell above them is a section of the table.
    below = _build_table(group[count:])
    return (group[:count], group[count:]) if count_header_rows(below) else ([], group)


def _continues(above: list[Row], below: list[Row]) -> bool:
    """Return whether rows continue the table above: they have no further columns and no header."""
    columns, columns_below = (
        {cell.column for _, cells in part for cell in cells if len(cells) > 1}
        for part in (above[-_SAMPLE_ROWS:], below[:_SAMPLE_ROWS])
    )
    is_within = bool(columns_below) and columns_below <= columns
    return is_within and not count_header_rows(_build_table(below))


def _build_table(rows: list[Row]) -> TableBlock:
    first = min(cell.column for _, cells in rows for cell in cells)
    cells = [cells for _, cells in rows]
    if first:
        cells = [[replace(cell, column=cell.column - first) for cell in row] for row in cells]
    return TableBlock(cells, None, [number for number, _ in rows], first)
