"""Dates in texts, however they are written, and their comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain, product
from typing import Any

from rag_core.text.dates import MONTHS, YEAR, find_years
from rag_core.text.languages import LANGUAGES, detect_language
from rag_core.text.normalize import normalize
from rag_core.types.dates import (
    DAY_FIRST,
    MONTH_FIRST,
    NO_DATES_FOR_DOCUMENT,
    AskedDates,
    CalendarDate,
    DatesForDocument,
    WrittenDate,
)

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
# Between the first and the last day of a period.
_TO = r"(?:\s?[-–]\s?|\s(?:to|bis(?:\szum)?|au|al)\s)"
# "7 April 2023", "7th of April", "7. April 2023", "1er avril 2023", "7 de abril de 2023", "7-Apr-23", "7–9 April 2023".
_DAY_MONTH = re.compile(
    rf"{_BEFORE}(?:(\d{{1,2}})(?:st|nd|rd|th|\.)?{_TO})?(\d{{1,2}})(?:st|nd|rd|th|er|\.|º|°)?(?:\s{{1,2}}|\s?(-))?"
    rf"{_OF}{_WORD}(?!\w)\.?(?:(?(3)-({YEAR}|\d\d)(?!\d)|,?\s{{1,2}}{_OF}{_SOME_YEAR}))?",
    re.IGNORECASE,
)
# "April 7, 2023", "Apr. 7th" and "April 7-9, 2023".
_MONTH_DAY = re.compile(
    rf"(?<!\w){_WORD}\.?\s{{1,2}}(?:(\d{{1,2}})(?:st|nd|rd|th)?{_TO})?(\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?!\w|[.,:/]\d|\s?[%€£$])(?:,?\s{{1,2}}{_SOME_YEAR})?",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(rf"(?<!\w){_WORD}\.?,?\s{{1,2}}{_OF}({YEAR})(?!\d)", re.IGNORECASE)
_ISO = re.compile(rf"{_BEFORE}({YEAR})([-/.])(\d\d)\2(\d\d)(?![\d/-]|[.,]\d)")
_NUMERIC = re.compile(rf"{_BEFORE}(\d{{1,2}})(?:([/-])|(\.)\s?)(\d{{1,2}})(?:\2|\3\s?)({YEAR}|\d\d){_AFTER}")
# "am 31.05."; without the word before it, it may be the number of a section.
_DAY_OF_MONTH = re.compile(r"(?:(?<=\bam\s)|(?<=\b(?:zum|den|dem|vom|bis)\s))(\d{1,2})\.\s?(\d{1,2})\.(?!\s?\d)")
# Days with names of their own in questions; a year after the name says that the day is meant.
_NAMED_DAYS = {
    **dict.fromkeys(("christmas eve", "heiligabend", "nochebuena"), (12, 24)),
    **dict.fromkeys(("christmas day", "noel", "navidad"), (12, 25)),
    **dict.fromkeys(("new year's eve", "silvester", "nochevieja"), (12, 31)),
    **dict.fromkeys(("new year's day", "neujahr", "ano nuevo"), (1, 1)),
}
_NAMED_DAY = re.compile(
    r"(?<!\w)(christmas (?:eve|day)|new year['’]s (?:eve|day)|heiligabend|silvester|neujahr|no[eë]l|nochebuena|navidad|"
    rf"nochevieja|a[nñ]o nuevo)(?:,| of| de)? ({YEAR})(?!\d)",
    re.IGNORECASE,
)
_MONTH_OF_YEAR = re.compile(rf"{_BEFORE}(\d\d)/({YEAR}){_AFTER}")
_WEEKDAY_BEFORE = re.compile(r"(?<!\w)([^\W\d_]{2,10})\.?,?\s{1,2}(?:(?:the|den|der|dem|le|el|il)\s)?\Z", re.IGNORECASE)
_LONGEST_WEEKDAY = 18
# How documents say in which order they write dates, such as "MM/DD/YYYY" and "TT.MM.JJJJ".
_NOTATION = re.compile(r"(?<!\w)(?:(MM?)[/.-](?:DD?|TT|JJ|GG)|(?:DD?|TT|JJ|GG)[/.-]MM?)[/.-][YJA]{2,4}(?!\w)")

# The keys of phrases in dateparser's data that name a day, and the number in its patterns.
_DISTANCE = re.compile(r"(in )?(?:(\d+) day|\\1 (day|week))(?: ago)?|(last|this|next) (\w+day)")
_SIGNS = {"last": -1, "this": 0, "next": 1}
_COUNT = r"(\d++[.,]?\d*+)"
# At most so many words stand before the date of a document in its line, which is among its first characters.
_HEAD_WORDS, _HEAD = 5, 600


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
    for match in _DAY_OF_MONTH.finditer(text):
        yield from _build(match, [_read("", match[2], match[1])])
    for match in _NAMED_DAY.finditer(text):
        month, day = _NAMED_DAYS[normalize(match[1])]
        yield from _build(match, [_read(match[2], str(month), str(day))])
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
    days = range(int(first or last), int(last) + 1) or (int(last),) if last else (0,)
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
    readings = (written.is_numeric and fitting) or written.readings
    return replace(
        written, start=match.start(), text=" ".join(text[match.start() : written.end].split()), readings=readings
    )


def find_head_date(text: str, order: str) -> date | None:
    """Return the day on which a document was written, by its first page; ``None`` if it does not say so.

    It ends a short line at the top. If further lines begin with a day, the page is a log of several days.

    >>> find_head_date("Memo\\nOslo, 11 March 2024\\nYesterday the pump failed.", "")
    datetime.date(2024, 3, 11)
    """
    found: list[CalendarDate] = []
    begun = position = 0
    for line in text.splitlines(keepends=True):
        days = [(one, read_date(one, order)) for one in find_dates(line)]
        full = [(one, readings[0]) for one, readings in days if len(readings) == 1 and all(readings[0])]
        begun += any(not line[: one.start].strip() for one, _ in full)
        ends = (
            day
            for one, day in full
            if not re.search(r"\w", line[one.end :]) and len(line[: one.start].split()) <= _HEAD_WORDS
        )
        found += ends if position < _HEAD else ()
        position += len(line)
    return date(*found[0]) if found and begun <= 1 else None


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


def find_matching_date(
    asked: WrittenDate, text: str, document: DatesForDocument, title: str = ""
) -> WrittenDate | None:
    """Return the date in a text that may be the one in a question; one that is written alike before others.

    Parameters
    ----------
    asked : WrittenDate
    text : str
    document : DatesForDocument
        The document of the text.
    title : str
        Its title; a date without a year is of a year in it.
    """
    wanted = read_date(asked, document.order)
    found = list(_find_relative(text, document.written_on)) if document.written_on else []
    # Most texts contain neither the number of the day nor a range, which is much faster to find out.
    if any(_get_hint(one.day or one.year).search(text) for one in wanted):
        found += find_dates(text)
    years = find_years(title) if found else []
    readings = ((one, read_date(one, document.order)) for one in found)
    same = [
        (written.text != asked.text, len(read), written)
        for written, read in readings
        if any(_may_be_same(wish, one, years) for wish, one in product(wanted, read))
    ]
    return min(same, key=lambda one: one[:2])[2] if same else None


@lru_cache(maxsize=500)
def _find_relative(text: str, written_on: date) -> tuple[WrittenDate, ...]:
    """Return the days that a text names by their distance, such as "yesterday", "last Friday" and "two weeks ago"."""
    found = []
    for pattern, days, weekday in _load_distances():
        for match in pattern.finditer(normalize(text)):
            count = match[1] if match.re.groups else "1"
            if weekday is None:
                distance = days * int(_load_numerals().get(count, count))
            else:
                distance = weekday - written_on.weekday()
                # The last or the next such weekday is from one to seven days away.
                distance = days * ((days * distance - 1) % 7 + 1) if days else distance
            day = written_on + timedelta(distance)
            found.append(WrittenDate(*match.span(), match[0], (CalendarDate(day.year, day.month, day.day),)))
    return tuple(found)


def _load_info() -> list[Mapping[str, Any]]:
    """Return the words for dates in the known languages."""
    return [import_module(f"dateparser.data.date_translation_data.{one}").info for one in LANGUAGES]


@cache
def _load_numerals() -> dict[str, str]:
    pairs = chain.from_iterable(one.items() for info in _load_info() for one in info["simplifications"])
    return {normalize(word): number for word, number in pairs if word.isalpha() and number.isdigit()}


@cache
def _load_distances() -> list[tuple[re.Pattern[str], int, int | None]]:
    """Return patterns of words such as "yesterday" and "(2) weeks ago", with the days for each 1 that they count.

    For the name of a weekday, which is third, they are -1 for the last one, 1 for the next one, and 0 for this one.
    """
    numerals = rf"(\d{{1,3}}|{'|'.join(_load_numerals())})"
    patterns: dict[str, list[str]] = {}
    for info in _load_info():
        for key, phrases in info["relative-type"].items():
            patterns.setdefault(key, []).extend(re.escape(normalize(one)) for one in phrases)
        for key, phrases in info["relative-type-regex"].items():
            patterns.setdefault(key, []).extend(normalize(one).replace(_COUNT, numerals) for one in phrases)
    found: list[tuple[re.Pattern[str], int, int | None]] = []
    for key, phrases in patterns.items():
        match = _DISTANCE.fullmatch(key)
        if match is None:
            continue
        weekday = _load_names()[1][match[5]] if match[5] else None
        days = _SIGNS[match[4]] if match[4] else (1 if match[1] else -1) * (7 if match[3] == "week" else 1)
        days *= int(match[2]) if match[2] and match[2].isdigit() else 1
        found += [(re.compile(rf"(?<!\w)(?:{one})(?!\w)"), days, weekday) for one in phrases]
    return found


@cache
def _get_hint(number: int) -> re.Pattern[str]:
    """Return a pattern for the day, or the last digits of the year, of a date, and for a range of numbers."""
    return re.compile(rf"(?:(?<!\d)0?|\d\d){number % 100}(?!\d)|\d\w?\w?\.?{_TO}\d")


def _may_be_same(asked: CalendarDate, said: CalendarDate, years: Sequence[str]) -> bool:
    if asked.month != said.month or (asked.day and asked.day != said.day):
        return False
    if asked.year and not said.year:
        return not years or str(asked.year) in years
    return not asked.year or asked.year == said.year


def is_dated(document: DatesForDocument, title: str) -> bool:
    """Return whether a document as a whole is of a day or month of a question, by its title or its head."""
    day = document.written_on
    of_day = day is not None and any((day.year, day.month, day.day) in one.readings for one in document.dates)
    return of_day or states_date(document, title)


def select_days(dates: AskedDates, version_id: str, title: str) -> DatesForDocument:
    """Return the days of a question that distinguish parts of a document; none if one is the date of the whole."""
    days = dates.days_of(version_id)
    return NO_DATES_FOR_DOCUMENT if is_dated(days, title) else days


def states_date(document: DatesForDocument, text: str, title: str = "") -> bool:
    """Return whether a text of a document with this title states one of the days or months of a question."""
    return any(find_matching_date(asked, text, document, title) for asked in document.dates)


def contains_only_exchanged_date(document: DatesForDocument, text: str) -> bool:
    """Return whether a text states no date of a question, but one with its day and month exchanged."""
    exchanged = [
        replace(asked, readings=tuple(one._replace(month=one.day, day=one.month) for one in readings))
        for asked in document.dates
        if (readings := read_date(asked, document.order))[0].day
    ]
    return any(find_matching_date(one, text, document) for one in exchanged) and not states_date(document, text)


def write_dates_as(question: str, document: DatesForDocument, text: str, title: str = "") -> str:
    """Return a question with its dates as a text writes them, since the reading model does not compare dates.

    >>> asked = "What was paid on 7 April 2023?"
    >>> write_dates_as(asked, DatesForDocument(find_asked_dates(asked), "mdy"), "Paid 04/07/2023: 12 euros.")
    'What was paid on 04/07/2023?'
    """
    for asked in reversed(document.dates):
        if found := find_matching_date(asked, text, document, title):
            question = question[: asked.start] + found.text + question[asked.end :]
    return question


def describe_reading(dates: DatesForDocument, text: str, name: str) -> list[str]:
    """Return a sentence on how the dates of a question are read in a text, if day and month could be exchanged.

    >>> dates = DatesForDocument(find_asked_dates("What was paid on 7 April 2023?"))
    >>> describe_reading(dates, "Paid 04/07/2023: 12 euros.", "log.pdf")
    ['“04/07/2023” in log.pdf can be 4 July 2023 or 7 April 2023.']
    """
    sentences = []
    for asked in dates.dates:
        found = find_matching_date(asked, text, dates)
        place = name if found and found.is_numeric else "the question"
        shown = found if found and found.is_numeric else asked
        if found is None or not shown.is_numeric or len(shown.readings) == 1:
            continue
        days = [describe_date(one) for one in read_date(shown, dates.order)]
        if len(days) > 1:
            sentences.append(f"“{shown.text}” in {place} can be {' or '.join(days)}.")
        else:
            first = "month" if dates.order == MONTH_FIRST else "day"
            sentences.append(f"“{shown.text}” in {place} is read as {days[0]}: {name} writes the {first} first.")
    return sentences


def describe_date(one: CalendarDate) -> str:
    """Return a date in English, such as "7 April 2023"."""
    month = MONTHS[one.month - 1].capitalize()
    return " ".join(filter(None, (str(one.day or ""), month, str(one.year or ""))))
