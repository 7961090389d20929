"""Find and compare the values of texts: numbers, dates, times, identifiers, and names of months and weekdays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from rag_core.text.calendar_dates import find_dates, load_calendar_names
from rag_core.text.dates import is_year
from rag_core.text.identifiers import find_codes
from rag_core.text.languages import detect_language
from rag_core.text.normalize import normalize
from rag_core.text.numbers import Number, numbers_equal, parse_numbers
from rag_core.text.spelled_numbers import parse_spelled_numbers
from rag_core.text.words import LETTERS
from rag_core.types.dates import CalendarDate

Kind = Literal["number", "date", "time", "identifier", "month", "weekday", "name"]
# A short code, such as "EK-H5", "P100" and "0xCC". Longer codes are found by `find_codes`.
_SHORT_CODE = re.compile(r"(?<![\w-])(?:[A-Z][A-Z.]*[ -]?[A-Z]?\d{1,4}[A-Z]?|0x[0-9A-Fa-f]+)(?![\w-]|\.\d)")
_RANGE = re.compile(r"\s*(?:-|–|…|to|and|bis|auf|und|à|et|a|y|tot|naar|en)\s*")
_THOUSAND = 1000
_PERIOD = re.compile(r"(?:[QHT][1-4]|FY ?\d+)")
# A number of at least three short parts, such as the version "2.4.1", unlike "1.151.000" and "15.05.2025".
_VERSION = re.compile(r"(?<![\w.])v?\d{1,2}(?:\.\d{1,2}){2,}(?![\w]|\.\d)", re.IGNORECASE)
# "14:30", "2.30 pm", "9.15 Uhr", "20 h 30", "4 pm", "16 Uhr".
_TIME = re.compile(
    r"(?<![\w.,:])(\d{1,2})(?::(\d\d)(?!\d|[.:]\d)|\.(\d\d)(?=\s?(?:[ap]\.?m\b|uhr\b|h\b))|\s?h\s?(\d\d)(?!\d)|(?=\s?(?:[ap]\.?m\b|uhr\b)))",
    re.IGNORECASE,
)
# An ordinal or a fraction, as in "the second half" and "a fifth".
_ORDINAL = re.compile(r"[^\d]*(?:st|nd|rd|th|ths|te[mnrs]?|ième)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text.

    Attributes
    ----------
    start, end : int
        Span of the value in the text.
    text : str
    kind : str
    number : Number or None
        ``None`` for other kinds of values.
    dates : tuple of CalendarDate
        The possible readings of a date; empty for other kinds of values.
    key : str
        Equal for equal times, identifiers, months or weekdays; empty for other kinds of values. Times are compared
        without "a.m." and "p.m.", so that "2:30 pm" equals "14:30", but "2:30" does as well.
    """

    start: int
    end: int
    text: str
    kind: Kind
    number: Number | None = None
    dates: tuple[CalendarDate, ...] = ()
    key: str = ""


def find_values(text: str, *, spaced: bool = True) -> list[Value]:
    """Return the values of a text, in order. Numbers within a date or an identifier are left out.

    ``spaced`` says whether a blank can separate thousands, so that "94 000" is one number.

    >>> [(one.kind, one.text) for one in find_values("Valve FT-204-19 was changed on 12 May 2025 for $1.2 million")]
    [('identifier', 'FT-204-19'), ('date', '12 May 2025'), ('number', '$1.2 million')]
    """
    found: list[Value] = []
    # The full stops in "0.6...0.8" do not belong to the numbers.
    for one in _find_candidates(text.replace("...", " … "), spaced):
        if not any(one.start < other.end and other.start < one.end for other in found):
            found.append(one)
    found.sort(key=lambda one: one.start)
    return [_add_unit_of_range(text, one, *found[after : after + 1]) for after, one in enumerate(found, 1)]


