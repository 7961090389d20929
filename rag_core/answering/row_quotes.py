"""Write answers that consist of the value of a table cell, or of the values of a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.answering.answer_text import cite_span, open_with_value, write_pieces
from rag_core.answering.page_reading import PageReader
from rag_core.answering.statement_answers import SHORT_PROBABILITY
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.answer_types import answers_kind
from rag_core.reading.cell_choice import choose_cell, name_row
from rag_core.reading.cell_values import names_cell, names_row, parse_quantity, remove_unit, state_value
from rag_core.reading.short_answers import names_measure
from rag_core.reading.table_questions import parse_table_question
from rag_core.reading.table_rows import find_joined_names, find_lemmas, find_lemmas_without_periods
from rag_core.reading.tick_boxes import contains_box
from rag_core.text.dates import find_periods
from rag_core.text.languages import detect_language
from rag_core.text.names import lacks_name
from rag_core.text.words import tokenize
from rag_core.types import Citation, Passage, Table
from rag_core.types.tables import TableCell, TableRow
from rag_core.verification.verifier import VerifiedAnswer

# A question with two parts, such as "What does E7 mean, and what should I do?".
_ASKS_TWICE = re.compile(r"\band (?:what|how|when|where|who|which|why|by|with)\b", re.IGNORECASE)
# Number of content words from which the label of a row is a statement.
LONG_LABEL = 8
_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
# A cell with several values, such as "NBR and FKM".
_LIST = re.compile(r"[,;]\s|\s(?:and|&)\s")


def is_row_named(question: str, answer: FoundAnswer) -> bool:
    """Return whether the answer is in the only row of its table whose label the question contains."""
    table, row = answer.excerpt.table, answer.excerpt.row
    return table is not None and row is not None and names_row(question, table, row)


def quote_row(
    question: str, answer: FoundAnswer, passages: Sequence[Passage], reader: PageReader
) -> VerifiedAnswer | None:
    """Return the value in a table row with its unit and its labels.

    Return ``None`` if the answer is in no row, or if it is not probable enough and the question does not contain the
    label and the header of its cell. If the question is about another column of the row, its value is returned; if it
    asks for another kind of value, for several rows or for a period that no column has, the result is ``None`` too. It
    is also ``None`` if the document has another value with the same labels that fits the question as well.
    """
    excerpt, read = answer.excerpt, answer.place.cell
    if excerpt.row is None or excerpt.table is None or read is None or contains_box(excerpt.text):
        return None
    # The reading model and the search for names know English only.
    is_english = not detect_language(question)
    is_read = is_english and answer.probability >= SHORT_PROBABILITY
    if not is_read and not names_cell(question, excerpt.table, excerpt.row, read):
        return None
    if is_english and lacks_name(question, excerpt.text, answer.passage.full_heading):
        return None
    citation = cite_span(answer.passage.page_key, excerpt.start, excerpt.end, passages)
    if citation is None:
        return None
    if _ASKS_TWICE.search(question):
        return _quote_cells(excerpt.table, excerpt.row, citation)
    company = find_joined_names(question, answer.passage.document)
    cell = choose_cell(question, excerpt.table, excerpt.row, read, company)
    if (
        cell is None
        or _is_about_other(question, excerpt.row.label)
        or _asks_for_more(question, excerpt.table, excerpt.row, cell)
    ):
        return None
    value = state_value(excerpt.table, excerpt.row, cell)
    if not answers_kind(question, value) or not names_measure(question, excerpt.text):
        return None
    if _is_ambiguous(question, answer.passage.version_id, excerpt.table, excerpt.row, cell, reader):
        return None
    labels = [name_row(excerpt.table, excerpt.row, cell), excerpt.table.column_header(cell.column)]
    statement = open_with_value(value, [label for label in labels if label and label != cell.text])
    return write_pieces([(statement, [citation])], value)


def _is_about_other(question: str, label: str) -> bool:
    """Return whether the question has few words of a long label, or counts things and has none of a name."""
    words = [word for word in tokenize(label) if word.content]
    shared = find_lemmas(label) & find_lemmas(question)
    names = [word for word in words if word.text[0].isupper()]
    is_name = len(names) > 1 and len(names) == len(words)
    return (is_name and not shared and _HOW_MANY.search(question) is not None) or (
        len(words) >= LONG_LABEL and 2 * len(shared) < len(words)
    )


def _is_ambiguous(
    question: str, version_id: str, table: Table, row: TableRow, cell: TableCell, reader: PageReader
) -> bool:
    """Return whether a document has another number with the same row label and the same column, for another thing.

    A row whose section and caption have fewer words of the question is none of those asked for.
    """
    asked = find_lemmas_without_periods(question) - find_lemmas(row.label)

    def count_shared(table: Table, row: TableRow) -> int:
        return len(asked & find_lemmas(" ".join([*table.caption, *row.section])))

    column, number = _find_column_key(table, cell), parse_quantity(cell.text)
    if number is None:
        return False
    for other, same in reader.find_rows(version_id, row.label):
        cells = [one for one in same.cells if one.column and _find_column_key(other, one) == column]
        values = {one.value for one in (parse_quantity(cell.text) for cell in cells) if one is not None}
        if values and number.value not in values and count_shared(other, same) >= count_shared(table, row):
            return True
    return False


def _find_column_key(table: Table, cell: TableCell) -> object:
    """Return the periods of the column of a cell, or the words of its header if it has no period."""
    header = remove_unit(table.column_header(cell.column))
    return [(one.year, one.part) for one in find_periods(header)] or find_lemmas_without_periods(header)


def _asks_for_more(question: str, table: Table, row: TableRow, cell: TableCell) -> bool:
    """Return whether a question asks for several rows, so that a single cell, unless it is a list, is no answer."""
    over_rows = parse_table_question(question)
    asks_for_rows = over_rows is not None and over_rows.is_plural_list and not names_row(question, table, row)
    return asks_for_rows and _LIST.search(cell.text) is None


def _quote_cells(table: Table, row: TableRow, citation: Citation) -> VerifiedAnswer:
    """Return all values of a row with their headers."""
    values = [(table.column_header(cell.column), state_value(table, row, cell)) for cell in row.cells if cell.column]
    listed = "; ".join(f"{header}: {value}" if header else value for header, value in values)
    return write_pieces([(f"{table.row_label(row)} · {listed}", [citation])])
