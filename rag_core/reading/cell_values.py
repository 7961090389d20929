"""Values of table cells: their number, and their text with the unit that a header, a label or a caption states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from rag_core.text.dates import YEAR
from rag_core.text.numbers import AMOUNT_SCALES, CURRENCIES, CURRENCY_CODE, SCALES, parse_numbers
from rag_core.text.words import find_content_stems
from rag_core.types.tables import Table, TableCell, TableRow

_SYMBOL = r"(?:US\$|[$€£¥])"
_CURRENCY = rf"(?:{_SYMBOL}|{CURRENCY_CODE})"
# Decimal marks and marks between groups of digits.
NUMBER_MARKS = ".,\u00a0\u2009\u202f"
DIGITS = rf"\d[\d{NUMBER_MARKS}]*"
# A figure without a unit of its own, except for a currency symbol.
_FIGURE = re.compile(rf"[(−–-]?\s?(?P<symbol>{_SYMBOL})?\s?[(−–-]?(?P<digits>{DIGITS})\)?")
_NEGATIVE = re.compile(rf"(?:{_CURRENCY}\s?)?[(−–-]\s?(?:{_CURRENCY}\s?)?\d")
_YEAR = re.compile(YEAR)
_BRACKETS = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$")
_FOOTNOTE = re.compile(r"[a-f*†]|[ivx]+|.*\d.*|(?:note|see)\b.*", re.IGNORECASE)
_WORD = re.compile(r"[^\s/]+")
_LONGEST_SYMBOL = 4
# Most words of a clause that states a unit which is no currency, scale or symbol, such as "Volumes in litres".
_LONGEST_CLAUSE = 4
_KNOWN = CURRENCIES.keys() | SCALES.keys() | frozenset("percent per of in us '000 000 '000s 000s".split())
_CLAUSE = re.compile(r"(?:[^;,.()]|\.(?=\d))+")
_PREPOSITION = re.compile(r"\b(?:as|at|in|is|are|for|of|on)\b")
_STATED = re.compile(
    rf"^(?P<subject>.*?)\bin\s(?P<unit>(?:[^\s]+\s?){{1,4}})$|^(?P<alone>{_SYMBOL}?\s?[\w'$€£¥]+(?:\s\w+)?)$"
)
_IN = re.compile(r"^in\s", re.IGNORECASE)
_AMOUNT_SCALE = re.compile(
    rf"({'|'.join(sorted(AMOUNT_SCALES, key=len, reverse=True))})(?![^\W\d_])\.?\s*", re.IGNORECASE
)
_FOOTNOTE_LETTER = re.compile(r"^[A-Za-z*†‡]$")
_SCALE_WORD = re.compile(r"\b(thousand|million|billion|trillion)(?:s(?:\sof\b)?)?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """The number of a cell.

    Attributes
    ----------
    value : Decimal
    unit : str
        The rest of the text in lower case, such as ``mm`` or ``%``; a currency comes first, as in ``dollar per hour``.
    power : int
        The power of ten of the scale in an amount such as "€1.2bn"; ``value`` already includes it. 0 without a scale.
    """

    value: Decimal
    unit: str
    power: int = field(default=0, repr=False)


def parse_quantity(text: str) -> Quantity | None:
    """Return the number and the unit of a cell; ``None`` if the cell contains no single number.

    >>> parse_quantity("(1,234)"), parse_quantity("4 years")
    (Quantity(value=Decimal('-1234'), unit=''), Quantity(value=Decimal('4'), unit='year'))
    >>> parse_quantity("US$5 million").value == 5_000_000
    True
    >>> parse_quantity("5 to 8 bar"), parse_quantity("14 March")
    (None, None)
    """
    match = re.search(DIGITS, text)
    rest = text[: match.start()] + " " + text[match.end() :] if match else ""
    numbers = parse_numbers(text, spaced=False)
    if match is None or re.search(r"\d", rest) or len(numbers) != 1 or numbers[0].kind not in ("", "percent"):
        return None
    before, after = text[: match.start()].strip(" (−–-"), text[match.end() :].strip(" )")
    # Without its unit: "400 m" may be 400 metres or 400 million.
    values = parse_numbers(match[0].rstrip(".,"), spaced=False)[0].values
    is_amount = re.fullmatch(_CURRENCY, before) is not None
    is_word = not is_amount and re.search(r"[^\W\d_]", before) is not None
    if len(values) != 1 or is_word or text[match.end() :][:1] in (":", "/", "-"):
        return None
    (value,) = values
    value = -value if _NEGATIVE.match(text) else value
    unit = (before or after).casefold().removesuffix("s")
    unit = CURRENCIES.get(unit, unit)
    if not is_amount:
        return Quantity(value, unit)
    scale = _AMOUNT_SCALE.match(after)
    power = AMOUNT_SCALES[scale[1].casefold()] if scale else 0
    rest = after[scale.end() :] if scale else _FOOTNOTE_LETTER.sub("", after)
    return Quantity(value.scaleb(power), f"{unit} {rest.casefold()}".rstrip(), power)


def count_decimal_places(figure: str) -> int:
    """Return the number of decimal places of a figure with a decimal point or a decimal comma.

    >>> [count_decimal_places(one) for one in ("1,234.50", "1.234,5", "12,4", "1,234")]
    [2, 1, 1, 0]
    """
    values = (value for one in parse_numbers(figure, spaced=False) for value in one.values)
    return max((len(f"{value:f}".partition(".")[2]) for value in values), default=0)


def find_header_unit(label: str) -> str:
    """Return the unit in brackets at the end of a header or a row label; it may be empty.

    >>> find_header_unit("Rain 2022 (mm)"), find_header_unit("Cost (GBP)"), find_header_unit("Net sales (restated)")
    ('mm', 'GBP', '')
    """
    match = _BRACKETS.search(label)
    if match is None:
        return "%" if label.endswith("%") else ""
    unit = match[1].strip()
    return unit if _is_unit(unit) and not _FOOTNOTE.fullmatch(unit) else ""


def state_value(table: Table, row: TableRow, cell: TableCell) -> str:
    """Return the text of a cell with its unit.

    The unit is stated in the cell, in its header, in the label of its row, or in the caption of the table. Labels,
    years and texts have none.
    """
    figure = _FIGURE.fullmatch(cell.text)
    column = [other.text for line in table.body if (other := line.cell(cell.column)) is not None]
    if figure is None or (cell.column == 0 and len(table.columns) > 1) or all(map(_YEAR.fullmatch, column)):
        return cell.text
    header = table.column_header(cell.column)
    unit = find_header_unit(header) or find_header_unit(row.label) or _find_stated_unit(table, row, cell.column)
    unit = _SCALE_WORD.sub(lambda scale: scale[1].casefold(), _IN.sub("", unit)).strip()
    symbols = {match["symbol"] for text in column if (match := _FIGURE.fullmatch(text)) and match["symbol"]}
    symbol = symbols.pop() if len(symbols) == 1 and not figure["symbol"] else ""
    if (written := re.match(_SYMBOL, unit)) is not None:
        symbol, unit = "" if figure["symbol"] else written[0], unit[written.end() :].strip()
    at = figure.start("digits")
    value = f"{cell.text[:at]}{symbol}{cell.text[at:]}"
    return f"{value}{'' if unit == '%' else ' '}{unit}".rstrip()


def find_stated_units(text: str) -> list[str]:
    """Return the units that the clauses of a caption state.

    >>> find_stated_units("Amounts in thousands of dollars; staff at year end"), find_stated_units("Held in June")
    (['thousands of dollars'], [])
    """
    return [unit for _, unit in _split_clauses(text) if unit]


def find_table_unit(table: Table) -> str:
    """Return the text that states the unit of a table: its unit, or the nearest line of its caption with one."""
    return table.unit or next((line for line in reversed(table.caption) if find_stated_units(line)), "")


def _is_unit(text: str) -> bool:
    """Return whether all words of a text are short symbols, currencies, scales, or plurals such as "litres"."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return 0 < len(words) <= 4 and all(
        len(word) <= _LONGEST_SYMBOL or word in _KNOWN or word.endswith("s") for word in words
    )


