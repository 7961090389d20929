"""The rows of a table, on one page or several, and how the words of a question fit them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_core.reading.cell_values import Quantity, parse_quantity, state_value
from rag_core.text.dates import YEAR
from rag_core.text.words import Word, find_lemma, tokenize
from rag_core.types.tables import Table, TableCell, TableRow

# Labels of rows that sum up the other rows.
_SUMMARY = frozenset("total subtotal average mean sum overall all".split())
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]\s*$")
_YEAR = re.compile(rf"(?<!\d){YEAR}(?!\d)")


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

    def text(self, column: int) -> str:
        """Return the text of a cell; empty if the cell is."""
        cell = self.row.cell(column)
        return cell.text if cell else ""

    def state_value(self, column: int) -> str:
        """Return the text of a cell with its unit."""
        cell = self.row.cell(column)
        return state_value(self.table, self.row, cell) if cell else ""


class TableRows:
    """The rows of a table below its headers, without headings of sections and without totals.

    Parameters
    ----------
    parts : sequence of (int, Table)
        The index of each page and the part of the table on it.
    context : str
        What the rows have in common: the names of the document and the section. The caption is added to it.
    question : str
        If it contains all words of the label of one section of the table, only the rows of this section count.
    """

    def __init__(self, parts: Sequence[tuple[int, Table]], context: str, question: str) -> None:
        self.table = parts[0][1]
        self.columns = range(len(self.table.columns))
        placed = [PlacedRow(page, table, row) for page, table in parts for row in table.body if not row.is_section]
        self.rows = [one for one in placed if not _is_summary(one.row.label)]
        section = _find_section({one.row.section for one in self.rows}, question)
        if section is not None:
            self.rows = [one for one in self.rows if one.row.section == section]
        kept = {one.row.section for one in self.rows}
        totals = [one.row.label for one in placed if _is_summary(one.row.label) and one.row.section in kept]
        sections = [label for one in kept for label in one]
        self.context = find_lemmas(" ".join([context, *self.table.caption, self.table.unit, *totals, *sections]))

    @cached_property
    def is_plain(self) -> bool:
        """Whether all rows have a label of their own, none is part of another, and all parts have the same columns."""
        depths = {(row.row.indent, len(row.row.section)) for row in self.rows}
        widths = {len(row.table.columns) for row in self.rows}
        sections = {row.row.section for row in self.rows}
        labels = [row.text(0) for row in self.rows]
        is_unique = len(sections) == 1 or len(set(labels)) == len(labels)
        return len(self.rows) > 1 and len(depths) == 1 and len(widths) == 1 and is_unique and all(labels)

    @cached_property
    def is_by_year(self) -> bool:
        """Whether the labels of the rows are years."""
        return all(_YEAR.fullmatch(row.text(0)) for row in self.rows)

    def header(self, column: int) -> str:
        return self.table.column_header(column)

    def header_lemmas(self, column: int) -> set[str]:
        """Return the lemmas of the words of a header, without its unit and its years."""
        return {lemma for lemma in find_lemmas(_BRACKETS.sub("", self.header(column))) if not _YEAR.fullmatch(lemma)}

    def header_years(self, column: int) -> set[int]:
        return {int(year) for year in _YEAR.findall(self.header(column))}

    def cell(self, row: PlacedRow, column: int) -> TableCell | None:
        return row.row.cell(column)

    def quantities(self, column: int) -> list[Quantity] | None:
        """Return the numbers of a column, by row; ``None`` if a cell has none, or if their units differ."""
        found = [parse_quantity(row.text(column)) for row in self.rows]
        known = [one for one in found if one is not None]
        units = {one.unit for one in known}
        # A currency symbol often stands in the first row only.
        return known if len(known) == len(found) and len(units - {""}) <= 1 else None

    def unit(self, column: int) -> str:
        """Return the unit of a column in lower case, from its cells or its header; it may be empty."""
        quantities = self.quantities(column) or []
        own = next((one.unit for one in quantities if one.unit), "")
        value = self.rows[0].state_value(column)
        stated = parse_quantity(value)
        return own or (stated.unit if stated else "")

    def mentioned(self, question: str, column: int, without: Collection[int] = ()) -> list[str]:
        """Return the different texts of a column that a question contains, without those inside a longer one.

        A text without letters, such as "3", counts only directly after a word of the header.
        """
        asked = tokenize(question)
        texts = dict.fromkeys(row.text(column) for row in self.rows if row.text(column))
        found: dict[str, tuple[int, int]] = {}
        for text in texts:
            place = self._find(text, asked, column)
            if place is not None and not any(place[0] <= start < place[1] for start in without):
                found[text] = place
        return [
            text
            for text, (start, end) in found.items()
            if not any(
                first <= start and end <= last and (first, last) != (start, end) for first, last in found.values()
            )
        ]

    def _find(self, text: str, asked: Sequence[Word], column: int) -> tuple[int, int] | None:
        words = [word.folded for word in tokenize(text)]
        if not words:
            return None
        is_label = column == 0 and self.is_by_year
        is_text = is_label or re.search(r"[^\W\d_]{2}|[^\W\d_] \d", text) is not None
        names = self.header_lemmas(column)
        # The question may have the plural of the text, as in "How many parts are ball bearings?".
        forms = [words, [*words[:-1], f"{words[-1]}s"]] if is_text else [words]
        for first in range(len(asked) - len(words) + 1):
            follows_header = first > 0 and find_lemma(asked[first - 1].folded) in names
            is_meant = is_text or follows_header or self._is_year(text, asked, names)
            if is_meant and [word.folded for word in asked[first : first + len(words)]] in forms:
                return asked[first].start, asked[first + len(words) - 1].end
        return None

    @staticmethod
    def _is_year(text: str, asked: Sequence[Word], names: set[str]) -> bool:
        return _YEAR.fullmatch(text) is not None and any(find_lemma(word.folded) in names for word in asked)


def find_lemmas(text: str) -> set[str]:
    """Return the lemmas of the content words of a text."""
    return {find_lemma(word.folded) for word in tokenize(text) if word.content}


def _find_section(sections: Collection[tuple[str, ...]], question: str) -> tuple[str, ...] | None:
    """Return the section whose label has the most words, all of them in the question; ``None`` without a single one."""
    asked = find_lemmas(question)
    words = {section: find_lemmas(section[-1]) for section in sections if section}
    fitting = [section for section in words if words[section] and words[section] <= asked]
    most = max((len(words[section]) for section in fitting), default=0)
    best = [section for section in fitting if len(words[section]) == most]
    return best[0] if len(best) == 1 and len(sections) > 1 else None


def _is_summary(label: str) -> bool:
    words = [word.folded for word in tokenize(label)]
    return bool(words) and (words[0] in _SUMMARY or words[-1] in {"total", "subtotal"})
