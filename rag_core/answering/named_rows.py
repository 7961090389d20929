"""Answer with the cells of a row that the question names with all its words."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from rag_core.answering.answer_text import cite_span, open_with_value, write_pieces
from rag_core.answering.page_reading import PageReader
from rag_core.gate.yes_no_questions import is_yes_no_question
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.answer_types import Kind, find_answer_kind
from rag_core.reading.cell_choice import name_row
from rag_core.reading.cell_values import parse_quantity, state_value
from rag_core.reading.named_cells import find_named_cells, list_asked_words, list_named_sections
from rag_core.reading.table_rows import PlacedRow
from rag_core.types import Passage
from rag_core.types.searches import SearchOutcome
from rag_core.types.tables import TableCell
from rag_core.verification.verifier import VerifiedAnswer

# Number of documents, and of pages of each, whose rows are compared with the question if no row read is named.
MAX_DOCUMENTS, MAX_PAGES = 2, 6


def quote_named_row(
    question: str, answers: Sequence[FoundAnswer], outcome: SearchOutcome, reader: PageReader
) -> tuple[VerifiedAnswer, SearchOutcome] | None:
    """Return the value in the row and the column that the question names, and the outcome with the row's passage.

    Return ``None`` if the question does not ask for a figure, if no row is named with all its words, or if the document
    has a row with the same label and another value, such as that of a segment. A row whose own labels explain the
    question is preferred to one that only its caption explains. If no row read is named, pages of the best documents
    that contain most words of the question are searched.
    """
    kind = find_answer_kind(question)
    if is_yes_no_question(question) or kind in (Kind.REASON, Kind.NAME, Kind.DATE):
        return None
    read = [
        (one.passage, PlacedRow(one.passage.page_index, one.excerpt.table, one.excerpt.row))
        for one in answers
        if one.excerpt.table is not None and one.excerpt.row is not None and not one.passage.lacks_name
    ]
    found = _quote_first_named(question, read, outcome, reader)
    if found is None:
        found = _quote_first_named(question, _list_rows(question, outcome, reader), outcome, reader)
    return found


def _list_rows(question: str, outcome: SearchOutcome, reader: PageReader) -> list[tuple[Passage, PlacedRow]]:
    """Return the rows of the pages with most words of a question, each with the best passage of its document."""
    best: dict[str, Passage] = {}
    for passage in outcome.passages:
        if not passage.lacks_name:
            best.setdefault(passage.version_id, passage)
    rows = []
    for passage in list(best.values())[:MAX_DOCUMENTS]:
        words = list_asked_words(question, passage.document)
        pages = {one.page_index for one in outcome.passages if one.version_id == passage.version_id}
        for page, tables in reader.find_tables(passage.version_id, words, pages, MAX_PAGES).items():
            rows += [
                (passage, PlacedRow(page, table, row)) for table in tables for row in table.body if not row.is_section
            ]
    return rows


def _quote_first_named(
    question: str, rows: Sequence[tuple[Passage, PlacedRow]], outcome: SearchOutcome, reader: PageReader
) -> tuple[VerifiedAnswer, SearchOutcome] | None:
    for with_caption in (False, True):
        for passage, placed in rows:
            cells = _find_cells(question, passage, placed, reader, with_caption=with_caption)
            found = _state_cells(passage, placed, cells, outcome, reader) if cells else None
            if found is not None:
                return found
    return None


def _find_cells(
    question: str, passage: Passage, placed: PlacedRow, reader: PageReader, *, with_caption: bool
) -> list[TableCell]:
    """Return the cells that the question names, unless the document has another value with the same labels."""
    names = passage.full_title, passage.heading
    cells = find_named_cells(question, placed.table, placed.row, *names, with_caption=with_caption)
    if not cells:
        return []
    in_section = bool(list_named_sections(question, placed.row))
    for table, row in reader.find_rows(passage.version_id, placed.row.label):
        # If the section names the measure, the caption does not make a row in another section a rival.
        is_elsewhere = in_section and bool(row.section) and not list_named_sections(question, row)
        found = find_named_cells(question, table, row, *names, with_caption=with_caption and not is_elsewhere)
        if found and _read_numbers(found) != _read_numbers(cells):
            return []
    return cells


def _state_cells(
    passage: Passage, placed: PlacedRow, cells: Sequence[TableCell], outcome: SearchOutcome, reader: PageReader
) -> tuple[VerifiedAnswer, SearchOutcome] | None:
    """Return the values of cells of a row with their headers."""
    table, row = placed.table, placed.row
    outcome = reader.add_places(outcome, passage, [(placed.page_index, placed.start, placed.end)])
    page = passage.version_id, placed.page_index
    citation = cite_span(page, placed.start, placed.end, outcome.result.passages)
    if citation is None:
        return None
    headers = [table.column_header(cell.column) for cell in cells]
    values = [state_value(table, row, cell) for cell in cells]
    short, labels = values[0], [name_row(table, row, cells[0]), headers[0]]
    if len(cells) > 1:
        short = "; ".join(f"{value} ({header})" for value, header in zip(values, headers, strict=True))
        labels = labels[:1]
    return write_pieces([(open_with_value(short, labels), [citation])], short), outcome


def _read_numbers(cells: Sequence[TableCell]) -> list[Decimal | None]:
    found = [parse_quantity(cell.text) for cell in cells]
    return [one.value if one else None for one in found]
