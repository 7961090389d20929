"""Tables in page text: rows of figures, years as column headers, and scales such as "in millions"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from rag_core.text.dates import MONTH, QUARTER, YEAR
from rag_core.text.numbers import AMOUNT_SCALES, CURRENCIES, CURRENCY_CODE, SCALE_WORDS, Number, parse_numbers
from rag_core.text.words import find_content_stems, tokenize

_NUMBER = re.compile(r"\d[\d.,]*")
_FULL_YEAR = re.compile(YEAR)
# A line with more characters is a sentence, not a table row.
LONGEST_ROW_CHARS = 90
_LINE = re.compile(r"[^\n]*\n?")
_TOKEN = re.compile(r"[^ \t|]+")
_CURRENCY = r"(?:US\$|[$€£¥])"
_AMOUNT = rf"{_CURRENCY}?[−–-]?{_CURRENCY}?\d(?:[\d.,\u00a0\u2009\u202f]*\d)?%?"
# A figure includes a closing bracket only if it includes the opening one: in "(see Note 13)" the bracket belongs to the
# text.
_FIGURE = re.compile(rf"{_AMOUNT}|{_CURRENCY}?\({_AMOUNT}(?:\)%?)?")
_FOOTNOTE = re.compile(r"\(\d{1,2}\)")
_NOTHING = re.compile(rf"{_CURRENCY}?[—–−-]%?|nil|n/a", re.IGNORECASE)
# Symbols that a blank separates from their figure, as in "$ 34,229", "25 %" and "( 12 )".
_APART = re.compile(rf"{_CURRENCY}|\(|\)|%|\)%")
_NEGATIVE = re.compile(rf"^{_CURRENCY}?\s?[(−–-]")
_YEAR = re.compile(rf"(?:FY ?)?({YEAR})|FY ?['’]?(\d\d)")
YEARS = re.compile(rf"(?<![\d.,$€£¥/-])(?:\bFY ?)?({YEAR})(?![\d/-]|[.,]\d)|\bFY ?['’]?(\d\d)(?!\d)")
_BESIDE_YEARS = re.compile(rf"(?:{MONTH})[.,]?|\d{{1,2}},?|fiscal|FY|(?:un)?audited|restated|%", re.IGNORECASE)
_CHANGE = re.compile(r"%?(?:change|variance)\*?", re.IGNORECASE)
_NOTES = re.compile(r"notes?\b", re.IGNORECASE)
# Words and symbols that join years in a sentence or a title, but not in a column header.
_JOINING = frozenset("and or to from vs vs. versus through in of - – /".split())
# Words in the headers of columns that are not for whole years, but for quarters, months or half-years.
_OTHER_COLUMNS = re.compile(rf"\b(?:{QUARTER}|quarters?|months|half)\b", re.IGNORECASE)
_SENTENCE = re.compile(r".{60,}[.!?]$")
_CAPTION_LINES = 4
_LONGEST_CAPTION = 110
# Most digits in the number of a note. The amounts in the same row have more digits.
_NOTE_DIGITS = 2
_MONEY = rf"(?:US\$|[$€£¥]|\b(?:USD|EUR|GBP|CHF|{CURRENCY_CODE}|euros?|dollars?|pounds?)\b)"
# Matches "in millions", "(millions", "$ million", "£m", "Mio. EUR", "millions of euros", "£'000", but not "5 million".
_SCALE = re.compile(
    rf"(?:^|[(,;:]|\b(?:in|en)\s(?:[A-Za-z]+\s)?)\s*(?:{_MONEY}\s?)?(?P<a>{SCALE_WORDS})\b"
    rf"|{_MONEY}\s?(?:in\s)?(?P<b>{SCALE_WORDS}|m|k|b)\b"
    rf"|(?<!\d)(?<!\d\s)\b(?P<c>{SCALE_WORDS})\b\.?\s?(?:of\s|de\s|di\s|d['’])?\s?{_MONEY}"
    rf"|(?<![\d.,])(?:{_MONEY}\s?['’]?|['’])(?P<d>000)s?\b|(?<![\w.,])(?P<e>[Tk])(?:€|EUR)",
    re.IGNORECASE,
)
_SYMBOL = re.compile(_MONEY, re.IGNORECASE)
_IN_PERCENT = re.compile(r"(?<!\d)(?<!\d\s)%|\bper ?cent\b|\bpercentage\b", re.IGNORECASE)
_EACH = re.compile(r"\bper\b(?! ?cent)|\bprice", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table row; ``number`` is its figure, or ``None`` for a cell without a figure, such as a dash."""

    number: Number | None
    negative: bool = False


