"""The rows of a table, on one page or several, and how the words of a question fit them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from rag_core.reading.cell_values import Quantity, parse_quantity, remove_unit, state_value
from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import contains_expansion
from rag_core.text.dates import YEAR, Period, blank_periods, find_periods, match_period
from rag_core.text.figures import keep_letters
from rag_core.text.names import MIN_SYMBOL_CHARS
from rag_core.text.words import Word, find_lemma, tokenize
from rag_core.types.tables import Table, TableRow

# Labels of rows that sum up the other rows.
_SUMMARY = frozenset("total subtotal average mean sum overall all".split())
# Labels of rows that are no segment, region or business, but reconcile them with the total.
_RECONCILING = re.compile(
    r"(?:corporate|group|head office|central|holding)\s+(?:costs?|expenses?|functions?|items?)\b"
    r"|.*\b(?:eliminations?|unallocated|inter-?segment)\b",
    re.IGNORECASE,
)
_LONGEST_NUMBER = 2


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
    """The rows of a table below its headers, without headings of sections, totals and reconciling items.

    Parameters
    ----------
    parts : sequence of (int, Table)
        The index of each page and the part of the table on it.
    context : str
        What the rows have in common: the names of the document and the section. The caption is added to it.
    question : str
        If it contains all words of the label of one section of the table, only the rows of this section count.
    counted : str
        What an answer calls the rows: "columns" if they are the cells of one row.
    """

    def __init__(
        self, parts: Sequence[tuple[int, Table]], context: str, question: str, *, counted: str = "rows"
    ) -> None:
        self.table = parts[0][1]
        self.source, self.counted = context, counted
        self.columns = range(len(self.table.columns))
        placed = [PlacedRow(page, table, row) for page, table in parts for row in table.body if not row.is_section]
        self.with_totals = placed
        asked = find_lemmas(question)
        self.rows = [
            one
            for one in placed
            if not _is_summary(one)
            and not (_RECONCILING.match(one.row.label) and not find_lemmas(one.row.label) <= asked)
        ]
        section = _find_section({one.row.section for one in self.rows}, question)
        if section is not None:
            self.rows = [one for one in self.rows if one.row.section == section]
        kept = {one.row.section for one in self.rows}
        totals = [one.row.label for one in placed if _is_summary(one) and one.row.section in kept]
        sections = [label for one in kept for label in one]
        above = " ".join([*self.table.caption, self.table.unit, *totals, *sections])
        self.context = find_lemmas(f"{context} {above}") | find_joined_names(question, context)
        self.periods = [*find_periods(above), *find_periods(context)]
        years = {one.year for one in find_periods(above) or self.periods if one.year}
        self._year = years.pop() if len(years) == 1 else 0

    @cached_property
    def is_plain(self) -> bool:
        """Whether all rows have a label of their own, none is part of another, and all parts have the same columns."""
        depths = {(row.row.indent, len(row.row.section)) for row in self.rows}
        widths = {len(row.table.columns) for row in self.rows}
        sections = {row.row.section for row in self.rows}
        labels = [row.text(0) for row in self.rows]
        is_unique = len(sections) == 1 or len(set(labels)) == len(labels)
        return len(self.rows) > 1 and len(depths) == 1 and len(widths) == 1 and is_unique and all(labels)

    @property
    def places(self) -> set[tuple[int, int]]:
        """The page and the offset of each row."""
        return {(row.page_index, row.start) for row in self.rows}

    @cached_property
    def is_by_period(self) -> bool:
        """Whether the labels of the rows are years or parts of years."""
        return all(
            len(find_periods(row.text(0))) == 1 and not find_lemmas_without_periods(row.text(0)) for row in self.rows
        )

    def header(self, column: int) -> str:
        return self.table.column_header(column)

    def header_lemmas(self, column: int) -> set[str]:
        """Return the lemmas of the words of a header, without its unit and its periods."""
        return find_lemmas_without_periods(remove_unit(self.header(column)))

    def find_periods(self, text: str) -> list[Period]:
        """Return the periods of a header or a cell. A part of a year without a year is of the year in the caption."""
        return [one if one.year else replace(one, year=self._year) for one in find_periods(text)]

    def header_periods(self, column: int) -> list[Period]:
        return self.find_periods(self.header(column))

    def is_like(self, other: TableRows) -> bool:
        """Return whether another table, with other rows, has most headers of this one."""
        headers, others = ({one.header(column) for column in one.columns} - {""} for one in (self, other))
        is_same_kind = self.header(0) == other.header(0) and bool(find_lemmas_without_periods(self.header(0)))
        is_same = not self.places.isdisjoint(other.places)
        return is_same_kind and not is_same and 2 * len(headers & others) > max(len(headers), len(others))

    def contradicts(self, column: int, question: str) -> bool:
        """Return whether a header has a number or letter, as in "Week 1", other than the question, as in "week 2"."""
        asked = find_numbered_words(question)
        return any(
            word in {one for one, _ in asked} and (word, number) not in asked
            for word, number in find_numbered_words(remove_unit(self.header(column)))
        )

    def count_numbered(self, column: int, question: str) -> int:
        """Return how many numbered words, such as "Week 1", a header shares with the question."""
        return len(find_numbered_words(remove_unit(self.header(column))) & find_numbered_words(question))

    def quantities(self, column: int) -> list[Quantity] | None:
        """Return the numbers of a column, by row; ``None`` if a cell has none, or if their units differ."""
        found = [parse_quantity(row.text(column)) for row in self.rows]
        known = [one for one in found if one is not None]
        units = {one.unit for one in known}
        # A currency symbol often stands in the first row only, but "900" below "€300m" may be in any scale.
        is_clear = all(one.unit or not one.value for one in known) or not any(one.power for one in known)
        return known if len(known) == len(found) and len(units - {""}) <= 1 and is_clear else None

    def unit(self, column: int) -> str:
        """Return the unit of a column in lower case, from its cells or its header; it may be empty."""
        quantities = self.quantities(column) or []
        own = next((one.unit for one in quantities if one.unit), "")
        value = self.rows[0].state_value(column)
        stated = parse_quantity(value)
        return own or (stated.unit if stated else "")

    def find_mentioned_texts(self, question: str, column: int) -> list[str]:
        """Return the different texts of a column that a question contains, without those inside a longer one.

        A text without letters, such as "3", counts only directly after a word of the header, and a period as a label if
        the question names the same one.
        """
        asked = tokenize(question)
        texts = dict.fromkeys(row.text(column) for row in self.rows if row.text(column))
        if column == 0 and self.is_by_period:
            labels = {text: self.find_periods(text)[0] for text in texts}
            named = [one for period in find_periods(question) for one in match_period(period, labels.values())]
            return [text for text, period in labels.items() if period in named]
        found: dict[str, tuple[int, int]] = {}
        for text in texts:
            place = self._find(text, asked, column)
            if place is not None:
                found[text] = place
        return [
            text
            for text, (start, end) in found.items()
            if not any(
                first <= start and end <= last and (first, last) != (start, end) for first, last in found.values()
            )
        ]

    def dates(self, column: int) -> list[Period] | None:
        """Return the dates or parts of years of a column, by row; ``None`` if a cell contains something else."""
        found = [self.find_periods(row.text(column)) for row in self.rows]
        is_dated = all(
            len(one) == 1 and one[0].year and one[0].part and not find_lemmas_without_periods(row.text(column))
            for row, one in zip(self.rows, found, strict=True)
        )
        return [one[0] for one in found] if is_dated else None

    def _find(self, text: str, asked: Sequence[Word], column: int) -> tuple[int, int] | None:
        words = [word.folded for word in tokenize(text)]
        if not words:
            return None
        is_text = re.search(r"[^\W\d_]{2}|[^\W\d_] \d", text) is not None
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
        return re.fullmatch(YEAR, text) is not None and any(find_lemma(word.folded) in names for word in asked)


def find_lemmas(text: str) -> set[str]:
    """Return the lemmas of the content words of a text."""
    return {find_lemma(word.folded) for word in tokenize(text) if word.content}


def find_joined_names(question: str, context: str) -> set[str]:
    """Return the lemmas of the names in a question that a context joins, as "Best Buy" in "BESTBUY_2023.pdf"."""
    joined = keep_letters(context)
    names = (word for word in tokenize(question) if word.text[0].isupper() and len(word.text) >= MIN_SYMBOL_CHARS)
    return {find_lemma(word.folded) for word in names if keep_letters(word.folded) in joined}


def find_lemmas_without_periods(text: str) -> set[str]:
    """Return the lemmas of a text without the words of its periods."""
    return find_lemmas(blank_periods(text))


def find_acronyms(question: str, text: str) -> set[str]:
    """Return the lemmas of the acronyms in a question whose words a text contains.

    >>> find_acronyms("What were sales in EMEA?", "Europe, Middle East & Africa")
    {'emea'}
    """
    source = AnnotatedText(text)
    return {find_lemma(word.folded) for word in tokenize(question) if contains_expansion(source, word)}


def find_numbered_words(text: str) -> set[tuple[str, str]]:
    """Return the words that a number or a single letter follows directly, as in "week 2" and "Phase B"."""
    words = tokenize(text)
    return {
        (find_lemma(word.folded), following.folded)
        for word, following in pairwise(words)
        if word.content
        and text[word.end : following.start] in (" ", "-")
        and (len(following.text) == 1 or (following.text.isdigit() and len(following.text) <= _LONGEST_NUMBER))
    }


def _find_section(sections: Collection[tuple[str, ...]], question: str) -> tuple[str, ...] | None:
    """Return the section whose label has the most words, all of them in the question; ``None`` without a single one."""
    asked = find_lemmas(question)
    words = {section: find_lemmas(section[-1]) for section in sections if section}
    fitting = [section for section in words if words[section] and words[section] <= asked]
    most = max((len(words[section]) for section in fitting), default=0)
    best = [section for section in fitting if len(words[section]) == most]
    return best[0] if len(best) == 1 and len(sections) > 1 else None


def _is_summary(placed: PlacedRow) -> bool:
    """Return whether the label of a row begins with a word such as "total" or "average", or ends with "total".

    A name such as "All Nippon Airways" is no summary, unless the headers, the section or the caption contain its words.
    """
    words = tokenize(placed.row.label)
    if len(words) > 2 and words[0].folded == "all" and words[1].text[0].isupper():
        headers = map(placed.table.column_header, range(len(placed.table.columns)))
        known = find_lemmas(" ".join([*headers, *placed.row.section, *placed.table.caption]))
        return find_lemmas(" ".join(word.folded for word in words[1:])) <= known
    return bool(words) and (words[0].folded in _SUMMARY or words[-1].folded in {"total", "subtotal"})
