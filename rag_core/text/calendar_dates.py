"""Dates in texts, however they are written, and their comparison."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from itertools import chain, product

from rag_core.text.dates import MONTHS, YEAR, find_years
from rag_core.text.languages import LANGUAGES, detect_language
from rag_core.text.normalize import normalize
from rag_core.types.dates import DAY_FIRST, MONTH_FIRST, AskedDates, CalendarDate, WrittenDate

# Two-digit years from this one on are in the 20th century, as in POSIX.
_PIVOT, _MONTHS = 69, 12
# The terms in a word index that say which order of day and month a text shows.
ORDER_TERMS = {DAY_FIRST: "orderdmy", MONTH_FIRST: "ordermdy"}
# Names of months that are also common English words, so that a number beside them needs a year or a capital letter.
_ALSO_WORDS = frozenset(("may", "march", "mar", "set", "ago", "mars"))
_WORD = r"([^\W\d_]{3,10})"
_OF = r"(?:(?:of|de|del|di)\s+)?"
_SOME_YEAR = rf"({YEAR}|['’]\d\d)(?!\d)"
_BEFORE, _AFTER = r"(?<![\w.,/$€£-])", r"(?![\w/-]|[.,]\d)"
# "7 April 2023", "7th of April", "7. April 2023", "1er avril 2023", "7 de abril de 2023", "7-Apr-23", "7–9 April 2023".
_DAY_MONTH = re.compile(
    rf"{_BEFORE}(?:(\d{{1,2}})(?:st|nd|rd|th|\.)?\s?[-–]\s?)?(\d{{1,2}})(?:st|nd|rd|th|er|\.|º|°)?(?:\s{{1,2}}|\s?(-))?"
    rf"{_OF}{_WORD}(?!\w)\.?(?:(?(3)-({YEAR}|\d\d)(?!\d)|,?\s{{1,2}}{_OF}{_SOME_YEAR}))?",
    re.IGNORECASE,
)
# "April 7, 2023", "Apr. 7th" and "April 7-9, 2023".
_MONTH_DAY = re.compile(
    rf"(?<!\w){_WORD}\.?\s{{1,2}}(?:(\d{{1,2}})(?:st|nd|rd|th)?\s?[-–]\s?)?(\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?!\w|[.,:/]\d|\s?[%€£$])(?:,?\s{{1,2}}{_SOME_YEAR})?",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(rf"(?<!\w){_WORD}\.?,?\s{{1,2}}{_OF}({YEAR})(?!\d)", re.IGNORECASE)
_ISO = re.compile(rf"{_BEFORE}({YEAR})([-/.])(\d\d)\2(\d\d)(?![\d/-]|[.,]\d)")
_NUMERIC = re.compile(rf"{_BEFORE}(\d{{1,2}})(?:([/-])|(\.)\s?)(\d{{1,2}})(?:\2|\3\s?)({YEAR}|\d\d){_AFTER}")
_MONTH_OF_YEAR = re.compile(rf"{_BEFORE}(\d\d)/({YEAR}){_AFTER}")
_WEEKDAY_BEFORE = re.compile(r"(?<!\w)([^\W\d_]{2,10})\.?,?\s{1,2}(?:(?:the|den|der|dem|le|el|il)\s)?\Z", re.IGNORECASE)
_LONGEST_WEEKDAY = 18
# How documents say in which order they write dates, such as "MM/DD/YYYY" and "TT.MM.JJJJ".
_NOTATION = re.compile(r"(?<!\w)(?:(MM?)[/.-](?:DD?|TT|JJ|GG)|(?:DD?|TT|JJ|GG)[/.-]MM?)[/.-][YJA]{2,4}(?!\w)")


@cache
def _load_names() -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of each month, from 1, and of each weekday, from 0, by its names in the known languages."""
    from babel import Locale

    months, weekdays = {"sept": 9}, dict[str, int]()
    for locale in map(Locale.parse, (*LANGUAGES, "de_AT", "fr_CA")):
        for known, names in ((months, locale.months), (weekdays, locale.days)):
            for form, style in product(("format", "stand-alone"), ("wide", "abbreviated")):
                for number, name in names[form][style].items():
                    known.setdefault(normalize(name).rstrip("."), number)
    return months, weekdays


