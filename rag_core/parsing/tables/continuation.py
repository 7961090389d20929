"""Continue tables below a gap and on the next page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_core.text.sections import remove_spans
from rag_core.types.documents import Page
from rag_core.types.tables import Table, TableRow

# Largest distance in points between the left ends of the labels of two parts of a table.
_MAX_SHIFT = 6.0
_CONTINUED = re.compile(r"\W*(?:\w+\W+){0,8}?\(?cont(?:inued|['’]d|\.)\)?\W*", re.IGNORECASE)


def continue_tables(before: Page, page: Page) -> tuple[Table, ...]:
    """Return the tables of a page; the first one is marked as a continuation if it continues the page before.

    A table continues if only headers and footers of pages are between the two parts, and the columns are the same. A
    second part without headers gets the headers of the first part. A second part with other headers is a new table.

    Parameters
    ----------
    before, page : Page
        Neighbouring pages; ``skip`` contains all their headers and footers.
    """
    if not before.tables or not page.tables:
        return page.tables
    first, second = before.tables[-1], page.tables[0]
    if not _is_empty(before, first.end, len(before.text)) or not _is_empty(page, 0, second.start):
        return page.tables
    continued = _continue_table(first, second, before.page_index)
    return (continued, *page.tables[1:]) if continued else page.tables


def inherit_headers(first: Table, second: Table) -> Table:
    """Return the second of two tables on a page, with the headers and the unit of the first if it lacks headers.

    The first headers are added only if the columns of the tables are the same, and at least half of the cells of the
    second table outside its first column contain digits. A unit that the second table states is kept.
    """
    if second.header_rows or not first.header_rows or not _are_aligned(first, second):
        return second
    texts = [cell.text for row in second.rows for cell in row.cells if cell.column]
    if sum(any(char.isdigit() for char in text) for text in texts) < 0.5 * len(texts):
        return second
    return replace(
        second,
        rows=(*first.headers, *second.rows),
        header_rows=first.header_rows,
        unit=second.unit or first.unit,
    )


def _are_aligned(first: Table, second: Table) -> bool:
    """Return whether two tables have the same number of columns, labels at the same place, and overlapping columns."""
    if len(first.columns) != len(second.columns) or abs(first.columns[0][0] - second.columns[0][0]) > _MAX_SHIFT:
        return False
    pairs = zip(first.columns[1:], second.columns[1:], strict=True)
    return all(upper[0] < lower[1] and lower[0] < upper[1] for upper, lower in pairs)


def _is_empty(page: Page, start: int, end: int) -> bool:
    """Return whether a part of a page contains only page headers and footers, and perhaps a number or "(continued)"."""
    rest = "".join(page.text[slice(*span)] for span in remove_spans((start, end), page.skip)).strip()
    return not rest or rest.isdecimal() or (_CONTINUED.fullmatch(rest) is not None)


def _continue_table(first: Table, second: Table, page_index: int) -> Table | None:
    """Return the second table as the continuation of the first, which is on page ``page_index``, or ``None``."""
    if len(first.columns) != len(second.columns):
        return None
    first_page = page_index if first.first_page is None else first.first_page
    if second.header_rows:
        is_repeated = _list_texts(first.headers) == _list_texts(second.headers)
        return replace(second, first_page=first_page, unit=second.unit or first.unit) if is_repeated else None
    if not _are_aligned(first, second):
        return None
    headers = tuple(
        TableRow(tuple(replace(cell, spans=()) for cell in row.cells), row.section) for row in first.headers
    )
    return replace(
        second,
        rows=(*headers, *second.body),
        header_rows=len(headers),
        caption=first.caption,
        unit=second.unit or first.unit,
        first_page=first_page,
    )


def _list_texts(rows: Sequence[TableRow]) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in rows]
