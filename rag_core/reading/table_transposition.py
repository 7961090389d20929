"""Turn one row of a table into a table of its own, with a row for each column."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.reading.cell_values import remove_unit
from rag_core.reading.table_questions import Operation, TableQuestion, find_measures
from rag_core.reading.table_rows import (
    PlacedRow,
    TableRows,
    find_lemmas,
    find_lemmas_without_periods,
    find_numbered_words,
)
from rag_core.text.dates import match_period
from rag_core.text.words import find_lemma
from rag_core.types.tables import Table, TableCell, TableRow

# What a question calls periods, and the kind of these periods; a period of any kind is a "period".
_KINDS = {
    find_lemma(word): kind
    for word, kind in {"quarter": "q", "half": "h", "month": "m", "year": "", "period": None}.items()
}


def transpose_row(question: TableQuestion, rows: TableRows) -> TableRows | None:
    """Return the cells of the row that a question names as rows, if the question compares the columns of the table.

    In "In which quarter was the revenue of Valves highest?", "quarter" means the columns and "Valves" the row. Return
    ``None`` if the question compares nothing, or if row or columns are not clear.
    """
    compares = question.operation in (Operation.GREATEST, Operation.LEAST) or question.condition is not None
    row = _find_row(question, rows) if compares and question.nouns else None
    columns = _find_columns(question, rows, row) if row is not None else []
    if row is None or len(columns) < 2:
        return None
    noun, label = question.nouns[0], row.row.cells[0]
    header = TableRow(
        (TableCell(noun.text.capitalize(), (), 0, is_header=True), TableCell(label.text, (), 1, is_header=True))
    )
    body = [
        TableRow((TableCell(rows.header(column), label.spans, 0), TableCell(cell.text, cell.spans, 1)))
        for column in columns
        if (cell := row.row.cell(column)) is not None
    ]
    table = Table((header, *body), 1, row.table.columns[:2], row.table.caption, row.table.unit)
    periods = " ".join(question.text[start:end] for one in question.periods for start, end in one.spans)
    context = " ".join([rows.source, *row.row.section, periods])
    return TableRows([(row.page_index, table)], context, question.text, counted="columns")


def _find_row(question: TableQuestion, rows: TableRows) -> PlacedRow | None:
    """Return the row whose sections and label have the most words, all of them in the question."""
    asked, numbered = find_lemmas(question.text) | find_measures(question.adjective), find_numbered_words(question.text)
    fitting: dict[PlacedRow, int] = {}
    for row in rows.with_totals:
        label = remove_unit(row.table.row_label(row.row)) if row.row.label else ""
        words = find_lemmas_without_periods(label)
        periods = [match_period(one, question.periods) for one in rows.find_periods(label)]
        if words and words <= asked and find_numbered_words(label) <= numbered and all(periods):
            fitting[row] = len(words)
    best = [row for row, length in fitting.items() if length == max(fitting.values())]
    return best[0] if len(best) == 1 else None


def _find_columns(question: TableQuestion, rows: TableRows, row: PlacedRow) -> Sequence[int]:
    """Return the columns that the question compares; empty if its noun does not mean them."""
    noun = find_lemma(question.nouns[0].folded)
    columns = [column for column in rows.columns if column and rows.header(column) and row.text(column)]
    periods = {column: rows.header_periods(column) for column in columns}
    if noun in _KINDS:
        kind = _KINDS[noun]
        fitting = [
            column
            for column in columns
            if len(periods[column]) == 1
            and kind in (None, periods[column][0].kind)
            and all(asked.contains(periods[column][0]) for asked in question.periods)
        ]
        found = [periods[column][0] for column in fitting]
        return fitting if len(set(found)) == len(found) and len({one.kind for one in found}) == 1 else []
    # A question with the header of a column compares rows.
    asked = find_lemmas(question.text) - {noun}
    names_column = any(rows.header_lemmas(column) & asked for column in rows.columns)
    return [] if names_column or any(periods.values()) or noun not in rows.context else columns