@lru_cache(maxsize=4000)
def find_dates(text: str) -> tuple[WrittenDate, ...]:
    """Return the days and months that a text states, in their order; those without a year only with a name of a month.

    >>> [one.readings for one in find_dates("Freitag, 7. April 2023")]
    [(CalendarDate(year=2023, month=4, day=7),)]
    >>> find_dates("on 04/07/2023")[0].readings
    (CalendarDate(year=2023, month=7, day=4), CalendarDate(year=2023, month=4, day=7))
    """
    found: list[WrittenDate] = []
    for written in chain(_find_numeric(text), _find_named(text)):
        if not any(one.start < written.end and written.start < one.end for one in found):
            found.append(_add_weekday(written, text))
    return tuple(sorted(found, key=lambda one: one.start))


def _find_numeric(text: str) -> Iterator[WrittenDate]:
    if not any(map(str.isdigit, text)):
        return
    for match in _ISO.finditer(text):
        yield from _build(match, [_read(match[1], match[3], match[4])])
    for match in _NUMERIC.finditer(text):
        first, second, year = match[1], match[4], match[5]
        readings = [_read(year, second, first), _read(year, first, second)]
        if match[3] and readings[0]:
            yield from _build(match, readings[:1])
            continue
        order = DAY_FIRST if int(first) > _MONTHS else MONTH_FIRST if int(second) > _MONTHS else ""
        yield from _build(match, readings, order, is_numeric=True)
    for match in _MONTH_OF_YEAR.finditer(text):
        yield from _build(match, [_read(match[2], match[1], "")])


def _find_named(text: str) -> Iterator[WrittenDate]:
    for match in _DAY_MONTH.finditer(text):
        yield from _build_named(match, match[4], match[1], match[2], match[5] or match[6])
    for match in _MONTH_DAY.finditer(text):
        yield from _build_named(match, match[1], match[2], match[3], match[4])
    for match in _MONTH_YEAR.finditer(text):
        yield from _build_named(match, match[1], "", "", match[2])


def _build_named(
    match: re.Match[str], name: str, first: str | None, last: str, year: str | None
) -> Iterator[WrittenDate]:
    folded = normalize(name)
    month = _load_names()[0].get(folded)
    if month is None or (not year and folded in _ALSO_WORDS and (name.islower() or folded in ("set", "ago"))):
        return
    days = range(int(first or last), int(last) + 1) if last else (0,)
    yield from _build(match, [_read(year or "", str(month), str(day or "")) for day in days])


def _read(year: str, month: str, day: str) -> CalendarDate | None:
    """Return a date from its parts; ``None`` if there is no such date."""
    digits = year.lstrip("'’")
    number = int(digits or 0)
    if len(digits) == len("23"):
        number += 1900 if number >= _PIVOT else 2000
    try:
        # A leap year, so that 29 February is a day.
        date(number or 2000, int(month), int(day or 1))
    except ValueError:
        return None
    return CalendarDate(number, int(month), int(day or 0))


def _build(
    match: re.Match[str], readings: Iterable[CalendarDate | None], order: str = "", *, is_numeric: bool = False
) -> Iterator[WrittenDate]:
    if possible := tuple(dict.fromkeys(one for one in readings if one)):
        text = " ".join(match[0].split()).rstrip(".")
        yield WrittenDate(match.start(), match.end(), text, possible, order, is_numeric)


def _add_weekday(written: WrittenDate, text: str) -> WrittenDate:
    """Return a date with the weekday before it, which may decide how it is read."""
    match = _WEEKDAY_BEFORE.search(text, max(0, written.start - _LONGEST_WEEKDAY), written.start)
    weekday = _load_names()[1].get(normalize(match[1])) if match else None
    if match is None or weekday is None:
        return written
    fitting = tuple(one for one in written.readings if all(one) and date(*one).weekday() == weekday)
    readings = fitting or written.readings
    return replace(
        written, start=match.start(), text=" ".join(text[match.start() : written.end].split()), readings=readings
    )


def find_orders(text: str) -> frozenset[str]:
    """Return the orders of day and month that the dates in a text show.

    >>> find_orders("Paid 04/07/2023 and 12/25/2023."), find_orders("Dates as DD/MM/YYYY")
    (frozenset({'mdy'}), frozenset({'dmy'}))
    """
    said = {MONTH_FIRST if match[1] else DAY_FIRST for match in _NOTATION.finditer(text)}
    return frozenset(said | {one.order for one in find_dates(text) if one.order})


def list_date_terms(text: str) -> list[str]:
    """Return terms for a word index: one for each day and month that a text may state, and the orders that it shows.

    >>> list_date_terms("Paid 04/13/2023.")
    ['d20230413', 'd0413', 'd202304', 'ordermdy']
    """
    terms: list[str] = []
    for one in chain.from_iterable(found.readings for found in find_dates(text)):
        parts = [one._replace(year=0), one._replace(day=0)] if one.year and one.day else []
        terms += map(write_term, [one, *parts])
    return list(dict.fromkeys([*terms, *(ORDER_TERMS[order] for order in sorted(find_orders(text)))]))


