"""Look up cells of tables by words of their row and column, with their numbers, units and scales."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag_core.text.numbers import CURRENCIES, CURRENCY_CODE, SCALES, Number, parse_numbers
from rag_core.text.scales import find_table_scales
from rag_core.text.units import read_unit
from rag_core.text.words import find_content_stems
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.tables import Table, TableCell, TableRow

# Minimum share of the wanted words in the label and the sections of a row.
_MIN_SHARE = 0.6
# Words in labels of percentages and of values per unit, to which the scale of a table does not apply.
_PER_UNIT = re.compile(r"\bper\b|%|\bpercent|\bEPS\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_SYMBOL = r"US\$|[$€£¥]"
_CURRENCY = re.compile(rf"{_SYMBOL}|\s|{CURRENCY_CODE}")
# A figure without a unit, which may have a currency symbol.
_FIGURE = re.compile(rf"[(−–-]?\s?(?P<symbol>{_SYMBOL})?\s?[(−–-]?(?P<digits>\d[\d.,\u00a0\u2009\u202f]*)\)?")
_BRACKETS = re.compile(r"[(\[]([^()\[\]\d]+)[)\]]\s*$")
_FOOTNOTE = re.compile(r"[a-f*†]|[ivx]+|(?:note|see)\b.*", re.IGNORECASE)
# Maximum number of letters of the symbol of a unit.
_MAX_SYMBOL = 4
# Numbers of characters at the beginning of a page, and before a table, in which a stated scale applies to the table.
_HEAD, _BEFORE = 700, 300


@dataclass(frozen=True, slots=True)
class FoundCell:
    """A table cell that `find_cells` found, with its number.

    Attributes
    ----------
    page_index : int
        Page of the table.
    table : Table
    row : TableRow
    cell : TableCell
    number : Number
        The only number in the cell.
    score : float
        Score of the row, from 0 to 1; see `find_cells`.
    """

    page_index: int
    table: Table
    row: TableRow
    cell: TableCell
    number: Number
    score: float

    @property
    def start(self) -> int:
        """Offset of the row's first character in the text of the page."""
        return min(cell.start for cell in self.row.cells if cell.spans)

    @property
    def end(self) -> int:
        """Offset after the row in the text of the page."""
        return max(cell.end for cell in self.row.cells)

    @property
    def label(self) -> str:
        """The sections and the labels of the row."""
        return HEADING_SEPARATOR.join(filter(None, (*self.row.section, *self.table.list_labels(self.row))))

    @property
    def header(self) -> str:
        """The headers of the column."""
        return self.table.column_header(self.cell.column)

    @property
    def text(self) -> str:
        """The text of the cell, with the currency symbol of its column and the unit of its header or label.

        A text that is not only a number is unchanged. The unit is found by `find_bracketed_unit`.
        """
        figure = _FIGURE.fullmatch(self.cell.text)
        if figure is None:
            return self.cell.text
        column = (row.cell(self.cell.column) for row in self.table.body)
        figures = (_FIGURE.fullmatch(cell.text) for cell in column if cell)
        symbols = {one["symbol"] for one in figures if one and one["symbol"]}
        symbol = symbols.pop() if len(symbols) == 1 and not figure["symbol"] else ""
        unit = find_bracketed_unit(self.header) or find_bracketed_unit(self.row.label)
        start = figure.start("digits")
        return f"{self.cell.text[:start]}{symbol}{self.cell.text[start:]}{'' if unit == '%' else ' '}{unit}".rstrip()

    @property
    def value(self) -> Decimal:
        """The number of the cell, multiplied by a scale in the cell, as in "€1.2bn".

        The value is negative if the cell begins with a bracket or a minus sign.
        """
        is_negative = _CURRENCY.sub("", self.cell.text)[0] in "(−–-"
        return min(self.number.values) * (-1 if is_negative else 1)

    @property
    def is_scaled(self) -> bool:
        """Whether the scale of the table applies to the number; false for percentages and values per unit."""
        return not _PER_UNIT.search(f"{self.label} {self.header} {self.cell.text}")


