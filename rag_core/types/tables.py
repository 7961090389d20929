"""Tables of a page: rows of cells, with the place of each cell in the text of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from rag_core.types.chunks import HEADING_SEPARATOR

# The start and the end (exclusive) of characters in the text of a page.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell that is not empty.

    Attributes
    ----------
    text : str
        The words of the cell. A currency or percent sign and a bracket are joined to their figure.
    spans : tuple of Span
        Where the text of the page contains the words of the cell, in the order of the words. A cell of several lines
        has several spans if other cells are between the lines. It is empty for a header that only an earlier page
        contains, and for a cell over several rows in each row but the one beside its text.
    column : int
        Index of the first column of the cell.
    column_span : int
        Number of columns of the cell.
    is_header : bool
        Whether the cell is in a header row.
    """

    text: str
    spans: tuple[Span, ...]
    column: int
    column_span: int = 1
    is_header: bool = False

    @property
    def start(self) -> int:
        """The offset of the first character in the text of the page; -1 for a cell without spans."""
        return min((start for start, _ in self.spans), default=-1)

    @property
    def end(self) -> int:
        """The offset after the last character in the text of the page; -1 for a cell without spans."""
        return max((end for _, end in self.spans), default=-1)


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of a row that are not empty, from left to right.

    Attributes
    ----------
    cells : tuple of TableCell
    section : tuple of str
        Labels of the rows that head this row, outermost first: rows above it that contain only a label, and rows above
        it that are less indented.
    indent : int
        Level of indentation of the label; 0 is not indented.
    is_section : bool
        Whether the row contains only a label, which heads the rows below it.
    number : int
        Number of the row in its sheet; 0 for a row of a page.
    """

    cells: tuple[TableCell, ...]
    section: tuple[str, ...] = ()
    indent: int = 0
    is_section: bool = False
    number: int = 0

    @property
    def label(self) -> str:
        """The text of the first column; empty if this cell is empty."""
        first = self.cells[0]
        return "" if first.column else first.text

    def cell(self, column: int) -> TableCell | None:
        """Return the cell that covers a column, or ``None`` if it is empty."""
        return next((cell for cell in self.cells if cell.column <= column < cell.column + cell.column_span), None)


@dataclass(frozen=True, slots=True)
class Table:
    """A table on one page.

    Attributes
    ----------
    rows : tuple of TableRow
        The header rows and, below them, the other rows.
    header_rows : int
        Number of header rows.
    columns : tuple of (float, float)
        Left and right end of each column in points, along the direction of the text.
    caption : tuple of str
        The lines directly above the table, nearest last.
    unit : str
        The text that states the unit of the figures, such as "(in millions, except per share amounts)"; may be empty.
    first_page : int or None
        For a table that an earlier page begins, the index of that page; otherwise ``None``. If this page does not
        repeat the headers, the header rows are those of that page, and their cells have no spans.
    first_column : int
        Index of the first column in its sheet; 0 for a table of a page.
    """

    rows: tuple[TableRow, ...]
    header_rows: int
    columns: tuple[tuple[float, float], ...]
    caption: tuple[str, ...] = ()
    unit: str = ""
    first_page: int | None = None
    first_column: int = 0

    @property
    def headers(self) -> tuple[TableRow, ...]:
        return self.rows[: self.header_rows]

    @property
    def body(self) -> tuple[TableRow, ...]:
        """The rows below the header rows."""
        return self.rows[self.header_rows :]

    @property
    def start(self) -> int:
        """The lowest offset of the cells in the text of the page."""
        return min(cell.start for row in self.rows for cell in row.cells if cell.spans)

    @property
    def end(self) -> int:
        """The highest offset of the cells in the text of the page."""
        return max(cell.end for row in self.rows for cell in row.cells)

    @property
    def carried_columns(self) -> list[int]:
        """The columns with cells over several rows."""
        return sorted({cell.column for row in self.body for cell in row.cells if not cell.spans})

    @property
    def carries_upwards(self) -> bool:
        """Whether the text of a cell over several rows is below the first of them."""
        pairs = list(pairwise(self.body))
        return any(
            not cell.spans and (below := lower.cell(cell.column)) and below.spans and below.text == cell.text
            for upper, lower in pairs
            for cell in upper.cells
        )

    @property
    def label_columns(self) -> int:
        """Number of columns that name a row: those of labels over several rows and the next one, or the first one."""
        count = next(number for number in range(len(self.columns) + 1) if number not in self.carried_columns)
        return min(count + 1, len(self.columns) - 1) or 1

    @property
    def is_list(self) -> bool:
        """Whether most labels are signs, such as bullets, so that the rows are items of a list."""
        labels = [row.label for row in self.body if row.label and not row.is_section]
        return 2 * sum(not any(map(str.isalnum, label)) for label in labels) > len(labels)

    @property
    def unit_above(self) -> str:
        """The unit to show above the table; empty if a header cell contains the unit."""
        return "" if any(self.unit in cell.text for row in self.headers for cell in row.cells) else self.unit

    @property
    def unit_line(self) -> str:
        """The line of the caption with the unit to show above the table, or else this unit; it may be empty."""
        return next((line for line in self.caption if self.unit_above and self.unit_above in line), self.unit_above)

    def column_header(self, column: int) -> str:
        """Return the headers of a column, from all levels, such as "Year ended December 31 › 2023"; it may be empty.

        A level that consists of a unit in brackets belongs to the level above it, as in "Mass (kg)".
        """
        found = (row.cell(column) for row in self.headers)
        levels: list[str] = []
        for text in dict.fromkeys(cell.text for cell in found if cell):
            if levels and text[0] == "(" and text.find(")") == len(text) - 1:
                levels[-1] += f" {text}"
            else:
                levels.append(text)
        return HEADING_SEPARATOR.join(levels)

    def row_label(self, row: TableRow) -> str:
        """Return the sections and the label of a row, such as "Current assets › Cash"; it may be empty."""
        return HEADING_SEPARATOR.join(filter(None, (*row.section, row.label)))

    def list_labels(self, row: TableRow) -> list[str]:
        """Return the texts of the columns that name a row."""
        return [cell.text for cell in row.cells if cell.column < self.label_columns]

    def to_grid(self) -> list[list[str]]:
        """Return the text of each cell of each row; a cell over several columns is repeated in each of them."""
        grid = [[""] * len(self.columns) for _ in self.rows]
        for texts, row in zip(grid, self.rows, strict=True):
            for cell in row.cells:
                texts[cell.column : cell.column + cell.column_span] = [cell.text] * cell.column_span
        return grid

    def to_markdown(self, rows: Sequence[TableRow] | None = None) -> str:
        """Return the table in Markdown.

        Markdown has one header row, so the levels of a header are joined.

        Parameters
        ----------
        rows : sequence of TableRow, optional
            The rows below the header; by default all.
        """
        header = [self.column_header(column) for column in range(len(self.columns))]
        lines = [header, ["---"] * len(header)]
        for row in self.body if rows is None else rows:
            texts = [""] * len(header)
            for cell in row.cells:
                texts[cell.column] = cell.text
            lines.append(texts)
        return "\n".join(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in line)} |" for line in lines)

    def map_offsets(self, convert: Callable[[int], int]) -> Table:
        """Return the table with other offsets of its cells, for a text in which characters were added or removed."""
        rows = [
            replace(
                row,
                cells=tuple(
                    replace(cell, spans=tuple((convert(start), convert(end)) for start, end in cell.spans))
                    for cell in row.cells
                ),
            )
            for row in self.rows
        ]
        return replace(self, rows=tuple(rows))

    def to_json(self) -> list[Any]:
        """Return the table as lists, which are smaller than objects with keys; `from_json` reads them."""
        rows = [
            [
                row.indent,
                int(row.is_section),
                list(row.section),
                [
                    [cell.text, cell.column, cell.column_span, *(place for span in cell.spans for place in span)]
                    for cell in row.cells
                ],
                *([row.number] if row.number else []),
            ]
            for row in self.rows
        ]
        columns = [place for column in self.columns for place in column]
        sheet = [self.first_column] if self.first_column else []
        return [self.header_rows, columns, list(self.caption), self.unit, self.first_page, rows, *sheet]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Table:
        """Return the table that `to_json` converted."""
        header_rows, places, caption, unit, first_page, rows, *first_column = data
        return cls(
            rows=tuple(_row_from_json(row, is_header=number < header_rows) for number, row in enumerate(rows)),
            header_rows=header_rows,
            columns=_pairs(places),
            caption=tuple(caption),
            unit=unit,
            first_page=first_page,
            first_column=next(iter(first_column), 0),
        )


def _row_from_json(data: Sequence[Any], *, is_header: bool) -> TableRow:
    indent, is_section, section, cells, *number = data
    return TableRow(
        tuple(
            TableCell(text, _pairs(places), column, column_span, is_header)
            for text, column, column_span, *places in cells
        ),
        tuple(section),
        indent,
        bool(is_section),
        next(iter(number), 0),
    )


def _pairs(places: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple(zip(places[::2], places[1::2], strict=True))
