"""The financial statements of a document, read from its tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from rag_core.finance.line_items import BY_NAME, LineItem, Statement, compile_label
from rag_core.finance.measures import find_statement, find_title_end, find_title_lines
from rag_core.text.dates import MONTHS, YEAR, names_part_of_year
from rag_core.text.numbers import SCALES, find_table_scales
from rag_core.types.tables import Table, TableCell, TableRow

# How many characters at the top of a page, or before a table, may contain the title of its statement.
_HEAD = 700
# How many characters above a table may contain headers that the table lacks.
_LONGEST_HEADER = 250
# Lines of which a page must contain two in order to be a statement, and not only a page that mentions one.
_CORE: Mapping[Statement, tuple[str, ...]] = {
    Statement.BALANCE: (
        "total assets", "total current assets", "total liabilities", "total current liabilities",
        "shareholders' equity", "cash and cash equivalents", "accounts payable",
    ),
    Statement.INCOME: (
        "revenue", "cost of goods sold", "gross profit", "operating income", "income before taxes", "income taxes",
        "net income",
    ),
    Statement.CASH: (
        "cash from operating activities", "cash from investing activities", "cash from financing activities",
        "net income", "depreciation and amortization", "capital expenditures",
    ),
}  # fmt: skip
_LEAST_CORE = 2
# Titles of statements of a part of the company, or of other periods than its fiscal years.
_OF_PARTS = re.compile(
    r"\b(?:consolidating|parent (?:company|only)|guarantors?|pro forma|selected|"
    r"(?:operations|income|sheets?|flows?) data)\b",
    re.I,
)
# A statement has at most this many pages.
_MAX_PAGES = 3
_COVER_PAGES = 2
_QUARTERLY = re.compile(r"\bquarterly (?:report|period)\b", re.I)
_ANNUAL = re.compile(r"\bannual report\b", re.I)
_YEAR = re.compile(rf"(?<!\d)({YEAR})(?!\d)|\bFY\s?['’]?(\d\d)\b")
_PART_OF_YEAR = re.compile(
    r"\b(?:three|six|nine|3|6|9)[- ]months?|\bquarters?\b|\bhalf\b|\b(?:1[234]|26|27|39|40)[- ]weeks?", re.I
)
_NOT_A_PERIOD = re.compile(r"%|\b(?:change|variance|increase|decrease|notes?|percent)\b", re.I)
_FIGURE = re.compile(r"\(?-?[$€£¥]?\s?\(?-?[$€£¥]?\s?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\)?")
_REMARK = re.compile(r"\((?!loss|benefit|losses|used|provided)[^()]*\)?|\[[^\]]*\]|(?<=[a-z])\s?[¹²³⁰⁴-⁹]+")
_CURRENCY = re.compile(r"[$€£¥]")
_CURRENCY_WORDS = (
    ("dollar", "$"),
    ("usd", "$"),
    ("euro", "€"),
    ("eur", "€"),
    ("sterling", "£"),
    ("gbp", "£"),
    ("yen", "¥"),
)
_CONTINUED = re.compile(r"continued|cont['’]d|concluded", re.I)
_EARLY_MONTH = "|".join(MONTHS[:2])
_EARLY_YEAR_END = re.compile(rf"\b(?:{_EARLY_MONTH})\b", re.I)
_NAMED_YEAR = re.compile(
    rf"\bfiscal (?:year )?(?P<named>{YEAR})\b[^.;]{{0,40}}?\b(?:ended|ending|ends)\b[^.;]{{0,30}}?"
    rf"\b(?:{_EARLY_MONTH}) \d{{1,2}}, (?P<dated>{YEAR})",
    re.I,
)


LoadTables = Callable[[Sequence[int]], Mapping[int, Sequence[Table]]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a statement.

    Attributes
    ----------
    page_index : int
    start, end : int
        Character span of its row in the text of the page.
    label : str
    value : Decimal
        In the unit of the currency, or per share.
    written : Decimal
        As in the table, without the scale.
    decimals : int
        Number of decimal places in the table.
    scale : int or None
        Power of ten of the table's figures; ``None`` if the table and its page do not state it.
    currency : str
        A sign such as ``$``; empty if unknown.
    """

    page_index: int
    start: int
    end: int
    label: str
    value: Decimal
    written: Decimal
    decimals: int
    scale: int | None
    currency: str


@dataclass(frozen=True, slots=True)
class _Column:
    index: int
    year: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A table of a statement, with what it inherits from the table before it on the page."""

    page_index: int
    table: Table
    columns: tuple[_Column, ...]
    scale: int | None
    currency: str


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A row with the label in the form in which the patterns of labels match it."""

    part: _Part
    row: TableRow
    label: str