def find_cells(tables: Sequence[tuple[int, Table]], row: str, column: str, most_rows: int) -> list[FoundCell]:
    """Return cells with numbers in the rows and columns with the wanted words, best row first.

    The score of a row is the share of the wanted words in its label and sections, reduced a little if its label
    contains other words. It is 0 if its label contains none of the wanted words. Rows with a score below `_MIN_SHARE`
    are left out.

    Parameters
    ----------
    tables : sequence of (int, Table)
        Page indices and tables, most likely table first. Rows with equal scores keep this order.
    row : str
        Words of the label or the sections of the row.
    column : str
        Words of the header of the column, such as its year. Of each row, the cells whose headers contain most of these
        words are returned. These are all cells if ``column`` is empty, or if no header contains any of the words.
    most_rows : int
        Maximum number of rows.
    """
    wanted, column_words = find_content_stems(row), _find_stems_and_numbers(column)
    scored = [(_score_row(wanted, table, one), index, table, one) for index, table, one in _iter_rows(tables)]
    scored = sorted((one for one in scored if one[0] >= _MIN_SHARE), key=lambda one: -one[0])
    found: list[FoundCell] = []
    for score, index, table, wanted_row in scored[:most_rows]:
        cells = [cell for cell in wanted_row.cells if cell.column >= table.label_columns and _DIGIT.search(cell.text)]
        overlaps = [len(column_words & _find_stems_and_numbers(table.column_header(cell.column))) for cell in cells]
        best = max(overlaps, default=0)
        found += [
            FoundCell(index, table, wanted_row, cell, number, score)
            for cell, overlap in zip(cells, overlaps, strict=True)
            if overlap == best and (number := _parse_cell(cell.text))
        ]
    return found


def list_labels(tables: Sequence[tuple[int, Table]]) -> list[str]:
    """Return the distinct labels of the rows of tables, each with the sections of its row, in order."""
    return list(dict.fromkeys(table.row_label(row) for _, table, row in _iter_rows(tables) if row.label))


def find_bracketed_unit(label: str) -> str:
    """Return the unit in brackets, or the percent sign, at the end of a header or row label; empty if there is none.

    >>> [find_bracketed_unit(one) for one in ("Rain 2022 (mm)", "Cost (GBP)", "Net sales (restated)")]
    ['mm', 'GBP', '']
    """
    match = _BRACKETS.search(label)
    if match is None:
        return "%" if label.endswith("%") else ""
    unit = match[1].strip()
    known = (
        len(word) <= _MAX_SYMBOL or word in CURRENCIES or word in SCALES or word.endswith("s")
        for word in unit.casefold().split()
    )
    return unit if all(known) and not _FOOTNOTE.fullmatch(unit) else ""


def read_scale(table: Table, text: str) -> int | None:
    """Return the scale of a table as a power of ten; ``None`` if neither the table nor its page states a scale.

    ``text`` is the text of the page.
    """
    headers = " ".join(cell.text for row in table.headers for cell in row.cells)
    around = (text[max(0, table.start - _BEFORE) : table.start], text[:_HEAD]) if table.headers else ()
    stated = (
        read_unit(table.unit.strip("()[]"), in_brackets=True),
        read_unit(headers),
        read_unit(" ".join(table.caption)),
    )
    return next((min(scales) for scales in (*stated, *map(find_table_scales, around)) if scales), None)


def _parse_cell(text: str) -> Number | None:
    """Return the number of a cell; ``None`` if the cell contains no number, several, or words before the number."""
    numbers = parse_numbers(text, spaced=False)
    if len(numbers) != 1 or numbers[0].kind not in ("", "percent"):
        return None
    rest = text[: numbers[0].start] + text[numbers[0].end :]
    before = _CURRENCY.sub("", text[: numbers[0].start])
    return None if _DIGIT.search(rest) or any(map(str.isalpha, before)) else numbers[0]


def _iter_rows(tables: Sequence[tuple[int, Table]]) -> Iterator[tuple[int, Table, TableRow]]:
    """Yield the page index, the table and the row of each row that is not a section or an item of a list."""
    for page, table in tables:
        for row in table.body:
            if not row.is_section and not table.is_list and any(cell.spans for cell in row.cells):
                yield page, table, row


def _score_row(wanted: set[str], table: Table, row: TableRow) -> float:
    """Return the score of a row for the stems of the wanted words; see `find_cells`."""
    label, sections = find_content_stems(" ".join(table.list_labels(row))), find_content_stems(" ".join(row.section))
    shared = len(wanted & (label | sections))
    if not wanted or not wanted & label:
        return 0.0
    precision = len(wanted & label) / len(label)
    return shared / len(wanted) * (0.8 + 0.2 * precision)


def _find_stems_and_numbers(text: str) -> set[str]:
    """Return the stems and the numbers of a text. "FY2023" contains the number 2023."""
    return find_content_stems(text) | set(re.findall(r"\d{4}|\d+", text))
