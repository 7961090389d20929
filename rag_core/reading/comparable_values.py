"""Values of short answers that can be compared: amounts, percentages, durations, counts and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
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
_RATE = re.compile(
    r"(?:\b(?P<per>per|an?|each|every)\s+|/\s?)(?P<noun>[^\W\d_]+)"
    r"|\b(?P<adverb>hour|dai|week|month|quarter|annual|year)ly\b",
    re.IGNORECASE,
)
_RATES = {"dai": "day", "annual": "year", "annum": "year"}


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
    if written := find_written_date(text):
        return _parse_date(written)
    numbers = parse_numbers(text)
    values = frozenset[Decimal]().union(*(one.values for one in numbers))
    if len(values) != 1 or len({(one.kind, one.currency) for one in numbers if one.kind or one.currency}) > 1:
        return None
    number, last = next(iter(values)), numbers[-1]
    match = _UNIT.match(text, last.end)
    word = (match[1] or "").casefold().removesuffix("s") if match else ""
    kind = next((one.kind or one.currency for one in numbers if one.kind or one.currency), "")
    rate = _RATE.search(text, last.end)
    unit_of_rate = (rate["noun"] or rate["adverb"]).casefold() if rate else ""
    unit_of_rate = _RATES.get(unit_of_rate, unit_of_rate)
    if kind:
        scales = sorted(find_table_scales(context)) if all(one.unscaled for one in numbers) else []
        return ComparableValue(number, (kind, unit_of_rate, *map(str, scales)), kind)
    if word in _DAYS:
        # In "30 days after the end of each month", "each month" is no rate, as "per contract" is none.
        follows = rate is not None and match is not None and not text[match.end() : rate.start()].strip()
        is_rate = follows or (rate is not None and (rate["per"] or "").casefold() == "per")
        is_time = unit_of_rate == "hour" or unit_of_rate.removesuffix("s") in _DAYS
        return ComparableValue(number * _DAYS[word], ("day", unit_of_rate if is_rate and is_time else ""), word)
    return ComparableValue(number, ("", word, unit_of_rate), word)


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
    """Return the day of a date, which is the first one of a month; ``None`` if it is ambiguous, as in "07/01/2023"."""
    numbers = parse_numbers(text)
    months = [one for one in numbers if one.kind == "month"]
    others = [int(value) for one in numbers if not one.kind for value in one.values]
    if len(months) != 1 or len(months[0].values) != 1 or len(others) not in (1, 2):
        return None
    year, day = max(others), min(others) if len(others) == 2 else 1
    try:
        found = date(year, int(next(iter(months[0].values))), day)
    except ValueError:
        return None
    return ComparableValue(Decimal(found.toordinal()), ("date",), "date")
