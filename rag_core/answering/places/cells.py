"""Find the cells of sheets that a question names, as in "What is in Sales!C14?"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_core.answering.named_documents import FILE_NAME
from rag_core.runtime.stores import Stores
from rag_core.text.place_requests import asks_only_for_content
from rag_core.text.sections import remove_spans
from rag_core.types.cells import CellRange
from rag_core.types.documents import DocumentInfo, PageState
from rag_core.types.places import Place
from rag_core.types.tables import Span, Table, TableCell, TableRow

_NOUN = r"(?:cells?|zellen?|cellules?|celdas?|c[ée]lulas?|cell[ae]|cel(?:len)?)"
_CORNER = r"\$?[A-Z]{1,3}\$?[1-9]\d{0,6}"
_CELLS = re.compile(rf"(?:\b{_NOUN}\s+|(?<=\S)(?P<mark>!))(?P<cells>{_CORNER}(?::{_CORNER})?)(?!\w)", re.IGNORECASE)
# Quotation marks around the name of a sheet are compared as "'".
_QUOTES = str.maketrans(dict.fromkeys('‘’‚‛“”„‟«»"', "'"))
# Words for what a cell contains and where it is, in questions that ask only for its content.
_CONTENT = re.compile(
    rf"\b(?:{_NOUN}|values?|numbers?|amounts?|(?:work)?sheets?|tabs?|workbook|spreadsheet|werte?|zahl|betrag|blatts?|"
    r"tabellenblatts?|mappe|valeur|montant|feuille|valor|hoja|planilha|folha|valore|foglio|waarde|blad)\b",
    re.IGNORECASE,
)
# The beginning of a question for a value. A question that asks why or whether needs more than the cell.
_ASKS_VALUE = re.compile(
    r"\W*(?:what|which|how\s(?:much|many)|wie\s?viele?|was|welche[nrms]?|combien|quel(?:le)?s?|qu[ée]|cu[áa]l|"
    r"cu[áa]nt[oa]s?|qua(?:l|nt)[aeio]?|wat|hoeveel|welke?)\b",
    re.IGNORECASE,
)
# Maximum number of pages of a range of cells, and of sheets that a message names.
_MAX_PAGES, _MAX_SHEETS = 5, 5


class NamedCells(NamedTuple):
    """Cells that a question names.

    Attributes
    ----------
    cells : CellRange
        Without their sheet.
    before : str
        The words between the previous cells and these cells; without a mark, they end before the word "cell".
    is_marked : bool
        Whether "!" precedes the cells.
    """

    cells: CellRange
    before: str
    is_marked: bool


@dataclass(frozen=True)
class CellRequest:
    """The cells that a question names.

    Attributes
    ----------
    question : str
    named : tuple of NamedCells
    rest : str
        The question without the cells.
    after : str
        The words after the last cells.
    """

    question: str
    named: tuple[NamedCells, ...]
    rest: str
    after: str

    @property
    def is_marked(self) -> bool:
        """Whether "!" precedes any of the cells."""
        return any(one.is_marked for one in self.named)

    def __str__(self) -> str:
        return ", ".join(str(one.cells) for one in self.named)


def parse_cells(question: str) -> CellRequest | None:
    """Return the cells that a question names; ``None`` if it names none.

    >>> str(parse_cells("What is in Sales!C14 and in cell d2?"))
    'C14, D2'
    """
    named, start = [], 0
    for found in _CELLS.finditer(question):
        if cells := CellRange.parse(found["cells"].upper()):
            named.append(NamedCells(cells, question[start : found.start()], bool(found["mark"])))
            start = found.end()
    return CellRequest(question, tuple(named), _CELLS.sub(" ", question), question[start:]) if named else None


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


def select_sheets(request: CellRequest, sheets: Sequence[Sheet]) -> list[tuple[CellRange, list[Sheet]]]:
    """Return the cells that a question names, each with the sheets that are meant.

    - With "!" before the cells: the sheets whose name precedes the mark, so none if the sheet is missing.
    - Otherwise: the sheets that the question names before or after the cells, or else those of the previous cells, or
      else all sheets.
    """
    texts = (*(one.before for one in request.named), request.after)
    beside = [find_named_sheets(sheets, text) for text in texts]
    # "In Sales, cell C4", or else "cell C4 of Sales".
    names_follow = not beside[0]
    chosen: list[list[Sheet]] = []
    for place, one in enumerate(request.named):
        if one.is_marked:
            chosen.append(_find_marked(sheets, one.before))
        elif names_follow and (following := next(filter(None, beside[place + 1 :]), [])):
            chosen.append(following)
        else:
            chosen.append(beside[place] or (chosen[-1] if chosen else list(sheets)))
    return [(one.cells, found) for one, found in zip(request.named, chosen, strict=True)]


def _find_marked(sheets: Sequence[Sheet], before: str) -> list[Sheet]:
    """Return the sheets whose name, possibly in quotation marks, is at the end of the text ``before``."""
    text = before.translate(_QUOTES)

    def ends_with(name: str) -> bool:
        name = name.translate(_QUOTES)
        quoted = "|".join(map(re.escape, (name, name.replace("'", "''"))))
        # A workbook may precede the name, as in "'[fleet.xlsx]Old boats'!C4".
        pattern = rf"'(?:\[[^\]]*\])?(?:{quoted})'" if text.endswith("'") else rf"(?<!\w){re.escape(name)}"
        return re.search(rf"{pattern}\Z", text, re.IGNORECASE) is not None

    return _keep_longest([one for one in sheets if one.name and ends_with(one.name)])


def find_named_sheets(sheets: Sequence[Sheet], text: str) -> list[Sheet]:
    """Return the sheets whose names a text contains outside names of files."""
    text = FILE_NAME.sub(" ", text)
    return _keep_longest(
        [one for one in sheets if one.name and re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", text, re.IGNORECASE)]
    )


def _keep_longest(found: list[Sheet]) -> list[Sheet]:
    """Return sheets without those whose name is the end of the name of another sheet."""
    names = {one.name.casefold() for one in found}
    return [
        one for one in found if not any(name.endswith(one.name.casefold()) for name in names - {one.name.casefold()})
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
    rest = FILE_NAME.sub(" ", request.rest).translate(_QUOTES)
    # Longer names are removed first, because the name of a sheet may contain the name of another sheet.
    for name in sorted((one.name.translate(_QUOTES) for one in sheets if one.name), key=len, reverse=True):
        for written in (name.replace("'", "''"), name):
            rest = re.sub(re.escape(written), " ", rest, flags=re.IGNORECASE)
    return asks_only_for_content(_CONTENT.sub(" ", rest))


def find_cell_places(chosen: Sequence[tuple[CellRange, Sequence[Sheet]]], stores: Stores) -> list[Place]:
    """Return the places of cells in sheets; an empty list if all cells are empty.

    If other cells have text, an empty cell of a single sheet has a place without spans. The place of a cell outside the
    tables of a sheet, such as a title, is the text of its page outside these tables.
    """
    found = []
    for wanted, sheets in chosen:
        places = [place for sheet in sheets if (place := _find_place(wanted, sheet, stores))]
        if not places and len(sheets) == 1:
            info = sheets[0].document
            name = str(wanted._replace(sheet=sheets[0].name))
            places = [Place(name, info.name, info.document_id, info.version_id, {}, {0: name})]
        found += places
    return found if any(one.spans for one in found) else []


def _find_place(wanted: CellRange, sheet: Sheet, stores: Stores) -> Place | None:
    info, labels = sheet.document, {page: str(shown) for page, shown in sheet.pages.items()}
    ids = (info.name, info.document_id, info.version_id)
    name = str(wanted._replace(sheet=sheet.name))
    if spans := dict(_find_spans(sheet, wanted, stores)):
        return Place(name, *ids, spans, {page: labels[page] for page in spans})
    if merged := _find_merged(sheet, wanted, stores):
        page, cells, span = merged
        return Place(f"{name}, part of the merged cell {cells}", *ids, {page: span}, {page: labels[page]})
    if beside := _find_beside_tables(sheet, wanted, stores):
        page, span = beside
        return Place(labels[page], *ids, {page: span}, {page: labels[page]})
    return None


def _find_merged(sheet: Sheet, wanted: CellRange, stores: Stores) -> tuple[int, CellRange, Span] | None:
    """Return the page, the first cell and the span of the merged cell that contains ``wanted`` below its first row.

    Return ``None`` if there is no such merged cell.
    """
    for page, table, row, cell in _iter_cells(sheet, wanted, stores):
        if cell.spans or row.number != wanted.top or not wanted.overlaps(_locate(table, row, cell)):
            continue
        # Only in the first row of a merged cell, the cell has spans.
        above = [one for one in table.rows if 0 < one.number < row.number]
        for upper in reversed(above):
            first = next((one for one in upper.cells if (one.column, one.text) == (cell.column, cell.text)), None)
            if first is None:
                break
            if first.spans:
                address = _locate(table, upper, first)._replace(right=table.first_column + first.column)
                return page, address, (first.start, first.end)
    return None


def _find_beside_tables(sheet: Sheet, wanted: CellRange, stores: Stores) -> tuple[int, Span] | None:
    """Return the page of a cell, and a span outside tables that may contain the cell; ``None`` without such text."""
    # Such texts begin in the first column of their page; the pages of pictures have other texts.
    pages = [page for page, shown in sheet.pages.items() if shown.overlaps(wanted) and shown.left == wanted.left]
    version = sheet.document.version_id
    stored = stores.documents.pages_at([(version, page) for page in pages])
    pages = [page for page in pages if stored[version, page].state is not PageState.OCR]
    if not pages:
        return None
    page, key = pages[0], (version, pages[0])
    text, tables = stores.documents.page_contents([key])[key]
    if any(row.number == wanted.top for table in tables for row in table.rows):
        return None
    left = remove_spans((0, len(text)), [(one.start, one.end) for one in tables])
    return next(((page, span) for span in left if text[slice(*span)].strip() not in ("", sheet.name)), None)


def describe_missing_cells(request: CellRequest, chosen: Sequence[Sequence[Sheet]], sheets: Sequence[Sheet]) -> str:
    """Return a message that says why the cells were not found."""
    cells = str(request)
    if not all(chosen):
        names = ", ".join(one.name for one in sheets[:_MAX_SHEETS] if one.name)
        more = " and others" if len(sheets) > _MAX_SHEETS else ""
        return (
            f"No sheet of this name was found. The sheets are {names}{more}."
            if names
            else (f"{sheets[0].document.name} has one sheet, which has no name. Ask for the cell {cells}.")
        )
    named = dict.fromkeys(f"{one.document.name} {one.name}".strip() for found in chosen for one in found)
    names = ", ".join(list(named)[:_MAX_SHEETS])
    return f"No text was found in {cells} of {names}. The cell is empty, hidden or part of another cell."


def _find_spans(sheet: Sheet, wanted: CellRange, stores: Stores) -> Iterator[tuple[int, Span]]:
    """Yield each page with text of the ``wanted`` cells, and the span of this text."""
    found: dict[int, list[Span]] = {}
    for page, table, row, cell in _iter_cells(sheet, wanted, stores):
        if wanted.overlaps(_locate(table, row, cell)):
            found.setdefault(page, []).extend(cell.spans)
    for page, spans in found.items():
        if spans:
            yield page, (min(start for start, _ in spans), max(end for _, end in spans))


def _iter_cells(sheet: Sheet, wanted: CellRange, stores: Stores) -> Iterator[tuple[int, Table, TableRow, TableCell]]:
    """Yield the cells of all numbered rows on the first `_MAX_PAGES` pages that show ``wanted`` cells."""
    pages = [page for page, shown in sheet.pages.items() if shown.overlaps(wanted)][:_MAX_PAGES]
    key = sheet.document.version_id
    tables = stores.documents.tables([(key, page) for page in pages])
    for page in pages:
        for table in tables.get((key, page), ()):
            for row in table.rows:
                for cell in row.cells if row.number else ():
                    yield page, table, row, cell


def _locate(table: Table, row: TableRow, cell: TableCell) -> CellRange:
    left = table.first_column + cell.column
    return CellRange("", left, row.number, left + cell.column_span - 1, row.number)
