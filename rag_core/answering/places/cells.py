"""Find the cells of sheets that a question names, as in "What is in Sales!C14?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_core.answering.named_documents import FILE_NAME
from rag_core.runtime.stores import Stores
from rag_core.text.place_requests import asks_only_for_content
from rag_core.text.sections import remove_spans
from rag_core.types.cells import CellRange
from rag_core.types.documents import DocumentInfo
from rag_core.types.places import Place
from rag_core.types.tables import Span, Table, TableCell, TableRow

_NOUN = r"(?:cells?|zellen?|cellules?|celdas?|c[ée]lulas?|cell[ae]|cel(?:len)?)"
_CORNER = r"\$?[A-Z]{1,3}\$?[1-9]\d{0,6}"
_CELLS = re.compile(rf"(?:\b{_NOUN}\s+|(?<=\S)(?P<mark>!))(?P<cells>{_CORNER}(?::{_CORNER})?)(?!\w)", re.IGNORECASE)
# A name of a sheet in quotation marks, as in "'Old sales'!C4".
_QUOTED = re.compile(r"'[^']+'!")
# Words for what a cell contains and where it is, in questions that ask only for its content.
_CONTENT = re.compile(
    rf"\b(?:{_NOUN}|values?|numbers?|amounts?|(?:work)?sheets?|tabs?|workbook|spreadsheet|werte?|zahl|betrag|blatts?|"
    r"tabellenblatts?|mappe|valeur|montant|feuille|valor|hoja|planilha|folha|valore|foglio|waarde|blad)\b",
    re.IGNORECASE,
)
# A question for a value; one that asks why or whether needs more than the cell.
_ASKS_VALUE = re.compile(
    r"\W*(?:what|which|how\s(?:much|many)|wie\s?viele?|was|welche[nrms]?|combien|quel(?:le)?s?|qu[ée]|cu[áa]l|"
    r"cu[áa]nt[oa]s?|qua(?:l|nt)[aeio]?|wat|hoeveel|welke?)\b",
    re.IGNORECASE,
)
# Most pages of a range of cells, and most sheets that a message names.
_MOST_PAGES, _MOST_SHEETS = 5, 5


@dataclass(frozen=True)
class CellRequest:
    """The cells that a question names.

    Attributes
    ----------
    cells : tuple of CellRange
        Without their sheet.
    is_marked : bool
        Whether the name of a sheet and "!" precede one of them.
    rest : str
        The question without the cells.
    """

    question: str
    cells: tuple[CellRange, ...]
    is_marked: bool
    rest: str


def parse_cells(question: str) -> CellRequest | None:
    """Return the cells that a question names; ``None`` if it names none.

    >>> [str(one) for one in parse_cells("What is in Sales!C14 and in cell d2?").cells]
    ['C14', 'D2']
    """
    found = list(_CELLS.finditer(question))
    cells = [CellRange.parse(one["cells"].upper()) for one in found]
    if not found:
        return None
    is_marked = any(one["mark"] for one in found)
    return CellRequest(question, tuple(filter(None, cells)), is_marked, _CELLS.sub(" ", question))


@dataclass(frozen=True)
class Sheet:
    """A sheet of a document, and its pages with the cells that each of them shows; ``name`` may be empty."""

    document: DocumentInfo
    name: str
    pages: dict[int, CellRange]


def list_sheets(documents: Sequence[DocumentInfo], stores: Stores) -> list[Sheet]:
    """Return the sheets of documents."""
    sheets: dict[tuple[str, str], Sheet] = {}
    for document in documents:
        for page in stores.documents.page_headings(document.version_id):
            if shown := CellRange.parse(page.page_label):
                # The label of a page of a PDF may look like a cell, but not like a range or the cell of a named sheet.
                if not shown.sheet and ":" not in page.page_label:
                    continue
                sheet = sheets.setdefault((document.document_id, shown.sheet), Sheet(document, shown.sheet, {}))
                sheet.pages[page.page_index] = shown
    return list(sheets.values())


def select_sheets(request: CellRequest, sheets: Sequence[Sheet]) -> list[Sheet]:
    """Return the sheets that a question names; none if it names none, or one that is missing."""
    if request.is_marked:
        quoted = _QUOTED.search(request.question)
        named = (f"'{one.name}'!" if quoted else f"{one.name}!" for one in sheets)
        return _keep_named(sheets, named, request.question)
    return _keep_named(sheets, (one.name for one in sheets), FILE_NAME.sub(" ", request.rest))


def _keep_named(sheets: Sequence[Sheet], names: Iterable[str], text: str) -> list[Sheet]:
    """Return the sheets whose names a text contains, without those whose name is the end of another one of these."""
    found = [
        one
        for one, name in zip(sheets, names, strict=True)
        if one.name and re.search(rf"(?<!\w){re.escape(name)}(?:(?<=!)|(?!\w))", text, re.IGNORECASE)
    ]
    return [
        one for one in found if not any(other.name != one.name and other.name.endswith(one.name) for other in found)
    ]


def asks_for_value(request: CellRequest, sheets: Sequence[Sheet], *, is_named: bool) -> bool:
    """Return whether a question asks for what cells contain.

    Parameters
    ----------
    request : CellRequest
    sheets : sequence of Sheet
        The sheets whose names the question may contain.
    is_named : bool
        Whether the sheet or the document is certain, so that further words do not name another text.
    """
    if is_named and _ASKS_VALUE.match(request.question):
        return True
    rest = FILE_NAME.sub(" ", request.rest)
    for one in sheets:
        rest = re.sub(re.escape(one.name), " ", rest, flags=re.IGNORECASE) if one.name else rest
    return asks_only_for_content(_CONTENT.sub(" ", rest))


def find_cells(request: CellRequest, sheets: Sequence[Sheet], stores: Stores) -> list[Place]:
    """Return the places of the cells in sheets, apart from empty ones.

    For a cell beside the tables of a sheet, such as a title, it is the text of its page beside these tables.
    """
    found = []
    for sheet in sheets:
        info, labels = sheet.document, {page: str(shown) for page, shown in sheet.pages.items()}
        ids = (info.name, info.document_id, info.version_id)
        for wanted in request.cells:
            if spans := dict(_find_spans(sheet, wanted, stores)):
                name = str(wanted._replace(sheet=sheet.name))
                found.append(Place(name, *ids, spans, {page: labels[page] for page in spans}))
            elif beside := _find_beside_tables(sheet, wanted, stores):
                page, span = beside
                found.append(Place(labels[page], *ids, {page: span}, {page: labels[page]}))
    return found


def _find_beside_tables(sheet: Sheet, wanted: CellRange, stores: Stores) -> tuple[int, Span] | None:
    """Return the page and the text beside its tables that may contain a cell; ``None`` if there is none."""
    # Such texts begin in the first column of their page.
    page = next(
        (page for page, shown in sheet.pages.items() if shown.overlaps(wanted) and shown.left == wanted.left), None
    )
    if page is None:
        return None
    key = (sheet.document.version_id, page)
    text, tables = stores.documents.page_contents([key])[key]
    if any(row.number == wanted.top for table in tables for row in table.rows):
        return None
    left = remove_spans((0, len(text)), [(one.start, one.end) for one in tables])
    return next(((page, span) for span in left if text[slice(*span)].strip() not in ("", sheet.name)), None)


def describe_missing_cells(request: CellRequest, chosen: Sequence[Sheet], sheets: Sequence[Sheet]) -> str:
    """Return a message that says why the cells were not found."""
    cells = ", ".join(map(str, request.cells))
    if not chosen:
        names = ", ".join(one.name for one in sheets[:_MOST_SHEETS] if one.name)
        more = " and others" if len(sheets) > _MOST_SHEETS else ""
        return (
            f"No sheet of this name was found. The sheets are {names}{more}."
            if names
            else (f"{sheets[0].document.name} has one sheet, which has no name. Ask for the cell {cells}.")
        )
    names = ", ".join(dict.fromkeys(f"{one.document.name} {one.name}".strip() for one in chosen[:_MOST_SHEETS]))
    return f"No text was found in {cells} of {names}. The cell is empty, hidden or part of another cell."


def _find_spans(sheet: Sheet, wanted: CellRange, stores: Stores) -> Iterator[tuple[int, Span]]:
    """Yield the pages with the cells, and where their text is."""
    pages = [page for page, shown in sheet.pages.items() if shown.overlaps(wanted)][:_MOST_PAGES]
    key = sheet.document.version_id
    tables = stores.documents.tables([(key, page) for page in pages])
    for page in pages:
        spans = [
            span
            for table in tables.get((key, page), ())
            for row in table.rows
            for cell in row.cells
            for span in cell.spans
            if row.number and wanted.overlaps(_locate(table, row, cell))
        ]
        if spans:
            yield page, (min(start for start, _ in spans), max(end for _, end in spans))


def _locate(table: Table, row: TableRow, cell: TableCell) -> CellRange:
    left = table.first_column + cell.column
    return CellRange("", left, row.number, left + cell.column_span - 1, row.number)
