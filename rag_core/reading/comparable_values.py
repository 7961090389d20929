"""Values of short answers that can be compared: amounts, percentages, durations, counts and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from rag_core.text.dates import find_written_date
from rag_core.text.numbers import find_table_scales, parse_numbers

_DAYS = {
    "second": Decimal(1) / 86400, "minute": Decimal(1) / 1440, "hour": Decimal(1) / 24, "day": Decimal(1),
    "week": Decimal(7), "month": Decimal("30.4375"), "year": Decimal("365.25"),
}  # fmt: skip
# A month has 28 to 31 days, so durations in different units are compared only if they differ by more than this share.
_CLEARLY = Decimal("0.1")
_UNIT = re.compile(r"[)\s-]*(?:[-\s]?(?:calendar|full|consecutive)\s)?\s*-?((?:business|working)\s\w+|[^\W\d_]+|°\w)?")
_RATE = re.compile(r"(?:\b(?:per|a|an|each|every)\s+|/\s?)([^\W\d_]+)|\b(dai|week|month|quarter|annual|year)ly\b", re.I)
_DATE_FORMATS = ("%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y", "%B %Y", "%b %Y", "%Y-%m-%d")
_DAY_ENDING = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b|\bof\b|\.")


@dataclass(frozen=True, slots=True)
class ComparableValue:
    """A value and its unit; only values of the same unit can be compared. ``written_unit`` is the unit as written."""

    number: Decimal
    unit: tuple[str, ...]
    written_unit: str = ""


def parse_value(text: str, context: str = "") -> ComparableValue | None:
    """Return the only value of a short answer; ``None`` if it has none, several, or an ambiguous one.

    Parameters
    ----------
    text : str
    context : str
        The whole answer, which may state the scale of a table.

    Examples
    --------
    >>> parse_value("twelve (12) months").number == parse_value("1 year").number
    True
    >>> parse_value("between 10 and 20 percent")
    """
    if date := find_written_date(text):
        return _parse_date(date)
    numbers = parse_numbers(text)
    values = frozenset[Decimal]().union(*(one.values for one in numbers))
    if len(values) != 1 or len({(one.kind, one.currency) for one in numbers if one.kind or one.currency}) > 1:
        return None
    number, last = next(iter(values)), numbers[-1]
    match = _UNIT.match(text, last.end)
    word = (match[1] or "").casefold().removesuffix("s") if match else ""
    kind = next((one.kind or one.currency for one in numbers if one.kind or one.currency), "")
    rate = _RATE.search(text, last.end)
    rates = (rate[1] or rate[2]).casefold() if rate else ""
    if kind:
        scales = sorted(find_table_scales(context)) if all(one.unscaled for one in numbers) else []
        return ComparableValue(number, (kind, rates, *map(str, scales)), kind)
    if word in _DAYS:
        return ComparableValue(number * _DAYS[word], ("day",), word)
    return ComparableValue(number, ("", word, rates), word)


def find_extreme(values: Sequence[ComparableValue | None], direction: int) -> int | None:
    """Return the position of the highest value, or of the lowest one if ``direction`` is -1.

    Return ``None`` if a value is missing, if the units differ, or if the value is not clearly the highest or lowest.
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or len(known) < 2 or len({value.unit for value in known}) > 1:
        return None
    order = sorted(range(len(known)), key=lambda position: -direction * known[position].number)
    first, second = known[order[0]], known[order[1]]
    least = _CLEARLY * max(abs(first.number), abs(second.number)) if first.written_unit != second.written_unit else 0
    return order[0] if abs(first.number - second.number) > least else None


def _parse_date(text: str) -> ComparableValue | None:
    plain = " ".join(_DAY_ENDING.sub("", text).split())
    for written in _DATE_FORMATS:
        try:
            return ComparableValue(Decimal(datetime.strptime(plain, written).toordinal()), ("date",), "date")
        except ValueError:
            continue
    return None
