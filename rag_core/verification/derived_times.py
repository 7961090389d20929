"""Find calculations of dates, times and durations from stated values, such as the end of a contract or an age."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import combinations, permutations

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.measures import find_unit_after
from rag_core.text.values import Value
from rag_core.types.dates import CalendarDate
from rag_core.verification.support import SourceSentence

# Multiples of a duration that may be added to a date, or subtracted once, as for two extensions of five years.
_TIMES = (1, -1, 2, 3)
# Number of sentences at the beginning of a passage whose years may begin a duration, and number of closest sentences
# whose years may end it.
_FIRST, _CLOSEST = 2, 3
# Lengths of units in months, in days and in minutes.
_MONTHS = {"duration-month": 1, "duration-quarter": 3, "duration-year": 12, "duration-decade": 120}
_DAYS = {"duration-day": 1, "duration-week": 7}
_MINUTES = {"duration-minute": 1, "duration-hour": 60}
# Years after which anniversaries are celebrated, and the largest age.
_ANNIVERSARIES, _MAX_AGE = (25, 50, 75, 100, 125, 150), 150
_DAYS_A_MONTH, _MONTHS_A_YEAR, _MINUTES_AN_HOUR, _HALF_DAY = 30.44, 12, 60, 720


def find_time_calculation(value: Value, claim: AnnotatedText, near: Sequence[SourceSentence]) -> str:
    """Return a calculation of a date, year, time or duration, such as ``2014 + 5``; empty if there is none.

    The operands are other values of the claim, values of ``near`` (the sentences with most words of the claim, best
    first), values of sentences around the first of these, and dates and years at the beginning of its passage.
    """
    texts = {one.reading.text: one.reading for sentence in near[:1] for one in sentence.source.list_near(sentence)}
    texts = {one.reading.text: one.reading for one in near} | texts
    # A value is not calculated from itself.
    own = [(claim, one) for one in claim.values if one is not value]
    groups = [[*own, *((text, one) for one in text.values)] for text in texts.values()]
    stated = list(dict.fromkeys(pair for group in groups for pair in group))
    # The first sentences often state the date of a document or a year of birth, from which other dates are calculated.
    beginning = [text.reading for one in near[:1] for text in one.source.sentences[:_FIRST]]
    first = [(text, one) for text in beginning for one in text.values]
    if value.dates:
        return _find_date(value, [*stated, *first])
    if value.number and is_year(value.text):
        return next(filter(None, (_find_year(int(value.text), group) for group in groups)), "")
    if value.kind == "time":
        return _find_time(value, stated)
    if value.number is None or value.number.kind or value.number.currency:
        return ""
    amount, unit = float(min(value.number.values)), find_unit_after(claim.text, value.end)
    years = [_list_years([*first, *group] if place < _CLOSEST else group) for place, group in enumerate(groups)]
    return _find_years_between(amount, unit, years) or _find_duration(amount, unit, stated)


def _list_dates(stated: Sequence[tuple[AnnotatedText, Value]]) -> Iterator[tuple[CalendarDate, str]]:
    for _, one in stated:
        yield from ((day, one.text) for day in one.dates if day.year)


def _list_years(stated: Sequence[tuple[AnnotatedText, Value]]) -> dict[int, str]:
    years = {int(one.text): one.text for _, one in stated if one.number and is_year(one.text)}
    return years | {day.year: text for day, text in _list_dates(stated)}


def _list_durations(
    stated: Sequence[tuple[AnnotatedText, Value]], units: dict[str, int]
) -> Iterator[tuple[float, str]]:
    """Yield each stated duration that has one of ``units``, multiplied by the factor of its unit, with its text."""
    for text, one in stated:
        if one.number and (factor := units.get(unit := find_unit_after(text.text, one.end))):
            yield float(min(one.number.values)) * factor, f"{one.text.strip()} {unit.partition('-')[2]}s"


def _find_date(value: Value, stated: Sequence[tuple[AnnotatedText, Value]]) -> str:
    """Return the calculation of a date from another date and a duration; empty if there is none.

    The result may differ by one day, because a period can end on the day before.
    """
    wanted = [day for day in value.dates if day.year]
    for day, text in _list_dates(stated):
        for months, written in _list_durations(stated, _MONTHS):
            for times in _TIMES:
                shifted = day.year * _MONTHS_A_YEAR + day.month - 1 + times * int(months)
                if any(_is_within_one_day(one, shifted, day.day) for one in wanted):
                    return f"{text} {'+-'[times < 0]} {f'{times} × ' if times > 1 else ''}{written}"
        for days, written in _list_durations(stated, _DAYS):
            for one in wanted:
                if one.day and day.day and abs(abs((date(*one) - date(*day)).days) - days) <= 1:
                    return f"{text} ± {written}"
    return ""


def _is_within_one_day(day: CalendarDate, months: int, day_of_month: int) -> bool:
    """Return whether a date differs by at most one day from a day of a month.

    ``months`` is the number of the month, counted from January of the year 0. If one of the days is unknown (0), only
    the months are compared.
    """
    if not day.day or not day_of_month:
        return day.year * _MONTHS_A_YEAR + day.month - 1 == months
    year, month = divmod(months, _MONTHS_A_YEAR)
    try:
        return abs((date(*day) - date(year, month + 1, min(day_of_month, 28))).days - max(0, day_of_month - 28)) <= 1
    except (ValueError, OverflowError):
        return False


def _find_year(wanted: int, stated: Sequence[tuple[AnnotatedText, Value]]) -> str:
    """Return the calculation of a year from another year and a stated number or an anniversary; empty without one."""
    years = _list_years(stated)
    amounts = {
        int(amount): one.text
        for _, one in stated
        if one.number and not one.number.kind and not one.number.currency and not is_year(one.text)
        for amount in one.number.values
        if amount == amount.to_integral_value() and 0 < amount <= _MAX_AGE
    }
    amounts |= {anniversary: str(anniversary) for anniversary in _ANNIVERSARIES}
    for year, text in years.items():
        if found := amounts.get(abs(wanted - year)):
            return f"{text} {'+-'[wanted < year]} {found}"
    return ""


def _find_years_between(amount: float, unit: str, groups: Iterable[dict[int, str]]) -> str:
    """Return the difference of two stated years that equals an amount; empty if there is none.

    The amount must be in years or without unit. It may be one less than the difference, because the last year may be
    incomplete. Both years are from one of ``groups``.
    """
    if unit in ("", "duration-year") and 0 < amount <= _MAX_AGE:
        for years in groups:
            for (one, text), (other, other_text) in combinations(sorted(years.items()), 2):
                if 0 <= other - one - amount <= 1:
                    return f"{other_text} - {text}"
    return ""


def _find_duration(amount: float, unit: str, stated: Sequence[tuple[AnnotatedText, Value]]) -> str:
    """Return the difference of two stated dates or times that equals an amount in a unit; empty if there is none."""
    days = [(date(day.year, day.month, day.day or 1), text) for day, text in _list_dates(stated)]
    factor = _DAYS.get(unit) or _MONTHS.get(unit, 0) * _DAYS_A_MONTH
    for (one_day, text), (other_day, other_text) in combinations(days, 2):
        if factor and abs(abs((one_day - other_day).days) / factor - amount) <= 1:
            return f"{text} - {other_text}"
    if unit not in _MINUTES:
        return ""
    times = [(time, one.text) for _, one in stated if (time := _read_minutes(one)) is not None]
    for (start, text), (end, other_text) in permutations(times, 2):
        # A time may be in the afternoon, and the hours and the minutes of a duration may be two values.
        minutes = (end - start) % _HALF_DAY
        wanted = amount * _MINUTES[unit] % _HALF_DAY
        if minutes and wanted in (minutes, minutes - minutes % _MINUTES_AN_HOUR, minutes % _MINUTES_AN_HOUR):
            return f"{other_text} - {text}"
    return ""


def _read_minutes(value: Value) -> int | None:
    """Return the minutes of a time of day since noon or midnight; ``None`` for another value."""
    if value.kind != "time":
        return None
    hour, _, minutes = value.key.partition(":")
    return int(hour) * _MINUTES_AN_HOUR + int(minutes)


def _find_time(value: Value, stated: Sequence[tuple[AnnotatedText, Value]]) -> str:
    """Return the calculation of a time from another time and a stated duration or one hour; empty if there is none."""
    minutes = _read_minutes(value)
    times = [(time, one.text) for _, one in stated if (time := _read_minutes(one)) is not None]
    if minutes is None:
        return ""
    # "One hour" is no value, because "one" is often a pronoun.
    for duration, name in (*_list_durations(stated, _MINUTES), (_MINUTES_AN_HOUR, "1 hour")):
        for time, text in times:
            for sign in (1, -1):
                if (time + sign * duration - minutes) % _HALF_DAY == 0:
                    return f"{text} {'+-'[sign < 0]} {name}"
    return ""
