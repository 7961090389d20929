"""Write answers that consist of the value of a table cell, or of the values of a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.answering.answer_text import cite_span, open_with_value
from rag_core.answering.statement_answers import SHORT_PROBABILITY
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.cell_values import names_cell, names_row, state_value
from rag_core.types import Citation, Claim, Passage, Table
from rag_core.types.tables import TableRow
from rag_core.verification.verifier import VerifiedAnswer

# A question with two parts, such as "What does E7 mean, and what should I do?".
_ASKS_TWICE = re.compile(r"\band (?:what|how|when|where|who|which|why|by|with)\b", re.IGNORECASE)


def is_row_named(question: str, answer: FoundAnswer) -> bool:
    """Return whether the answer is in the only row of its table whose label the question contains."""
    table, row = answer.excerpt.table, answer.excerpt.row
    return table is not None and row is not None and names_row(question, table, row)


def quote_row(question: str, answer: FoundAnswer, passages: Sequence[Passage]) -> VerifiedAnswer | None:
    """Return the value in a table row with its unit and its labels.

    Return ``None`` if the answer is in no row, or if it is not probable enough and the question does not contain the
    label and the header of its cell.
    """
    excerpt, cell = answer.excerpt, answer.place.cell
    if excerpt.row is None or excerpt.table is None or cell is None:
        return None
    if answer.probability < SHORT_PROBABILITY and not names_cell(question, excerpt.table, excerpt.row, cell):
        return None
    citation = cite_span(answer.passage.page_key, excerpt.start, excerpt.end, passages)
    if citation is None:
        return None
    if _ASKS_TWICE.search(question):
        return _quote_cells(excerpt.table, excerpt.row, citation)
    labels = [excerpt.table.row_label(excerpt.row), excerpt.table.column_header(cell.column)]
    value = state_value(excerpt.table, excerpt.row, cell)
    statement = open_with_value(value, [label for label in labels if label and label != cell.text])
    text = f"{statement} [{citation.marker}]"
    return VerifiedAnswer(text, (citation,), (Claim(0, len(statement), True),), value)


def _quote_cells(table: Table, row: TableRow, citation: Citation) -> VerifiedAnswer:
    """Return all values of a row with their headers."""
    values = [(table.column_header(cell.column), state_value(table, row, cell)) for cell in row.cells if cell.column]
    listed = "; ".join(f"{header}: {value}" if header else value for header, value in values)
    statement = f"{table.row_label(row)} · {listed}"
    return VerifiedAnswer(f"{statement} [{citation.marker}]", (citation,), (Claim(0, len(statement), True),))
