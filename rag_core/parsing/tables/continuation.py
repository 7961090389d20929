"""Continue tables below a gap and on the next page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_core.types.documents import Page
from rag_core.types.tables import Span, Table, TableRow

# The left ends of the labels differ by at most this many points.
_SHIFT = 6.0
_CONTINUED = re.compile(r"\W*(?:\w+\W+){0,8}?\(?cont(?:inued|['’]d|\.)\)?\W*", re.IGNORECASE)


def continue_tables(before: Page, page: Page) -> tuple[Table, ...]:
    """Return the tables of a page; the first one is marked as a continuation if it continues the page before.

    A table goes on if nothing but headers and footers of pages is between the two parts, and the columns are the same.
    The second part gets the headers of the first part unless it repeats them.

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
    joined = _continue_table(first, second, before.page_index)
    return (joined, *page.tables[1:]) if joined else page.tables


def inherit_headers(first: Table, second: Table) -> Table:
    """Return the second of two tables on a page, with the headers of the first one if it has figures but no headers."""
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
    """Return whether both tables have as many columns, with the labels at the same place, and the others overlap."""
    if len(first.columns) != len(second.columns) or abs(first.columns[0][0] - second.columns[0][0]) > _SHIFT:
        return False
    pairs = list(zip(first.columns, second.columns, strict=True))[1:]
    return all(one[0] < other[1] and other[0] < one[1] for one, other in pairs)


def _is_empty(page: Page, start: int, end: int) -> bool:
    """Return whether a part of a page contains only headers and footers of pages, and perhaps "(continued)"."""
    rest, cursor = "", start
    skipped: Sequence[Span] = (*page.skip, (end, end))
    for begin, stop in skipped:
        rest += page.text[cursor : max(min(begin, end), cursor)]
        cursor = max(cursor, stop)
    rest = rest.strip()
    return not rest or rest.isdecimal() or (_CONTINUED.fullmatch(rest) is not None)


def _continue_table(first: Table, second: Table, page_index: int) -> Table | None:
    if len(first.columns) != len(second.columns):
        return None
    first_page = page_index if first.first_page is None else first.first_page
    if second.header_rows:
        is_repeated = _texts(first.headers) == _texts(second.headers)
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


def _texts(rows: Sequence[TableRow]) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in rows]
