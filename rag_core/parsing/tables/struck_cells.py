"""Remove struck words from the cells of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.text.struck import MARK, remove_struck
from rag_core.types.tables import Table, TableRow


def remove_struck_cells(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return tables without struck words in cells; cells, rows and tables that contain nothing else are left out."""
    cleaned = (_clean_table(table) if _has_marks(table) else table for table in tables)
    return tuple(table for table in cleaned if table.body)


def _has_marks(table: Table) -> bool:
    return any(MARK in cell.text for row in table.rows for cell in row.cells)


def _clean_table(table: Table) -> Table:
    headers, body = (tuple(_clean_rows(rows)) for rows in (table.headers, table.body))
    return replace(table, rows=headers + body, header_rows=len(headers))


def _clean_rows(rows: Sequence[TableRow]) -> Iterator[TableRow]:
    for row in rows:
        cells = (replace(cell, text=_clean_text(cell.text)) for cell in row.cells)
        section = tuple(filter(None, map(_clean_text, row.section)))
        if kept := tuple(cell for cell in cells if cell.text):
            yield replace(row, cells=kept, section=section)


def _clean_text(text: str) -> str:
    return " ".join(remove_struck(text).split())