def write_term(one: CalendarDate) -> str:
    """Return the term of the word index for a date."""
    year, day = f"{one.year:04}" if one.year else "", f"{one.day:02}" if one.day else ""
    return f"d{year}{one.month:02}{day}"


def list_asked_terms(question: str) -> list[str]:
    """Return the terms of the word index for the dates in a question; see `list_date_terms`."""
    return list(dict.fromkeys(write_term(one) for found in find_asked_dates(question) for one in found.readings))


@lru_cache(maxsize=32)
def find_asked_dates(question: str) -> tuple[WrittenDate, ...]:
    """Return the dates in a question; its language and its other dates decide the order of day and month."""
    orders = find_orders(question)
    order = next(iter(orders)) if len(orders) == 1 else DAY_FIRST if detect_language(question) else ""
    return tuple(replace(one, readings=read_date(one, order)) for one in find_dates(question))


def read_date(written: WrittenDate, order: str) -> tuple[CalendarDate, ...]:
    """Return the readings of a date in a document with this order of day and month; all if the order is not known."""
    if not written.is_numeric or len(written.readings) == 1 or not order:
        return written.readings
    return (written.readings[order == MONTH_FIRST],)


def find_matching_date(asked: WrittenDate, text: str, order: str, years: Collection[str] = ()) -> WrittenDate | None:
    """Return the date in a text that may be the one in a question; one that is written alike before others.

    Parameters
    ----------
    asked : WrittenDate
    text : str
    order : str
        The order of day and month in the document of the text.
    years : collection of str
        Years of the document, of which a date without a year may be.
    """
    wanted = read_date(asked, order)
    # Most texts contain neither the number of the day nor a range, which is much faster to find out.
    if not any(_get_hint(one.day or one.year).search(text) for one in wanted):
        return None
    found = [
        one
        for one in find_dates(text)
        if any(_is_same(wish, other, years) for wish in wanted for other in read_date(one, order))
    ]
    return min(found, key=lambda one: (one.text != asked.text, len(read_date(one, order))), default=None)


@cache
def _get_hint(number: int) -> re.Pattern[str]:
    """Return a pattern for the day, or the last digits of the year, of a date, and for a range of numbers."""
    return re.compile(rf"(?:(?<!\d)0?|\d\d){number % 100}(?!\d)|\d\w?\w?\.?\s?[-–]\s?\d")


def _is_same(asked: CalendarDate, said: CalendarDate, years: Collection[str]) -> bool:
    if asked.month != said.month or (asked.day and asked.day != said.day):
        return False
    if asked.year and not said.year:
        return not years or str(asked.year) in years
    return not asked.year or asked.year == said.year


def contains_only_exchanged_date(dates: AskedDates, text: str, version_id: str) -> bool:
    """Return whether a text states no asked date, but one with its day and month exchanged."""
    order = dates.get_order(version_id)
    exchanged = [
        replace(asked, readings=tuple(one._replace(month=one.day, day=one.month) for one in read_date(asked, order)))
        for asked in dates.dates
        if asked.readings[0].day
    ]
    return any(find_matching_date(one, text, order) for one in exchanged) and not states_date(dates, text, version_id)


def states_date(dates: AskedDates, text: str, version_id: str, title: str = "") -> bool:
    """Return whether a text of a document with this title states one of the days or months of a question."""
    order, years = dates.get_order(version_id), find_years(title)
    return any(find_matching_date(asked, text, order, years) for asked in dates.dates)


def write_dates_as(question: str, dates: AskedDates, text: str, version_id: str, title: str = "") -> str:
    """Return a question with its dates as a text writes them, since the reading model does not compare dates.

    >>> asked = "What was paid on 7 April 2023?"
    >>> dates = AskedDates(find_asked_dates(asked), {"log": "mdy"})
    >>> write_dates_as(asked, dates, "Paid 04/07/2023: 12 euros.", "log")
    'What was paid on 04/07/2023?'
    """
    order, years = dates.get_order(version_id), find_years(title)
    for asked in reversed(dates.dates):
        if found := find_matching_date(asked, text, order, years):
            question = question[: asked.start] + found.text + question[asked.end :]
    return question


def describe_date(one: CalendarDate) -> str:
    """Return a date in English, such as "7 April 2023"."""
    month = MONTHS[one.month - 1].capitalize()
    return " ".join(filter(None, (str(one.day or ""), month, str(one.year or ""))))
