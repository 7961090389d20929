"""Choose the cell of a row by the words and the periods of a question, and name the row."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date

from rag_core.reading.cell_values import parse_quantity, remove_unit
from rag_core.reading.table_rows import find_lemmas, find_lemmas_without_periods, find_numbered_words
from rag_core.text.dates import Period, find_periods, match_period
from rag_core.text.words import tokenize
from rag_core.types.tables import Table, TableCell, TableRow

# A running number, such as "9" and "12.".
_NUMBER = re.compile(r"\d{1,3}[.)]?")


def choose_cell(
    question: str, table: Table, row: TableRow, read: TableCell, ignored: Collection[str] = ()
) -> TableCell | None:
    """Return the cell of a row whose header fits the question best.

    The result is ``None`` if several cells fit equally well and the cell read is not among them, or if the question
    names the periods of several columns. If the question names no period, the cell of the latest year is returned.

    Only cells like the one that the model read are compared: figures with figures, and texts with texts. A cell whose
    text is in the question cannot be the answer. If the columns are periods, the header must have the one that the
    question names. The lemmas ``ignored``, such as those of the document's name, name no column.
    """
    asked, numbered = find_lemmas(question).difference(ignored), find_numbered_words(question)
    is_figure = parse_quantity(read.text) is not None
    cells = [
        cell
        for cell in row.cells
        if cell is read
        or (cell.column and (parse_quantity(cell.text) is not None) == is_figure and not find_lemmas(cell.text) & asked)
    ]
    headers = {cell.column: remove_unit(table.column_header(cell.column)) for cell in cells}
    dated = {column: find_periods(header) for column, header in headers.items()}
    periods = [one for found in dated.values() for one in found]
    wanted = [match_period(one, periods) for one in find_periods(question)]
    # Without a year in the headers, the period may be in the label of the row or in the caption.
    names_columns = bool(dated[read.column]) and bool(wanted)

    def fit(cell: TableCell) -> int:
        header = headers[cell.column]
        own = find_numbered_words(header)
        other = {word for word, _ in own - numbered} & {word for word, _ in numbered}
        return len(find_lemmas_without_periods(header) & asked) + len(own & numbered) - len(other)

    if names_columns:
        cells = [
            cell
            for cell in cells
            if dated[cell.column]
            and all(any(one in fitting for fitting in wanted) for one in dated[cell.column])
            and all(any(one in dated[cell.column] for one in fitting) for fitting in wanted if fitting)
        ]
    if not cells:
        return None
    most = max(map(fit, cells))
    best = [cell for cell in cells if fit(cell) == most]
    if read in best:
        alike = [
            cell
            for cell in best
            if find_lemmas_without_periods(headers[cell.column]) == find_lemmas_without_periods(headers[read.column])
        ]
        best = _select_by_function_words(question, {cell: headers[cell.column] for cell in alike})
        if not wanted:
            best = _select_latest({cell: dated[cell.column] for cell in best}) or best
    return read if read in best else best[0] if len(best) == 1 else None


def _select_latest(periods: Mapping[TableCell, Sequence[Period]]) -> list[TableCell]:
    """Return the cells of the latest year up to the present one, given the periods of the cells."""
    present = date.today().year
    years = {
        cell: max((one.year for one in found if one.year <= present), default=0) for cell, found in periods.items()
    }
    latest = max(years.values(), default=0)
    return [cell for cell, year in years.items() if latest and year == latest]


def _select_by_function_words(question: str, headers: Mapping[TableCell, str]) -> list[TableCell]:
    """Return the cells whose header has the most words of the question: of "For" and "Against", the one it contains."""
    asked = {word.folded for word in tokenize(question)}
    shared = {cell: sum(word.folded in asked for word in tokenize(header)) for cell, header in headers.items()}
    return [cell for cell in shared if shared[cell] == max(shared.values())]


def name_row(table: Table, row: TableRow, cell: TableCell) -> str:
    """Return the label of a row, or its first text beside the cell if the label is only a running number."""
    if _NUMBER.fullmatch(row.label):
        texts = (one.text for one in row.cells if one.column and one is not cell)
        text = next((one for one in texts if re.search(r"[^\W\d_]{2}", one) and not find_periods(one)), "")
        return text or table.row_label(row)
    return table.row_label(row)