def _add_unit_of_range(text: str, one: Value, following: Value | None = None) -> Value:
    """Return the first value of a range, such as "148 to 171 million euros", with scale and currency of the second.

    Other values are returned unchanged.
    """
    if following is None or not _RANGE.fullmatch(text, one.end, following.start) or is_year(one.text):
        return one
    number, other = one.number, following.number
    if number is None or other is None or number.kind or number.power or number.currency:
        return one
    if not (other.power or other.currency):
        return one
    values = frozenset(value.scaleb(other.power) for value in number.values)
    return replace(one, number=replace(number, values=values, power=other.power, currency=other.currency))


def _find_candidates(text: str, spaced: bool) -> Iterator[Value]:
    for written in find_dates(text):
        yield Value(written.start, written.end, text[written.start : written.end], "date", dates=written.readings)
    for match in _TIME.finditer(text):
        yield Value(
            *match.span(), match[0], "time", key=f"{int(match[1]) % 12}:{match[2] or match[3] or match[4] or '00'}"
        )
    for start, end, key in find_codes(text):
        yield Value(start, end, text[start:end], "identifier", key=key)
    for match in _SHORT_CODE.finditer(text):
        if not _PERIOD.fullmatch(match[0]) and " " not in match[0]:
            yield Value(*match.span(), match[0], "identifier", key=re.sub(r"\W", "", match[0]).casefold())
    for match in _VERSION.finditer(text):
        yield Value(*match.span(), match[0], "identifier", key=match[0].lstrip("vV"))
    yield from _find_calendar_names(text)
    numbers = parse_numbers(text, spaced=spaced)
    for number in [*numbers, *parse_spelled_numbers(text, detect_language(text))]:
        is_ordinal = not number.power and _ORDINAL.fullmatch(number.text)
        # The words "one" and "zero" often do not state a number.
        if number.kind != "month" and not is_ordinal and number.text.casefold() not in ("one", "zero"):
            yield Value(number.start, number.end, number.text, "number", number)


def _find_calendar_names(text: str) -> Iterator[Value]:
    months, weekdays = load_calendar_names("wide")
    for match in LETTERS.finditer(text):
        word = normalize(match[0])
        # "on Mondays", "montags".
        for name in (word, word.removesuffix("s")):
            # "may", "march" and "mars" are also words.
            if name in months and (match[0][0].isupper() or word not in ("may", "march", "mars")):
                yield Value(*match.span(), match[0], "month", key=str(months[name]))
            elif name in weekdays:
                yield Value(*match.span(), match[0], "weekday", key=str(weekdays[name]))


def is_same_value(said: Value, source: Value, scales: frozenset[int] = frozenset()) -> bool:
    """Return whether the value of a statement equals, or rounds, the value of a source.

    A number or a month of the statement can be a part of a date of the source. ``scales`` are the powers of ten of the
    source's tables, such as 6 for "in millions".
    """
    if said.number and source.number:
        # "1,151,000" can be 1,151 in a table of thousands.
        is_whole = not said.number.power and all(one and not one % _THOUSAND for one in said.number.values)
        number = replace(said.number, power=3) if is_whole else said.number
        if numbers_equal(number, source.number, scales, rounded=True):
            return True
        # "180,100" can be exactly 180.1 in a table of thousands.
        has_thousands = all(one >= _THOUSAND and one == one.to_integral_value() for one in said.number.values)
        return has_thousands and numbers_equal(replace(said.number, power=3), source.number, scales)
    if said.dates and source.dates:
        return any(_is_same_date(one, other) for one, other in product(said.dates, source.dates))
    if source.dates and said.number:
        return not said.number.kind and any(part in said.number.values for one in source.dates for part in one)
    if source.dates and said.kind == "month":
        return any(str(one.month) == said.key for one in source.dates)
    return said.kind == source.kind and said.key == source.key


def _is_same_date(one: CalendarDate, other: CalendarDate) -> bool:
    """Return whether two dates can be the same day or month. A year or day that only one of them states is ignored."""
    return all(part == further or not (part and further) for part, further in zip(one, other, strict=True))