class Statements:
    """The primary statements of a document.

    Parameters
    ----------
    texts : mapping of int to str
        The texts of all pages of the document, by the index of the page.
    load_tables : callable
        Returns the tables of the given pages, by the index of the page.
    """

    def __init__(self, texts: Mapping[int, str], load_tables: LoadTables) -> None:
        cover = " ".join(texts.get(page, "") for page in range(_COVER_PAGES))
        # The columns of interim statements look like those of years.
        interim = _QUARTERLY.search(cover) and not _ANNUAL.search(cover)
        self._texts = texts
        self._pages = {one: [] for one in Statement} if interim else _find_titled_pages(texts)
        followed = {page + more for pages in self._pages.values() for page in pages for more in range(_MAX_PAGES)}
        self._tables = load_tables(sorted(followed))
        self._lines = {statement: self._find_lines(statement) for statement in Statement}

    @cached_property
    def _year_shift(self) -> int:
        # All pages are searched, so this is done once, and only for years that end early.
        return _find_year_shift(self._texts)

    @property
    def years(self) -> frozenset[int]:
        """The fiscal years of which the statements contain figures."""
        return frozenset(
            column.year for lines in self._lines.values() for line in lines for column in line.part.columns
        )

    def find(self, item: LineItem, year: int) -> tuple[Figure, ...]:
        """Return the figures of a line for a fiscal year: one, or several if the line is a sum; empty if not found."""
        for statement in item.statements:
            found: list[Figure] = []
            for pattern in item.labels:
                matching = compile_label(pattern)
                figures = (
                    self._read(line, year, item) for line in self._lines[statement] if matching.fullmatch(line.label)
                )
                found += dict.fromkeys(figure for figure in figures if figure is not None and figure not in found)
                # The first label of a sum is that of the sum itself.
                if found and (not item.is_sum or pattern == item.labels[0]):
                    return (found[0],)
            if found:
                return tuple(found)
        return ()

    def _read(self, line: _Line, year: int, item: LineItem) -> Figure | None:
        part, row = line.part, line.row
        column = next((one for one in part.columns if one.year == year), None)
        cell = row.cell(column.index) if column else None
        if cell is None or not cell.column:
            return None
        written = _parse_figure(cell)
        if written is None:
            return None
        if item.is_positive:
            written = abs(written)
        scale = 0 if item.is_per_share else part.scale
        spans = [span for one in row.cells for span in one.spans]
        exponent = written.as_tuple().exponent
        return Figure(
            part.page_index,
            min(start for start, _ in spans),
            max(end for _, end in spans),
            row.label,
            written.scaleb(scale or 0),
            written,
            -exponent if isinstance(exponent, int) and exponent < 0 else 0,
            scale,
            part.currency,
        )

    def _find_lines(self, statement: Statement) -> tuple[_Line, ...]:
        """Return the rows of a statement: those of the page that has most of its lines, and of the next pages."""
        best: tuple[_Line, ...] = ()
        most = (False, 0, 0)
        for page in self._pages[statement]:
            pages = [page]
            while len(pages) < _MAX_PAGES and self._continues(statement, pages[-1] + 1):
                pages.append(pages[-1] + 1)
            parts = [part for one in pages for part in self._read_page(one, self._tables.get(one, ()))]
            lines = tuple(_Line(part, row, _read_label(row)) for part in parts for row in _figure_rows(part.table))
            core = _count_lines(lines, _CORE[statement])
            quality = (not _OF_PARTS.search(self._texts[page][:_HEAD]), core, len(lines))
            if core >= _LEAST_CORE and quality > most and any(part.columns for part in parts):
                most, best = quality, lines
        return best

    def _continues(self, statement: Statement, page: int) -> bool:
        """Return whether a page continues the statement: its first table began on an earlier page, or it says so."""
        tables = self._tables.get(page)
        if not tables:
            return False
        head = self._texts.get(page, "")[:_HEAD]
        titled = find_statement(head)
        if titled is not None and titled is not statement:
            return False
        return tables[0].first_page is not None or (titled is statement and _CONTINUED.search(head) is not None)

    def _read_page(self, page: int, tables: Sequence[Table]) -> Iterator[_Part]:
        columns: tuple[_Column, ...] = ()
        scale: int | None = None
        currency = ""
        width = 0
        text = self._texts.get(page, "")
        for table in tables:
            own = self._read_columns(table, text)
            if own:
                columns = own
            elif len(table.columns) != width:
                columns = ()
            width = len(table.columns)
            own_scale = read_scale(table, text)
            scale = scale if own_scale is None else own_scale
            currency = _read_currency(table) or currency
            yield _Part(page, table, columns, scale, currency)

    def _read_columns(self, table: Table, text: str) -> tuple[_Column, ...]:
        """Return the columns of fiscal years; columns of a part of a year, changes and percentages are left out."""
        width = len(table.columns)
        headers = {index: table.column_header(index) for index in range(1, width)}
        context = f"{table.column_header(0)} {' '.join(table.caption)}"
        if not any(headers.values()):
            # The table finder left the headers in the text above the table.
            lines = text[max(0, table.start - _LONGEST_HEADER) : max(0, table.start)]
            lines = lines[find_title_end(lines) :]
            years = _YEAR.findall(lines)
            if len(years) != width - 1 or _is_part_of_year(lines):
                return ()
            context = lines
            headers = {index: first or f"20{short}" for index, (first, short) in enumerate(years, 1)}
        found: dict[int, _Column] = {}
        for index, header in headers.items():
            years = _YEAR.findall(header)
            if not years or _NOT_A_PERIOD.search(header) or _is_part_of_year(header):
                continue
            first, short = years[-1]
            year = int(first or f"20{short}")
            if _EARLY_YEAR_END.search(f"{header} {context}"):
                year += self._year_shift
            found.setdefault(year, _Column(index, year))
        return tuple(found.values())


