"""Remove struck words from the cells of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.text.struck import MARK, remove_struck
from rag_core.types.tables import Table, TableRow


def remove_struck_cells(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return tables without struck words in cells; cells, rows and tables that contain nothing else are left out."""
    shown = (_remove_cells(table) if _has_marks(table) else table for table in tables)
    return tuple(table for table in shown if table.body)


def _has_marks(table: Table) -> bool:
    return any(MARK in cell.text for row in table.rows for cell in row.cells)


def _remove_cells(table: Table) -> Table:
    headers, body = (tuple(_iter_rows(rows)) for rows in (table.headers, table.body))
    return replace(table, rows=headers + body, header_rows=len(headers))


def _iter_rows(rows: Sequence[TableRow]) -> Iterator[TableRow]:
    for row in rows:
        cells = tuple(replace(cell, text=" ".join(remove_struck(cell.text).split())) for cell in row.cells)
        section = tuple(filter(None, (" ".join(remove_struck(one).split()) for one in row.section)))
        if kept := tuple(cell for cell in cells if cell.text):
            yield replace(row, cells=kept, section=section)
