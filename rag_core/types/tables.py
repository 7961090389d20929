"""Tables of pages: rows of cells, with the spans of each cell in the text of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_core.types.chunks import HEADING_SEPARATOR

# Start and end (exclusive) of a range of characters, usually in the text of a page.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell that is not empty.

    Attributes
    ----------
    text : str
        The words of the cell. Currency signs, percent signs and brackets are joined to their figures.
    spans : tuple of Span
        The spans of the cell's words in the text of the page, in the order of the words. A cell of several lines has
        several spans if other cells are between the lines. Cells without spans are:

        - headers that only an earlier page contains;
        - a cell that extends over several rows, in all rows except the one that contains its text.
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
        """Offset of the cell's first character in the text of the page; -1 for a cell without spans."""
        return min((start for start, _ in self.spans), default=-1)

    @property
    def end(self) -> int:
        """Offset after the cell's last character in the text of the page; -1 for a cell without spans."""
        return max((end for _, end in self.spans), default=-1)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes
    ----------
    cells : tuple of TableCell
        The cells that are not empty, from left to right.
    section : tuple of str
        Labels of the sections that contain this row, outermost first. A section begins with a row that contains only a
        label, or with a row that is less indented than the rows below it.
    indent : int
        Level of indentation of the label; 0 is not indented.
    is_section : bool
        Whether the row contains only a label and begins a section.
    number : int
        Number of the row in its spreadsheet, from 1; 0 in other documents.
    """

    cells: tuple[TableCell, ...]
    section: tuple[str, ...] = ()
    indent: int = 0
    is_section: bool = False
    number: int = 0

    @property
    def label(self) -> str:
        """The text of the cell in the first column; empty without such a cell."""
        first = self.cells[0]
        return "" if first.column else first.text

    def cell(self, column: int) -> TableCell | None:
        """Return the cell that covers a column; ``None`` if the row is empty there."""
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
        Left and right edge of each column in points, measured along the direction of the text.
    caption : tuple of str
        The lines directly above the table, from top to bottom.
    unit : str
        The words that state the unit of the figures, such as "(in millions, except per share amounts)"; may be empty.
    first_page : int or None
        Index of the page on which the table begins, if it continues from an earlier page; otherwise ``None``. If only
        the earlier page has headers, the header rows are copied from there, and their cells have no spans.
    first_column : int
        Index of the table's first column in its spreadsheet; 0 in other documents.
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
        """Offset of the table's first character in the text of the page."""
        return min(cell.start for row in self.rows for cell in row.cells if cell.spans)

    @property
    def end(self) -> int:
        """Offset after the table's last character in the text of the page."""
        return max(cell.end for row in self.rows for cell in row.cells)

    @property
    def carried_columns(self) -> list[int]:
        """Indices of the columns with cells that extend over several rows."""
        return sorted({cell.column for row in self.body for cell in row.cells if not cell.spans})

    @property
    def label_columns(self) -> int:
        """Number of columns, from the left, whose cells label the rows.

        In most tables, only the first column labels the rows. If the first columns have cells that extend over several
        rows, these columns and the next one label the rows.
        """
        count = next(number for number in range(len(self.columns) + 1) if number not in self.carried_columns)
        return min(count + 1, len(self.columns) - 1) or 1

    @property
    def is_list(self) -> bool:
        """Whether most row labels have no letter or digit, such as bullets, so that the rows are items of a list."""
        labels = [row.label for row in self.body if row.label and not row.is_section]
        return 2 * sum(not any(map(str.isalnum, label)) for label in labels) > len(labels)

    @property
    def unit_above(self) -> str:
        """The unit to show above the table; empty if a header cell contains the unit."""
        return "" if any(self.unit in cell.text for row in self.headers for cell in row.cells) else self.unit

    @property
    def unit_line(self) -> str:
        """The line of the caption that contains `unit_above`, or else `unit_above` itself; may be empty."""
        return next((line for line in self.caption if self.unit_above and self.unit_above in line), self.unit_above)

    def column_header(self, column: int) -> str:
        """Return the headers of a column from all header rows, such as "Year ended December 31 › 2023"; may be empty.

        A unit in brackets, such as "(kg)", is joined to the header above it, as in "Mass (kg)".
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
        """Return the sections and the label of a row, such as "Current assets › Cash"; may be empty."""
        return HEADING_SEPARATOR.join(filter(None, (*row.section, row.label)))

    def list_labels(self, row: TableRow) -> list[str]:
        """Return the texts of a row in the columns that label rows; see `label_columns`."""
        return [cell.text for cell in row.cells if cell.column < self.label_columns]

    def to_grid(self) -> list[list[str]]:
        """Return the text of each row in each column. The text of a cell that spans columns is repeated in each."""
        grid = [[""] * len(self.columns) for _ in self.rows]
        for texts, row in zip(grid, self.rows, strict=True):
            for cell in row.cells:
                texts[cell.column : cell.column + cell.column_span] = [cell.text] * cell.column_span
        return grid

    def to_markdown(self, rows: Sequence[TableRow] | None = None) -> str:
        """Return the table in Markdown, with the header rows joined into one.

        Parameters
        ----------
        rows : sequence of TableRow, optional
            The rows below the header; by default all rows of the body.
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
        """Return the table with converted offsets, for a text in which characters were added or removed."""
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
        """Return the table as nested lists, which take less space than objects with keys; see `from_json`."""
        rows = [
            [
                row.indent,
                int(row.is_section),
                list(row.section),
                [
                    [cell.text, cell.column, cell.column_span, *(offset for span in cell.spans for offset in span)]
                    for cell in row.cells
                ],
                *([row.number] if row.number else []),
            ]
            for row in self.rows
        ]
        columns = [edge for column in self.columns for edge in column]
        sheet = [self.first_column] if self.first_column else []
        return [self.header_rows, columns, list(self.caption), self.unit, self.first_page, rows, *sheet]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Table:
        """Return the table from the result of `to_json`."""
        header_rows, edges, caption, unit, first_page, rows, *first_column = data
        return cls(
            rows=tuple(_row_from_json(row, is_header=number < header_rows) for number, row in enumerate(rows)),
            header_rows=header_rows,
            columns=_pair_up(edges),
            caption=tuple(caption),
            unit=unit,
            first_page=first_page,
            first_column=next(iter(first_column), 0),
        )


def _row_from_json(data: Sequence[Any], *, is_header: bool) -> TableRow:
    indent, is_section, section, cells, *number = data
    return TableRow(
        tuple(
            TableCell(text, _pair_up(offsets), column, column_span, is_header)
            for text, column, column_span, *offsets in cells
        ),
        tuple(section),
        indent,
        bool(is_section),
        next(iter(number), 0),
    )


def _pair_up(numbers: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))