def _is_part_of_year(header: str) -> bool:
    return _PART_OF_YEAR.search(header) is not None or names_part_of_year(header)


def _find_titled_pages(texts: Mapping[int, str]) -> dict[Statement, list[int]]:
    """Return the pages on which a line consists of the title of a statement and little else."""
    found: dict[Statement, list[int]] = {statement: [] for statement in Statement}
    for page in sorted(texts):
        for statement in find_title_lines(texts[page]):
            found[statement].append(page)
    return found


def _find_year_shift(texts: Mapping[int, str]) -> int:
    """Return -1 if the fiscal years that end early in a year have the number of the year before; else 0."""
    named = [
        int(match["named"]) - int(match["dated"]) for text in texts.values() for match in _NAMED_YEAR.finditer(text)
    ]
    return -1 if named.count(-1) > named.count(0) else 0


def _figure_rows(table: Table) -> Iterator[TableRow]:
    """Yield the rows with figures. A row without a label that ends a section gets the label of a total."""
    body = table.body
    for position, row in enumerate(body):
        if row.is_section or not row.cells:
            continue
        if row.label:
            if len(row.cells) > 1:
                yield row
        elif row.section and (position + 1 == len(body) or body[position + 1].section != row.section):
            yield replace(row, cells=(TableCell(f"Total {row.section[-1]}", (), 0), *row.cells))


def _count_lines(lines: Sequence[_Line], names: Sequence[str]) -> int:
    labels = {line.label for line in lines}
    return sum(any(map(compile_label("|".join(BY_NAME[name].labels)).fullmatch, labels)) for name in names)


def _read_label(row: TableRow) -> str:
    """Return the label of a row in lower case, without remarks in brackets, marks of footnotes and final colons."""
    label = _REMARK.sub(" ", row.label.casefold().replace("’", "'"))
    return " ".join(label.split()).rstrip(" :.,*").replace(" ,", ",")


def _parse_figure(cell: TableCell) -> Decimal | None:
    text = " ".join(cell.text.split())
    if re.fullmatch(r"[$€£¥]?\s?[-–—]+", text):
        return Decimal(0)
    match = _FIGURE.fullmatch(text)
    if match is None:
        return None
    value = Decimal(match[1].replace(",", ""))
    return -value if "(" in text or text.lstrip("$€£¥ ").startswith("-") else value


def read_scale(table: Table, text: str) -> int | None:
    """Return the power of ten of a table's figures; ``None`` if neither the table nor its page states it.

    ``text`` is the text of the page.
    """
    headers = " ".join(cell.text for row in table.headers for cell in row.cells)
    before = text[max(0, table.start - 300) : table.start] if table.headers else ""
    for part in (table.unit, headers, " ".join(table.caption), before, text[:_HEAD] if table.headers else ""):
        words = re.search(r"\b(thousand|million|billion)s?\b|[$€£]\s?000s?|\bin 000s\b", part, re.I)
        if scales := find_table_scales(part):
            return min(scales)
        if words and part is table.unit:
            return SCALES[(words[1] or "thousand").casefold()]
    return None


def _read_currency(table: Table) -> str:
    for row in table.rows:
        for cell in row.cells[1:]:
            if match := _CURRENCY.search(cell.text):
                return match[0]
    unit = table.unit.casefold()
    return next((sign for word, sign in _CURRENCY_WORDS if word in unit), "")