@dataclass(frozen=True, slots=True)
class ColumnHeader:
    """A line of years above table columns; ``columns`` has an empty string for each column without a year."""

    start: int
    end: int
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FigureRow:
    """A line of a table.

    Attributes
    ----------
    start, figures, end : int
        Offsets in the text: the start of the line, its first figure and its end.
    label : str
        The row's label. If the label begins in the line above, that line is included.
    cells : tuple of Cell
        Figures from left to right.
    head : ColumnHeader or None
        The nearest line of years above the row in the same table.
    above : tuple of str
        The lines above the row that are not table rows, nearest last: titles, the scale, years, section headings.
    """

    start: int
    figures: int
    end: int
    label: str
    cells: tuple[Cell, ...]
    head: ColumnHeader | None
    above: tuple[str, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(find_content_stems(self.label))

    @cached_property
    def section(self) -> frozenset[str]:
        """The stems of the content words in the lines above the row."""
        return frozenset(find_content_stems("\n".join(self.above)))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The year of each figure; empty if the assignment of figures to years is not clear."""
        years = self.head.columns if self.head else ()
        first, *others = (cell.number.text if cell.number else "" for cell in self.cells)
        may_be_note = first.isdigit() and len(first) <= _NOTE_DIGITS
        # The first column is for note numbers. A row that refers to no note has no cell for this column.
        if years and not years[0] and len(self.cells) == len(years) - 1 and not may_be_note:
            years = years[1:]
        unclear = may_be_note and all(len(other) > _NOTE_DIGITS for other in others if other) and years[:1] != ("",)
        if len(years) != len(self.cells) or unclear or any(map(parse_year, (first, *others))):
            return ()
        return years

    @cached_property
    def scale(self) -> int | None:
        """The power of ten that applies to the figures: 0 for per-unit and percentage rows, ``None`` if not stated."""
        # A caption such as "(in millions, except per share amounts)" is for all rows. So "per" in a line with a scale
        # does not make the rows below the line per-unit rows.
        nearest = self.above[-1] if self.above and parse_scale(self.above[-1]) is None else ""
        if _EACH.search(self.label) or _EACH.search(nearest) or _IN_PERCENT.search(self.label):
            return 0
        return next((scale for line in self.above[::-1] if (scale := parse_scale(line)) is not None), None)

    @cached_property
    def values(self) -> list[Number | None]:
        """The number of each cell. A percent sign in the label and the currency of the table apply to all cells."""
        symbols = {_currency(one[0]) for line in self.above if parse_scale(line) for one in _SYMBOL.finditer(line)}
        currency = symbols.pop() if len(symbols) == 1 else ""
        in_percent = bool(_IN_PERCENT.search(self.label))
        return [
            cell.number
            and replace(
                cell.number,
                currency=cell.number.currency or currency,
                kind="percent" if in_percent else cell.number.kind,
            )
            for cell in self.cells
        ]


def parse_rows(text: str) -> list[FigureRow]:
    """Return the table rows of a text, in order, each with the header of years above it.

    A table ends at a blank line or a sentence. The nearest line with years is the header of the rows below it. If the
    line is not clearly a header of year columns, the rows get no header.
    """
    found: list[FigureRow] = []
    above: list[str] = []
    head: ColumnHeader | None = None
    # ``has_row`` is true if a row has been found since the last header of years or the beginning of the table.
    # ``before`` is the previous line, unless that line is a row or a header of years.
    has_row, before = False, ""
    for match in _LINE.finditer(text):
        line = match[0].strip()
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        if has_row and (not line or _SENTENCE.match(line)):
            above, head, has_row = [], None, False
        if not line:
            above, before = above[-_CAPTION_LINES:], ""
            continue
        columns, named = _columns(line)
        at, cells = _cells(line)
        if columns:
            # A line that begins with words may be a row whose figures look like years. If the table already has a
            # header, it is then unclear which line is the header of later rows.
            clear = head is None or not named or parse_scale(line) is not None
            head, has_row = ColumnHeader(start, start + len(line), columns) if clear else None, False
            above = [*above[-_CAPTION_LINES:], line]
        elif len(cells) > 1 and any(cell.number for cell in cells) and tokenize(line[:at]):
            goes_on = before and (line[0].islower() or before.endswith(","))
            label = f"{before} {line[:at]}" if goes_on else line[:at]
            if head and len(cells) == len(head.columns) + 1 and _FOOTNOTE.match(line[at:]):
                cells = cells[1:]
            found.append(FigureRow(start, start + at, start + len(line), label, cells, head, tuple(above)))
            has_row = True
        else:
            if len(YEARS.findall(line)) > 1 or len(_OTHER_COLUMNS.findall(line)) > 1:
                head = None
            elif head and not has_row and _NOTES.match(line):
                head = replace(head, columns=("", *head.columns))
            # A line with more characters is part of a sentence, not a caption.
            if len(line) < _LONGEST_CAPTION:
                above.append(line)
        before = line if above[-1:] == [line] and not columns else ""
    return found


def parse_scale(line: str) -> int | None:
    """Return the power of ten that a line states as the scale of a table; ``None`` if it states no scale.

    >>> parse_scale("(in millions, except per share amounts)"), parse_scale("£'000"), parse_scale("It cost $5 million")
    (6, 3, None)
    """
    match = _SCALE.search(line)
    if match is None:
        return None
    if match["d"] or match["e"]:
        return 3
    return AMOUNT_SCALES[(match["a"] or match["b"] or match["c"]).casefold()]


def _currency(symbol: str) -> str:
    return CURRENCIES.get(symbol.casefold(), "")


def parse_year(text: str) -> str:
    """Return the four-digit year if a text is a year, such as ``2022`` or ``FY22``; else an empty string."""
    match = _YEAR.fullmatch(text)
    return (match[1] or f"20{match[2]}") if match else ""


def _cells(line: str) -> tuple[int, tuple[Cell, ...]]:
    """Return the offset of the first of the figures at the end of a line, and these figures as cells."""
    tokens = list(_TOKEN.finditer(line))
    first = len(tokens)
    while first and any(one.fullmatch(tokens[first - 1][0]) for one in (_FIGURE, _NOTHING, _APART)):
        first -= 1
    return tokens[first].start() if first < len(tokens) else len(line), tuple(_figures(line, tokens[first:]))


def _figures(line: str, tokens: list[re.Match[str]]) -> Iterator[Cell]:
    start: int | None = None
    for at, token in enumerate(tokens):
        start = token.start() if start is None else start
        following = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        if following in ("%", ")", ")%") or (_APART.fullmatch(token[0]) and token[0] not in ("%", ")", ")%")):
            continue
        written, start = line[start : token.end()], None
        number = next(iter(parse_numbers(written.replace("( ", "("), spaced=False)), None)
        # In "(3.2)%", the bracket hides the percent sign from the number parser.
        if number and written.endswith("%"):
            number = replace(number, kind="percent")
        yield Cell(number, number is not None and bool(_NEGATIVE.match(written)))


def _columns(line: str) -> tuple[tuple[str, ...], bool]:
    """Return the years at the end of a line, one per column, and whether words precede them.

    No years are returned unless there are at least two and they are consecutive.
    """
    columns: list[str] = []
    tokens = [match[0].strip("()*") for match in _TOKEN.finditer(line)]
    while tokens:
        year = parse_year(tokens[-1])
        if year or _CHANGE.fullmatch(tokens[-1]):
            columns.insert(0, year)
        elif not _BESIDE_YEARS.fullmatch(tokens[-1]):
            break
        tokens.pop()
    years = [int(year) for year in columns if year]
    # The years of column headers are consecutive. Years that are not consecutive may be figures.
    steps = {later - earlier for earlier, later in pairwise(years)}
    if steps not in ({1}, {-1}) or (tokens and tokens[-1].casefold() in _JOINING):
        return (), False
    noted = tokens and _NOTES.match(tokens[-1])
    return ("", *columns) if noted else tuple(columns), bool(tokens)


def is_table_row(text: str) -> bool:
    """Return whether a line looks like a table row with figures."""
    short = len(text) < LONGEST_ROW_CHARS and not text.endswith((".", "!", "?"))
    return short and "\n" not in text and len(_NUMBER.findall(text)) >= 2


def is_year_header(text: str) -> bool:
    """Return whether a line looks like a header of year columns.

    >>> is_year_header("$ million 2023 2022"), is_year_header("Sales 2023 412")
    (True, False)
    """
    return is_table_row(text) and all(_FULL_YEAR.fullmatch(number) for number in _NUMBER.findall(text))