def _find_stated_unit(table: Table, row: TableRow, column: int) -> str:
    """Return the unit that the caption states for a column; empty if it states none, or perhaps for other columns."""
    # The header of the labels often is the unit of all columns.
    headers = [table.column_header(other) for other in range(1, len(table.columns)) if other != column]
    stated_unit = find_table_unit(table)
    if any(stated_unit in header for header in headers):
        return ""
    clauses = list(_split_clauses(stated_unit))
    names = find_content_stems(f"{table.column_header(column)} {row.label}")
    others = find_content_stems(" ".join(headers)) - names
    for subject, unit in clauses:
        if find_content_stems(_PREPOSITION.split(subject)[0]) & names:
            return unit
    stated = next((unit for subject, unit in clauses if unit and not find_content_stems(subject) & others), "")
    is_scale = any(word.casefold() in SCALES for word in _WORD.findall(stated))
    return stated if is_scale or len(_find_decimals(table)) == 1 else ""


def _split_clauses(text: str) -> Iterator[tuple[str, str]]:
    """Yield the subject and the unit of each clause; the unit is empty if the clause states none."""
    for clause in _CLAUSE.findall(text):
        match = _STATED.match(clause.strip())
        unit = (match["unit"] or match["alone"]).strip() if match else ""
        if match and match["subject"] and re.fullmatch(_SYMBOL, match["subject"].strip()):
            unit = match["subject"] + unit
        words = [word.casefold() for word in _WORD.findall(unit)]
        # A single plural in a sentence, such as "…, earnings, …", is no unit.
        is_whole = bool(match and match["unit"]) or clause.strip() == text.strip(" ()[]:.")
        is_short = is_whole and len(clause.split()) <= _LONGEST_CLAUSE
        if words and all(len(word) <= 2 or word in _KNOWN or (is_short and word.endswith("s")) for word in words):
            yield (match and match["subject"]) or "", unit
        else:
            yield clause, ""


def _find_decimals(table: Table) -> set[int]:
    """Return the numbers of decimal places of the columns with figures, except for the first column."""
    found = set()
    for column in range(1, len(table.columns)):
        cells = [cell.text for row in table.body if (cell := row.cell(column)) is not None]
        figures = [match["digits"] for text in cells if (match := _FIGURE.fullmatch(text))]
        if figures and len(figures) == len(cells) and not all(map(_YEAR.fullmatch, cells)):
            found.add(max(map(count_decimal_places, figures)))
    return found
