"""The rows of tables that an answer cites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_core.types.answer_markup import Run, TextTable
from rag_core.types.tables import Span, Table, TableCell, TableRow


@dataclass(frozen=True, slots=True)
class CitedTable:
    """The header and the cited rows of a table.

    Attributes
    ----------
    marker : int
        Number of the first citation of the table.
    version_id : str
    page_index : int
    table : Table
        The table with its header rows and, below them, only the cited rows.
    cells : tuple of int
        Offset of each cited cell in the text of the page. A row without a cited cell is cited as a whole.
    """

    marker: int
    version_id: str
    page_index: int
    table: Table
    cells: tuple[int, ...]

    def is_cited(self, cell: TableCell) -> bool:
        return not cell.is_header and cell.start in self.cells

    def find_spans(self, start: int, end: int) -> list[Span]:
        """Return the spans of labels and cited cells that overlap a span of the page's text, ascending.

        Of a row that is cited as a whole, the spans of all cells are returned.
        """
        spans: list[Span] = []
        for row in self.table.body:
            is_whole = not any(map(self.is_cited, row.cells))
            cells = (cell for cell in row.cells if is_whole or self.is_cited(cell) or _is_label(cell, row))
            spans += (span for cell in cells for span in cell.spans)
        return sorted(span for span in spans if span[0] < end and span[1] > start)

    def to_text_table(self) -> TextTable:
        """Return the table for display, with one header row, sections in the row labels, and cited cells in bold."""
        width = len(self.table.columns)
        header = tuple(_build_runs(self.table.column_header(column)) for column in range(width))
        rows = [header]
        for row in self.table.body:
            texts = [_build_runs(self.table.row_label(row)), *[_build_runs("")] * (width - 1)]
            for cell in row.cells:
                text = self.table.row_label(row) if _is_label(cell, row) else cell.text
                texts[cell.column] = _build_runs(text, bold=self.is_cited(cell))
            rows.append(tuple(texts))
        return TextTable(tuple(rows))

    def to_json(self) -> dict[str, Any]:
        return {
            "marker": self.marker,
            "version_id": self.version_id,
            "page_index": self.page_index,
            "table": self.table.to_json(),
            "cells": list(self.cells),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CitedTable:
        """Return the table that `to_json` converted."""
        return cls(**{**data, "table": Table.from_json(data["table"]), "cells": tuple(data["cells"])})


def _build_runs(text: str, *, bold: bool = False) -> tuple[Run, ...]:
    return (Run(text, bold),) if text else ()


def _is_label(cell: TableCell, row: TableRow) -> bool:
    return cell.column == 0 and cell.text == row.label
