"""Find the header rows and the sections of a table of a file without pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.parsing.flow.content import Cell, TableBlock
from rag_core.parsing.tables.finder import TOTAL
from rag_core.text.dates import YEAR

_MAX_HEADER_ROWS = 5
_YEAR = re.compile(rf"(?:FY ?)?{YEAR}[A-Za-z]{{0,2}}")
# Number of rows, with the first, in which years below a year of the first row are looked for.
_SAMPLE_ROWS = 20


def count_header_rows(block: TableBlock) -> int:
    """Return the number of header rows that the file states or, if it states none, that the cells show.

    - The file states a number: this number, but at most all rows except one.
    - The table has a single row or column: 0.
    - One of the first six rows has a figure other than a year: the number of rows above this row, without the rows
      directly above it that have only a label, which are sections. If no rows are left: 1 if the first row contains
      years and no other figures, and the columns of these years contain no years below; otherwise 0.
    - None of the first six rows has such a figure: 1 if the table has more than two rows and columns, and the first row
      has a different, short text without digits in each column; otherwise 0.
    """
    rows = block.rows
    if block.header_rows is not None:
        return min(block.header_rows, max(len(rows) - 1, 0))
    if len(rows) < 2 or block.width < 2:
        return 0
    count = next((number for number, row in enumerate(rows[: _MAX_HEADER_ROWS + 1]) if any(map(_is_body, row))), None)
    if count is None:
        # Two columns of texts are often names and values.
        return int(len(rows) > 2 and block.width > 2 and _names_columns(rows[0], block.width))
    # A row with a single cell in the first column is a section or a title, unless the cell covers several columns.
    while count and not _can_be_header(rows[count - 1]):
        count -= 1
    if count:
        return count
    # Years in the first row are headers if no year is below them.
    years = [cell for cell in rows[0] if _YEAR.fullmatch(cell.text)]
    columns = {cell.column for cell in years}
    below = [cell for row in rows[1:_SAMPLE_ROWS] for cell in row if cell.column in columns]
    is_above = years and all(_YEAR.fullmatch(cell.text) or not cell.is_figure for cell in rows[0])
    return int(bool(is_above and below) and not any(_YEAR.fullmatch(cell.text) for cell in below))


def _is_body(cell: Cell) -> bool:
    """Return whether a cell contains a figure other than a year, which a header row does not contain."""
    return cell.is_figure and not _YEAR.fullmatch(cell.text)


def _can_be_header(row: Sequence[Cell]) -> bool:
    return len(row) > 1 or any(cell.column_span > 1 for cell in row) or any(cell.column for cell in row)


def _names_columns(row: Sequence[Cell], width: int) -> bool:
    """Return whether a row has a different, short text without digits in each column."""
    texts = [cell.text for cell in row]
    is_short = all(len(text) <= 40 and not any(map(str.isdigit, text)) for text in texts)
    return is_short and len(set(texts)) == len(texts) == width


def find_sections(block: TableBlock, header_rows: int) -> list[tuple[str, ...]]:
    """Return the section of each row, as a tuple with the label of the nearest section row above.

    The tuple is empty for header rows, for section rows, and for rows without a section. A section ends with a row of
    totals.
    """
    sections: list[tuple[str, ...]] = [()] * len(block.rows)
    current: tuple[str, ...] = ()
    for number, row in enumerate(block.rows):
        if number < header_rows:
            continue
        if is_section(block, number):
            current = (row[0].text.rstrip(":"),)
            continue
        sections[number] = current
        if row and not row[0].column and TOTAL.match(row[0].text):
            current = ()
    return sections


def is_section(block: TableBlock, number: int) -> bool:
    """Return whether the row with an index has only a label, and the row below has several cells.

    A label is a cell in the first column that is not a figure.
    """
    upper, lower = (block.rows[at] if at < len(block.rows) else () for at in (number, number + 1))
    return len(upper) == 1 and not upper[0].column and not upper[0].is_figure and len(lower) > 1
