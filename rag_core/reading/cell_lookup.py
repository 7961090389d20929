"""Look up the cells of tables by the words of their row and their column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag_core.reading.cell_values import Quantity, parse_quantity, state_value
from rag_core.text.words import find_lemma, tokenize
from rag_core.types.tables import Table, TableCell, TableRow

# Least share of the words of the wanted row that the label of a row and its sections must contain.
_LEAST_SHARE = 0.6
# Labels of percentages and of values per unit.
_PER_UNIT = re.compile(r"\bper\b|%|\bpercent|\bEPS\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row with its table and the index of its page."""

    page_index: int
    table: Table
    row: TableRow

    @property
    def start(self) -> int:
        """The offset of the first character in the text of the page."""
        return min(cell.start for cell in self.row.cells)

    @property
    def end(self) -> int:
        return max(cell.end for cell in self.row.cells)


@dataclass(frozen=True, slots=True)
class FoundCell:
    """A cell with a number.

    Attributes
    ----------
    placed : PlacedRow
    cell : TableCell
    score : float
        How well the labels of the row fit the wanted words, 0..1.
    """

    placed: PlacedRow
    cell: TableCell
    score: float

    @property
    def label(self) -> str:
        """The sections and the label of the row."""
        return self.placed.table.row_label(self.placed.row)

    @property
    def header(self) -> str:
        """The headers of the column."""
        return self.placed.table.column_header(self.cell.column)

    @property
    def text(self) -> str:
        """The text of the cell with its unit."""
        return state_value(self.placed.table, self.placed.row, self.cell)

    @property
    def quantity(self) -> Quantity | None:
        """The number of the cell with its unit; ``None`` if it contains no single number."""
        return parse_quantity(self.cell.text)

    @property
    def number(self) -> Decimal | None:
        """The number of the cell, without its scale; ``None`` if it contains no single number."""
        return self.quantity.value.scaleb(-self.quantity.power) if self.quantity else None

    @property
    def power(self) -> int:
        """The power of ten of the scale in the cell, as in "€1.2bn"; 0 without one."""
        return self.quantity.power if self.quantity else 0

    @property
    def is_scaled(self) -> bool:
        """Whether the scale of the table applies: to amounts, but not to percentages and values per unit."""
        return not _PER_UNIT.search(f"{self.label} {self.header} {self.cell.text}")


def find_cells(tables: Sequence[tuple[int, Table]], row: str, column: str, most_rows: int) -> list[FoundCell]:
    """Return cells with numbers whose row and column have the given words, best row first.

    Parameters
    ----------
    tables : sequence of (int, Table)
        The index of the page and the table, most likely table first; of equal rows, the first one comes first.
    row : str
        Words of the label of the row, or of the sections above it.
    column : str
        Words of the headers of the column, or its year; if it is empty, or fits no column, all columns are returned.
    most_rows : int
        Number of rows to return.
    """
    wanted, column_words = find_lemmas(row), _find_words(column)
    scored = [(_score(wanted, placed), placed) for placed in _iter_rows(tables)]
    scored = sorted((pair for pair in scored if pair[0] >= _LEAST_SHARE), key=lambda pair: -pair[0])
    found: list[FoundCell] = []
    for score, placed in scored[:most_rows]:
        cells = [cell for cell in placed.row.cells if cell.column and _DIGITS.search(cell.text)]
        overlaps = [len(column_words & _find_words(placed.table.column_header(cell.column))) for cell in cells]
        best = max(overlaps, default=0)
        found += [
            FoundCell(placed, cell, score)
            for cell, overlap in zip(cells, overlaps, strict=True)
            if overlap == best and parse_quantity(cell.text)
        ]
    return found


def find_lemmas(text: str) -> set[str]:
    """Return the lemmas of the content words of a text."""
    return {find_lemma(word.folded) for word in tokenize(text) if word.content}


def list_labels(tables: Sequence[tuple[int, Table]]) -> list[str]:
    """Return the different labels of the rows of tables, with their sections, in order."""
    return list(dict.fromkeys(one.table.row_label(one.row) for one in _iter_rows(tables) if one.row.label))


def _iter_rows(tables: Sequence[tuple[int, Table]]) -> Iterator[PlacedRow]:
    for page, table in tables:
        for row in table.body:
            if not row.is_section and not table.is_list and any(cell.spans for cell in row.cells):
                yield PlacedRow(page, table, row)


def _score(wanted: set[str], placed: PlacedRow) -> float:
    """Return the share of the wanted words in a row's labels; a label with fewer other words scores higher."""
    label, sections = find_lemmas(placed.row.label), find_lemmas(" ".join(placed.row.section))
    shared = len(wanted & (label | sections))
    if not wanted or not wanted & label:
        return 0.0
    precision = len(wanted & label) / len(label)
    return shared / len(wanted) * (0.8 + 0.2 * precision)


def _find_words(text: str) -> set[str]:
    """Return the lemmas and numbers of a text; years are written in one word, such as "FY2023" or "2023"."""
    return find_lemmas(text) | set(re.findall(r"\d{4}|\d+", text))
