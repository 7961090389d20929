"""Find the cells that a question names with all its words: their row, their columns and their document."""

from __future__ import annotations

from rag_core.reading.cell_values import parse_quantity, remove_unit
from rag_core.reading.table_rows import find_joined_names, find_lemmas, find_names
from rag_core.text.dates import find_periods, match_period
from rag_core.types.tables import Table, TableCell, TableRow


def find_named_cells(
    question: str, table: Table, row: TableRow, document: str, heading: str, *, with_caption: bool
) -> list[TableCell]:
    """Return the cells with figures that a question asks for, one for each period that it names.

    The list is empty unless the question contains all words of the label of the row and of the headers of the cells,
    and the name of the document, its sections, its headers and, with ``with_caption``, its caption contain all others.
    The heading above the table explains names only.

    Parameters
    ----------
    question : str
    table : Table
    row : TableRow
    document : str
        The name and the title of the document.
    heading : str
    with_caption : bool
    """
    asked, label = find_names(question), find_names(remove_unit(row.label))
    if not label or not label <= asked:
        return []
    headers = {
        cell.column: remove_unit(table.column_header(cell.column))
        for cell in row.cells
        if cell.column and parse_quantity(cell.text) is not None
    }
    company = find_lemmas(document) | find_joined_names(question, f"{document} {heading}")
    # "Blizzard" in "Activision Blizzard" names the company, not the column of a segment.
    named = {column for column, header in headers.items() if find_names(header) <= asked - company}
    captions = table.caption if with_caption else ()
    known = find_lemmas(" ".join([*captions, *row.section, *(headers[one] for one in named)]))
    if asked - label - known - company:
        return []
    dated = {column: find_periods(headers[column]) for column in named}
    periods = [one for found in dated.values() for one in found]
    wanted = [match_period(one, periods) for one in find_periods(question)]
    columns = [[one for one in named if dated[one] and all(part in fit for part in dated[one])] for fit in wanted]
    if not wanted:
        columns = [sorted(named)]
    if any(len(fitting) != 1 for fitting in columns):
        return []
    cells = {cell.column: cell for cell in row.cells}
    return [cells[column] for (column,) in columns]
