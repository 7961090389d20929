"""Answer questions over the rows of a table, such as the largest value, a count or a list, and cite the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.answering.answer_text import write_pieces
from rag_core.answering.page_reading import PageReader
from rag_core.reading.column_selection import ColumnSelector
from rag_core.reading.table_operations import TableAnswer, answer_from_rows
from rag_core.reading.table_questions import Operation, TableQuestion
from rag_core.reading.table_rows import PlacedRow, TableRows, find_lemmas
from rag_core.types import Citation, Passage, Table
from rag_core.types.searches import SearchOutcome
from rag_core.verification.verifier import VerifiedAnswer

# Number of passages whose pages are searched for tables, and of pages that a table may have.
_PASSAGES, _MAX_PAGES = 5, 100
# Number of pages whose tables are loaded at once.
_BATCH = 20
# Number of words of a footer below a table, such as a page number.
_FOOTER_WORDS = 3
# Most pages whose compared rows are cited, beside the rows that the answer names.
_MAX_CITED_PAGES = 3


def answer_over_rows(
    question: TableQuestion, outcome: SearchOutcome, reader: PageReader
) -> tuple[VerifiedAnswer, SearchOutcome] | None:
    """Return the answer to a question over the rows of a table, and the outcome with the passages that it cites.

    The gate does not decide, because it judges passages. Return ``None`` in three cases:

    - No table determines the answer.
    - Tables that explain equally many words of the question give different answers.
    - The document has another table with the same columns, and the question does not tell which of them it means.
    """
    found = _find_answer(question, outcome, reader)
    if found is None:
        return None
    passage, answer = found
    named = [row for piece in answer.pieces for row in piece.rows]
    pages = sorted({row.page_index for row in answer.compared})[:_MAX_CITED_PAGES]
    whole = [row for row in answer.compared if row.page_index in pages]
    places = [(row.page_index, row.start, row.end) for row in dict.fromkeys([*named, *whole])]
    outcome = reader.add_places(outcome, passage, places)
    return _write(answer, whole, passage.version_id, outcome.result.passages), outcome


def _find_answer(
    question: TableQuestion, outcome: SearchOutcome, reader: PageReader
) -> tuple[Passage, TableAnswer] | None:
    seen: list[tuple[Passage, TableRows]] = []
    best: list[tuple[Passage, TableRows, TableAnswer]] = []
    for passage, rows in _find_tables(outcome, reader):
        seen.append((passage, rows))
        answer = answer_from_rows(question, rows, ColumnSelector(passage, reader.read))
        if answer is None or (best and answer.explained < best[0][2].explained):
            continue
        if best and answer.explained > best[0][2].explained:
            best = []
        best.append((passage, rows, answer))
    if len({answer.short for *_, answer in best}) != 1:
        return None
    passage, rows, answer = best[0]
    # The rows of a table like it may belong to the answer too.
    alike = (other for one, other in seen if one.version_id == passage.version_id and rows.is_like(other))
    if question.operation is not Operation.DIFFERENCE and any(
        not (rows.context - other.context) & find_lemmas(question.text) for other in alike
    ):
        return None
    return passage, answer


def _find_tables(outcome: SearchOutcome, reader: PageReader) -> Iterator[tuple[Passage, TableRows]]:
    """Yield each table on the pages of the first passages, with its parts on other pages."""
    seen: set[tuple[str, int, int]] = set()
    for passage in outcome.passages[:_PASSAGES]:
        _, tables = reader.read_pages(passage.version_id, [passage.page_index]).get(passage.page_index, ("", []))
        for table in tables:
            first = passage.page_index if table.first_page is None else table.first_page
            key = (passage.version_id, first, table.start if table.first_page is None else -1)
            parts = [] if key in seen else _load_parts(passage, table, first, reader)
            seen.add(key)
            if sum(len(part.body) for _, part in parts) > 1:
                yield passage, TableRows(parts, passage.full_heading, outcome.result.question)


def _load_parts(passage: Passage, table: Table, first: int, reader: PageReader) -> list[tuple[int, Table]]:
    """Return the parts of a table on all its pages, from ``first`` on, with the indexes of the pages.

    The list is empty if the table may have more parts, because nothing is above it on its first page, or below it on
    its last page, although there are pages before or after it.
    """
    parts: list[tuple[int, Table]] = []
    last_text = ""
    for start in range(first, first + _MAX_PAGES, _BATCH):
        pages = reader.read_pages(passage.version_id, range(start, start + _BATCH))
        for page in range(start, start + _BATCH):
            text, tables = pages.get(page, ("", []))
            if page == first:
                part = table if table.first_page is None else tables[-1]
                if page > 0 and not text[: part.start].strip():
                    return []
                parts.append((page, part))
            elif tables and tables[0].first_page == first:
                parts.append((page, tables[0]))
            else:
                goes_on = text.strip() and len(last_text[parts[-1][1].end :].split()) <= _FOOTER_WORDS
                return [] if goes_on else parts
            last_text = text
    return []


def _write(
    answer: TableAnswer, whole: Sequence[PlacedRow], version_id: str, passages: Sequence[Passage]
) -> VerifiedAnswer:
    """Return the text of an answer with citations of the rows of each part, and of all compared rows at the end."""
    pieces = []
    for number, piece in enumerate(answer.pieces):
        text = piece.text
        if not number and text.startswith(answer.short):
            text = f"**{answer.short}**{text[len(answer.short) :]}"
        cited = [one for row in piece.rows for one in _cite([row], version_id, passages)]
        if number == len(answer.pieces) - 1:
            cited += _cite(whole, version_id, passages)
        pieces.append((text, cited))
    return write_pieces(pieces, answer.short)


def _cite(rows: Sequence[PlacedRow], version_id: str, passages: Sequence[Passage]) -> list[Citation]:
    """Return a citation for each passage that contains rows, from the first to the last of them."""
    spans: dict[int, tuple[int, int]] = {}
    for row in rows:
        for number, passage in enumerate(passages):
            start, end = row.start - passage.start, row.end - passage.start
            if passage.page_key == (version_id, row.page_index) and 0 <= start < len(passage.first_page_text):
                first, last = spans.get(number, (start, end))
                spans[number] = min(first, start), min(max(last, end), len(passage.first_page_text))
                break
    return [Citation.of(passages[number], start, end) for number, (start, end) in spans.items()]
