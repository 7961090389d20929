"""Find the table rows and cells that an answer cites."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_core.runtime.stores import Stores
from rag_core.types.answers import MARKER, Answer, AnswerState, Citation
from rag_core.types.cells import CellRange
from rag_core.types.cited_tables import CitedTable
from rag_core.types.documents import PageKey
from rag_core.types.tables import Table, TableCell

# Maximum number of rows that an answer cites, in all tables together.
_MAX_ROWS = 6
# Minimum share of the letters and digits of a quote that are in cells; otherwise, the quote is prose beside a table.
_IN_CELLS = 0.9
# Maximum number of characters of a cell of a cited row; a longer cell is prose, which the quote shows better.
_MAX_CELL_CHARS = 200
# The same limit for a quote of one row that also contains other text between its cells.
_MAX_APART_CHARS = 600
_MARKERS = re.compile(rf"(?:\s*{MARKER.pattern})+")
_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f'’]\d+)*")
_SEPARATORS = re.compile(r"\D")


def add_cited_tables(answer: Answer, stores: Stores) -> Answer:
    """Return the answer with the table rows that it cites, and with the addresses of cited cells of sheets."""
    if answer.state is not AnswerState.ANSWERED or not answer.citations:
        return replace(answer, tables=())
    pages = {(one.version_id, one.page_index) for one in (*answer.citations, *answer.more)}
    tables = stores.documents.tables(pages)
    answer = replace(answer, tables=find_cited_tables(answer, tables))

    def locate(one: Citation) -> Citation:
        return replace(one, cells=_find_address(answer, one, tables.get((one.version_id, one.page_index), ())))

    return replace(answer, citations=tuple(map(locate, answer.citations)), more=tuple(map(locate, answer.more)))


def _find_address(answer: Answer, citation: Citation, tables: Sequence[Table]) -> str:
    """Return the address of what is quoted from a sheet, such as ``Sales!A4:C4``.

    If the answer cites exactly one cell of the quote, this is the address of the cell. Otherwise, it is the range of
    the quoted cells in rows with cited cells, or else of all quoted cells. The address is empty if the page of the
    citation is no sheet, or if the quote contains no cells.
    """
    page = CellRange.parse(citation.page_label)
    cited = {cell for one in answer.find_cited_tables(citation) for cell in one.cells}
    quoted = [
        (cell, row.number, table.first_column + cell.column)
        for table in tables
        for row in table.rows
        for cell in row.cells
        if row.number and cell.start < citation.end and cell.end > citation.start
    ]
    chosen = [one for one in quoted if one[0].start in cited]
    numbers = {row for _, row, _ in chosen}
    places = chosen if len(chosen) == 1 else [one for one in quoted if one[1] in numbers] or quoted
    if page is None or not places:
        return ""
    rows, columns = [row for _, row, _ in places], [column for _, _, column in places]
    return str(CellRange(page.sheet, min(columns), min(rows), max(columns), max(rows)))


@dataclass
class _FoundTable:
    """A table that an answer cites.

    ``rows`` are the indices of the cited rows in the table, and ``cells`` the offsets at which the cited cells start.
    """

    marker: int
    table: Table
    rows: set[int] = field(default_factory=set)
    cells: set[int] = field(default_factory=set)


def find_cited_tables(answer: Answer, tables: Mapping[PageKey, Sequence[Table]]) -> tuple[CitedTable, ...]:
    """Return the tables from which an answer quotes rows, each with the quoted rows and the cited cells.

    In an answer that consists of excerpts, and in a citation with marks of the reading model, the marked cells are
    cited. Otherwise, a cell is cited if the answer states its text before the marker of the citation. Lists do not
    count as tables. At most `_MAX_ROWS` rows are returned, except for answers that consist of excerpts, whose number of
    rows is limited already.
    """
    stated = _find_stated_texts(answer.written_text)
    found: dict[tuple[str, int, int], _FoundTable] = {}
    excerpts = answer.consists_of_excerpts
    for citation in (*answer.citations, *answer.more):
        key = citation.version_id, citation.page_index
        for number, table in enumerate(tables.get(key, ())):
            cells = {} if table.is_list else _find_cells_by_row(table, citation)
            total = sum(len(one.rows) for one in found.values())
            if not cells or (total + len(cells) > _MAX_ROWS and not excerpts):
                continue
            known = found.setdefault((*key, number), _FoundTable(citation.marker, table))
            known.rows |= cells.keys()
            is_marked = excerpts or bool(citation.marks)
            for one in cells.values():
                chosen = (
                    _select_marked(one, citation) if is_marked else _select_cited_cells(one, stated[citation.marker])
                )
                known.cells |= {cell.start for cell in chosen}
    return tuple(
        CitedTable(one.marker, version_id, page_index, _select_rows(one.table, one.rows), tuple(sorted(one.cells)))
        for (version_id, page_index, _), one in found.items()
    )


def _find_stated_texts(text: str) -> dict[int, str]:
    """Return the text before the markers with a number, from the end of the preceding markers on, by this number."""
    texts: dict[int, str] = defaultdict(str)
    position = 0
    for group in _MARKERS.finditer(text):
        for marker in MARKER.findall(group[0]):
            texts[int(marker)] += f" {text[position : group.start()]}"
        position = group.end()
    return texts


def _find_cells_by_row(table: Table, citation: Citation) -> dict[int, list[TableCell]]:
    """Return the cells of a table in a quote, by the index of their row; empty if the quote is not from its rows.

    A quote with the same beginning and end as a row quotes this row, even if it contains other text between the cells.
    A page with columns has such quotes.
    """
    for number, row in enumerate(table.body, table.header_rows):
        own = [cell for cell in row.cells if cell.spans]
        if not own or (min(one.start for one in own), max(one.end for one in own)) != (citation.start, citation.end):
            continue
        length = sum(_count_characters(cell.text) for cell in own)
        is_apart = length < _IN_CELLS * _count_characters(citation.quote)
        if is_apart and all(len(cell.text) <= _MAX_APART_CHARS for cell in own):
            return {number: own}
    cells: dict[int, list[TableCell]] = {}
    covered = 0
    for number, row in enumerate(table.rows):
        within = [cell for cell in row.cells if cell.start < citation.end and cell.end > citation.start]
        for start, end in (span for cell in within for span in cell.spans):
            piece = citation.quote[max(0, start - citation.start) : max(0, end - citation.start)]
            covered += _count_characters(piece)
        if within and number >= table.header_rows and not row.is_section:
            if any(len(cell.text) > _MAX_CELL_CHARS for cell in row.cells):
                return {}
            cells[number] = within
    return cells if covered >= _IN_CELLS * _count_characters(citation.quote) else {}


def _select_marked(cells: Sequence[TableCell], citation: Citation) -> list[TableCell]:
    return [one for one in cells if any(one.start < end and start < one.end for start, end in citation.marks)]


def _count_characters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _select_cited_cells(cells: Sequence[TableCell], stated: str) -> list[TableCell]:
    values = [cell for cell in cells if cell.column]
    numbers = {_SEPARATORS.sub("", number) for number in _NUMBER.findall(stated)}
    folded = f" {' '.join(stated.split()).casefold()} "
    return [cell for cell in values if _is_stated(cell.text, folded, numbers)]


def _is_stated(text: str, stated: str, numbers: set[str]) -> bool:
    """Return whether a statement contains a cell: the digits of a figure, or the words of another cell.

    ``stated`` is the statement in lower case, and ``numbers`` are its numbers without separators.
    """
    figures = {_SEPARATORS.sub("", number) for number in _NUMBER.findall(text)}
    if figures and not any(map(str.isalpha, text)):
        return figures <= numbers
    words = " ".join(text.split()).casefold()
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", stated))


def _select_rows(table: Table, rows: set[int]) -> Table:
    kept = (row for number, row in enumerate(table.rows) if number < table.header_rows or number in rows)
    return replace(table, rows=tuple(kept))
