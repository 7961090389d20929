"""Find dates in texts, in many notations and languages, and compare dates of questions with dates of documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import chain, product

from rag_core.text.dates import YEAR, find_years
from rag_core.text.languages import LANGUAGES, detect_language
from rag_core.text.normalize import normalize
from rag_core.text.relative_dates import describe_date, describe_days, find_relative_dates
from rag_core.types.dates import (
    DAY_FIRST,
    MONTH_FIRST,
    NO_DATES_FOR_DOCUMENT,
    AskedDates,
    CalendarDate,
    DatesForDocument,
    WrittenDate,
)
from rag_core.types.documents import blank_spans
from rag_core.types.local_time import get_today

# Two-digit years from 69 to 99 are in the 20th century, as in POSIX.
_PIVOT, _MONTHS = 69, 12
# A leap year, for checks of dates without a year: 29 February is valid.
_LEAP_YEAR = 2000
# Terms in a word index that stand for the order of day and month in a text.
ORDER_TERMS = {DAY_FIRST: "orderdmy", MONTH_FIRST: "ordermdy"}
# Names of months that are also common words. They are months only with a year or a capital letter.
_ALSO_WORDS = frozenset(("may", "march", "mar", "mars"))
# Abbreviations of months that are also English words. They are months only between a day and a year, unlike in "set 5"
# and "rolled out 2023".
_ENGLISH_WORDS = frozenset(("set", "ago", "out"))
_WORD = r"([^\W\d_]{3,10})"
_OF = r"(?:(?:of|de|del|di)\s+)?"
_SOME_YEAR = rf"({YEAR}|['’]\d\d)(?!\d)"
_BEFORE, _AFTER = r"(?<![\w.,/$€£-])", r"(?![\w/-]|[.,]\d)"
# A dash or a word between the first and the last day of a period.
_TO = r"(?:\s?[-–]\s?|\s(?:to|bis(?:\szum)?|au|al?|at[ée]|t/m|tot(?:\sen\smet)?)\s)"
# "7 April 2023", "7th of April", "7. April 2023", "1er avril 2023", "7 de abril de 2023", "7-Apr-23", "7–9 April 2023".
_DAY_MONTH = re.compile(
    rf"{_BEFORE}(?:(\d{{1,2}})(?:st|nd|rd|th|\.)?{_TO})?(\d{{1,2}})(?:st|nd|rd|th|er|\.?º|\.|°)?(?:\s{{1,2}}|\s?(-))?"
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
# "am 31.05."; without the preposition, the number can be that of a section.
_DAY_OF_MONTH = re.compile(
    r"(?:(?<=\bam\s)|(?<=\b(?:zum|den|dem|vom|bis)\s))(\d{1,2})\.\s?(\d{1,2})\.(?!\s?\d)", re.IGNORECASE
)

_MONTH_OF_YEAR = re.compile(rf"{_BEFORE}(\d\d)/({YEAR}){_AFTER}")
_WEEKDAY_BEFORE = re.compile(r"(?<!\w)([^\W\d_]{2,10})\.?,?\s{1,2}(?:(?:the|den|der|dem|le|el|il)\s)?\Z", re.IGNORECASE)
# Maximum length of the text between the beginning of a weekday and a date.
_MAX_WEEKDAY = 18
# A notation of dates that a document states, such as "MM/DD/YYYY" and "TT.MM.JJJJ".
_NOTATION = re.compile(r"(?<!\w)(?:(MM?)[/.-](?:DD?|TT|JJ|GG)|(?:DD?|TT|JJ|GG)[/.-]MM?)[/.-][YJA]{2,4}(?!\w)")
# Number of characters at the beginning of a document in which its date is looked for, and the maximum number of words
# before the date in its line.
_HEAD, _HEAD_WORDS = 600, 5
_ANY_DAY = date(_LEAP_YEAR, 1, 1)
# "The day after" and "the day before", before an event or a date in a question.
_BESIDE = re.compile(
    r"(?<!\w)(?:the|a[mo]|de[nr]?|le|la|el|o|il)\s(?:(?P<after>day after|tag nach|dag na|lendemain|d[ií]a (?:siguiente|"
    r"seguinte|despu[ée]s|depois)|giorno dopo)|(?P<before>day before|tag vor|dag voor|veille|d[ií]a (?:anterior|antes)|"
    r"giorno prima))(?!\w)(?:\s(?:d[eo]l?|du|a[ol]?|de[mnr])(?!\w))?",
    re.IGNORECASE,
)


@cache
def load_calendar_names(*styles: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of each month (from 1) by name, and the number of each weekday (from 0, Monday) by name.

    The names are those of all `LANGUAGES`, normalized and without a final full stop. The styles are ``wide`` for full
    names and ``abbreviated``.
    """
    from babel import Locale

    months, weekdays = {"sept": 9} if "abbreviated" in styles else {}, dict[str, int]()
    for locale in map(Locale.parse, (*LANGUAGES, "de_AT", "fr_CA")):
        for known, names in ((months, locale.months), (weekdays, locale.days)):
            for form, style in product(("format", "stand-alone"), styles):
                for number, name in names[form][style].items():
                    known.setdefault(normalize(name).rstrip("."), number)
    return months, weekdays


@lru_cache(maxsize=4000)
def find_dates(text: str) -> tuple[WrittenDate, ...]:
    """Return the days and months that a text states, in text order.

    A date without a year is found if it contains the name of a month, or if it follows a German preposition or article,
    as in "am 31.05.". Relative dates, such as "yesterday", are not found.

    >>> [one.readings for one in find_dates("Freitag, 7. April 2023")]
    [(CalendarDate(year=2023, month=4, day=7),)]
    >>> find_dates("on 04/07/2023")[0].readings
    (CalendarDate(year=2023, month=7, day=4), CalendarDate(year=2023, month=4, day=7))
    """
    found: list[WrittenDate] = []
    for written in chain(_find_numeric_dates(text), _find_month_name_dates(text)):
        if not any(one.start < written.end and written.start < one.end for one in found):
            found.append(_add_weekday(written, text))
    return tuple(sorted(found, key=lambda one: one.start))


def _find_numeric_dates(text: str) -> Iterator[WrittenDate]:
    if not any(map(str.isdigit, text)):
        return
    for match in _ISO.finditer(text):
        yield from _build_written_date(match, [_build_calendar_date(match[1], match[3], match[4])])
    for match in _NUMERIC.finditer(text):
        first, second, year = match[1], match[4], match[5]
        readings = [_build_calendar_date(year, second, first), _build_calendar_date(year, first, second)]
        if match[3] and readings[0]:
            yield from _build_written_date(match, readings[:1])
            continue
        order = DAY_FIRST if int(first) > _MONTHS else MONTH_FIRST if int(second) > _MONTHS else ""
        yield from _build_written_date(match, readings, order, is_numeric=True)
    for match in _DAY_OF_MONTH.finditer(text):
        yield from _build_written_date(match, [_build_calendar_date("", match[2], match[1])])

    for match in _MONTH_OF_YEAR.finditer(text):
        yield from _build_written_date(match, [_build_calendar_date(match[2], match[1], "")])


def _find_month_name_dates(text: str) -> Iterator[WrittenDate]:
    for match in _DAY_MONTH.finditer(text):
        yield from _build_month_name_date(match, match[4], match[1], match[2], match[5] or match[6])
    for match in _MONTH_DAY.finditer(text):
        yield from _build_month_name_date(match, match[1], match[2], match[3], match[4])
    for match in _MONTH_YEAR.finditer(text):
        yield from _build_month_name_date(match, match[1], "", "", match[2])


def _build_month_name_date(
    match: re.Match[str], name: str, first: str | None, last: str, year: str | None
) -> Iterator[WrittenDate]:
    """Yield the date of a match, or nothing if ``name`` is not the name of a month there.

    ``first`` and ``last`` are the days of a range; ``first`` is empty or ``None`` for one day, and ``last`` is empty
    for a month.
    """
    folded = normalize(name)
    month = load_calendar_names("wide", "abbreviated")[0].get(folded)
    is_word = not year and folded in _ALSO_WORDS and name.islower()
    if folded in _ENGLISH_WORDS:
        is_word = not (year and last) or " of " in match[0]
    if month is None or is_word:
        return
    days = range(int(first or last), int(last) + 1) or (int(last),) if last else (0,)
    yield from _build_written_date(
        match, [_build_calendar_date(year or "", str(month), str(day or "")) for day in days]
    )


def _build_calendar_date(year: str, month: str, day: str) -> CalendarDate | None:
    """Return a date from its parts; ``None`` if there is no such date.

    Year and day may be empty. A year of two digits is from 1969 to 2068.
    """
    digits = year.lstrip("'’")
    number = int(digits or 0)
    if len(digits) == len("23"):
        number += 1900 if number >= _PIVOT else 2000
    try:
        date(number or _LEAP_YEAR, int(month), int(day or 1))
    except ValueError:
        return None
    return CalendarDate(number, int(month), int(day or 0))


def _build_written_date(
    match: re.Match[str], readings: Iterable[CalendarDate | None], order: str = "", *, is_numeric: bool = False
) -> Iterator[WrittenDate]:
    """Yield the date of a match, or nothing if no reading is possible."""
    if possible := tuple(dict.fromkeys(one for one in readings if one)):
        text = " ".join(match[0].split()).rstrip(".")
        yield WrittenDate(match.start(), match.end(), text, possible, order, is_numeric)


def _add_weekday(written: WrittenDate, text: str) -> WrittenDate:
    """Return a date extended by the weekday before it; unchanged without a weekday.

    If a numeric date has readings on this weekday, its other readings are left out.
    """
    match = _WEEKDAY_BEFORE.search(text, max(0, written.start - _MAX_WEEKDAY), written.start)
    weekday = load_calendar_names("wide", "abbreviated")[1].get(normalize(match[1])) if match else None
    if match is None or weekday is None:
        return written
    fitting = tuple(one for one in written.readings if all(one) and date(*one).weekday() == weekday)
    readings = (written.is_numeric and fitting) or written.readings
    return replace(
        written, start=match.start(), text=" ".join(text[match.start() : written.end].split()), readings=readings
    )


def find_head_date(text: str, order: str) -> date | None:
    """Return the day on which a document was written; ``None`` if its first page does not state the day, or is a log.

    The day is the first one that stands at the end of a line near the beginning of the page, after at most
    `_HEAD_WORDS` words. If the line has no year, there must be exactly one year near the beginning.

    A log of several days was not written on one day. A page is a log in these cases:

    - Several lines consist of a day.
    - An entry begins with a day and contains words such as "yesterday". It ends at a blank line.

    Parameters
    ----------
    text : str
        Text of the first page.
    order : str
        Order of day and month in the document; empty if it is unknown. Without it, ambiguous dates are ignored.

    >>> find_head_date("Memo\\nOslo, 11 March 2024\\nYesterday the pump failed.", "")
    datetime.date(2024, 3, 11)
    """
    found: list[CalendarDate] = []
    years = find_years(text[:_HEAD], with_second=False)
    alone = position = 0
    is_entry = False
    for line in text.splitlines(keepends=True):
        days = [(one, read_date(one, order)) for one in find_dates(line)]
        full = [(one, readings[0]) for one, readings in days if len(readings) == 1 and readings[0].day]
        last = [(one, day) for one, day in full if not re.search(r"\w", line[one.end :])]
        begins_with_day = any(not line[: one.start].strip() for one, _ in full)
        is_alone = any(not line[: one.start].strip() for one, _ in last)
        alone += is_alone
        is_entry = not is_alone and (begins_with_day or (is_entry and bool(line.strip())))
        if is_entry and find_relative_dates(line, _ANY_DAY):
            return None
        for one, day in last if position < _HEAD else ():
            if len(line[: one.start].split()) <= _HEAD_WORDS and (day.year or len(years) == 1):
                found.append(day if day.year else day._replace(year=int(years[0])))
        position += len(line)
    return date(*found[0]) if found and alone <= 1 else None


def find_orders(text: str) -> frozenset[str]:
    """Return the orders of day and month that a text shows, by unambiguous dates or by a notation such as DD/MM/YYYY.

    >>> find_orders("Paid 04/07/2023 and 12/25/2023."), find_orders("Dates as DD/MM/YYYY")
    (frozenset({'mdy'}), frozenset({'dmy'}))
    """
    stated = {MONTH_FIRST if match[1] else DAY_FIRST for match in _NOTATION.finditer(text)}
    return frozenset(stated | {one.order for one in find_dates(text) if one.order})


def list_date_terms(text: str) -> list[str]:
    """Return terms for the word index for the dates in a text, and for the orders of day and month that it shows.

    Each reading of a date has a term. A reading with year and day has two more terms: one without the year, and one
    without the day.

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
    """Return the terms of the word index for the dates in a question, one for each reading; see `write_term`."""
    return list(dict.fromkeys(write_term(one) for found in find_asked_dates(question) for one in found.readings))


def find_asked_dates(question: str) -> tuple[WrittenDate, ...]:
    """Return the dates in a question, in order.

    - An ambiguous numeric date has the order of day and month that other dates of the question show. Otherwise, the day
      is first in a language other than English; in English, both readings are kept.
    - Words such as "next week" are relative to today.
    - "The day after 1 May" is one date, 2 May. "The day after" before other words, as in "the day after the meeting",
      is a date without readings.
    """
    return _find_asked_dates(question, get_today())


@lru_cache(maxsize=32)
def _find_asked_dates(question: str, today: date) -> tuple[WrittenDate, ...]:
    orders = find_orders(question)
    order = next(iter(orders)) if len(orders) == 1 else DAY_FIRST if detect_language(question) else ""
    found = [replace(one, readings=read_date(one, order)) for one in find_dates(question)]
    found = sorted([*found, *find_relative_dates(question, today, is_question=True)], key=lambda one: one.start)
    for match in _BESIDE.finditer(question):
        following = next((one for one in found if one.end > match.start()), None)
        if following is None or question[match.end() : following.start].strip():
            found.append(WrittenDate(*match.span(), match["after"] or match["before"], ()))
        elif match.end() <= following.start:
            found.remove(following)
            found.append(_shift_date(following, match.start(), question, 1 if match["after"] else -1))
    return tuple(sorted(found, key=lambda one: one.start))


def _shift_date(written: WrittenDate, start: int, question: str, days: int) -> WrittenDate:
    """Return a date with its readings shifted by a number of days; readings without a day are left out.

    ``start`` is the offset of words such as "the day after" before the date.
    """
    complete = [one for one in written.readings if one.day]
    shifted = [date(one.year or _LEAP_YEAR, *one[1:]) + timedelta(days) for one in complete]
    readings = tuple(
        CalendarDate(one.year and day.year, day.month, day.day) for one, day in zip(complete, shifted, strict=True)
    )
    return WrittenDate(start, written.end, question[start : written.end], readings, is_computed=True)


def describe_asked_days(question: str) -> list[str]:
    """Return a sentence for the user about each relative date of a question."""
    return [
        f"{one.text[:1].upper()}{one.text[1:]}: {describe_days(one.readings)}."
        for one in find_asked_dates(question)
        if one.is_computed and one.readings
    ]


def read_date(written: WrittenDate, order: str) -> tuple[CalendarDate, ...]:
    """Return the reading of an ambiguous numeric date in an order of day and month.

    All readings of other dates are returned, and all readings if ``order`` is empty.
    """
    if not written.is_numeric or len(written.readings) == 1 or not order:
        return written.readings
    return (written.readings[order == MONTH_FIRST],)


def find_matching_date(
    asked: WrittenDate, text: str, document: DatesForDocument, title: str = ""
) -> WrittenDate | None:
    """Return a date in a text that may be the same as a date in a question; ``None`` if there is none.

    Of several dates, one that is written as in the question is preferred, then one with few readings. A date in the
    question without readings matches only the same words.

    Parameters
    ----------
    asked : WrittenDate
        The date in the question.
    text : str
    document : DatesForDocument
        Properties of the document that contains the text.
    title : str
        Title of the document. A date of the text without a year is taken to be in one of the years in the title. If
        the title has none, the year follows from ``document.written_on``, if this is known; see `_list_years`.
    """
    if not asked.readings:
        match = re.search(rf"(?<!\w){re.escape(asked.text)}(?!\w)", text, re.IGNORECASE)
        return WrittenDate(*match.span(), match[0], ()) if match else None
    wanted = read_date(asked, document.order)
    days = find_relative_dates(text, document.written_on) if document.written_on else ()
    # Words for several days, such as "last week", do not state one of the days.
    found = [one for one in days if len(one.readings) == 1]
    # A quick check: most texts contain neither the number of the day nor a range of numbers.
    if any(_build_hint(one.day or one.year).search(text) for one in wanted):
        found += find_dates(text)
    years = find_years(title) if found else []
    same = [
        (written.text != asked.text, len(readings), written)
        for written in found
        if (readings := read_date(written, document.order))
        and any(
            _may_be_same(wish, one, years or _list_years(one, document.written_on))
            for wish, one in product(wanted, readings)
        )
    ]
    return min(same, key=lambda one: one[:2])[2] if same else None


def _list_years(one: CalendarDate, written_on: date | None) -> list[str]:
    """Return the years that a date without a year can have, given the day on which its document was written.

    These are the year of ``written_on``, and the year in which the date's month is nearest to ``written_on``.
    The list is empty for a date with a year, and if the day on which the document was written is unknown.
    """
    if written_on is None or one.year:
        return []
    days = [date(written_on.year + step, one.month, 1) for step in (-1, 0, 1)]
    return [str(written_on.year), str(min(days, key=lambda day: abs(day - written_on)).year)]


@cache
def _build_hint(number: int) -> re.Pattern[str]:
    """Return a pattern for the quick check whether a text can contain a day or a year.

    It matches a number that ends in the day or in the last two digits of the year, and any range of numbers, because
    the day can be inside the range.
    """
    return re.compile(rf"(?:(?<!\d)0?|\d\d){number % 100}(?!\d)|\d\w?\w?\.?{_TO}\d")


def _may_be_same(asked: CalendarDate, said: CalendarDate, years: Sequence[str]) -> bool:
    """Return whether two dates may be the same. ``years`` are the possible years of ``said`` if it states none."""
    if asked.month != said.month or (asked.day and asked.day != said.day):
        return False
    if asked.year and not said.year:
        return not years or str(asked.year) in years
    return not asked.year or asked.year == said.year


def is_dated(document: DatesForDocument, title: str) -> bool:
    """Return whether a date in a question is the day on which the document was written, or is stated in ``title``."""
    day = document.written_on
    is_asked_for = day is not None and any((day.year, day.month, day.day) in one.readings for one in document.dates)
    return is_asked_for or states_date(document, title)


def select_days(dates: AskedDates, version_id: str, title: str) -> DatesForDocument:
    """Return the days, without the months, in a question for a document; empty if `is_dated` is true of the document.

    ``title`` is the title of the document.
    """
    days = dates.days_of(version_id)
    return NO_DATES_FOR_DOCUMENT if is_dated(days, title) else days


def states_date(document: DatesForDocument, text: str, title: str = "") -> bool:
    """Return whether a text of a document states one of the dates of a question; see `find_matching_date`."""
    return any(find_matching_date(asked, text, document, title) for asked in document.dates)


def contains_only_exchanged_date(document: DatesForDocument, text: str) -> bool:
    """Return whether a text contains a date of a question only with day and month exchanged."""
    exchanged = [
        replace(asked, readings=tuple(one._replace(month=one.day, day=one.month) for one in readings))
        for asked in document.dates
        if asked.names_day and (readings := read_date(asked, document.order))
    ]
    return any(find_matching_date(one, text, document) for one in exchanged) and not states_date(document, text)


def blank_dates(question: str, dates: Iterable[WrittenDate]) -> str:
    """Return a question in which each character of the given dates is replaced by a blank."""
    return blank_spans(question, ((one.start, one.end) for one in dates))


def write_dates_as(question: str, document: DatesForDocument, text: str, title: str = "") -> str:
    """Return a question with its dates as a text writes them, because the answerability model cannot compare dates.

    A date that the text does not contain stays as it is.

    >>> asked = "What was paid on 7 April 2023?"
    >>> write_dates_as(asked, DatesForDocument(find_asked_dates(asked), "mdy"), "Paid 04/07/2023: 12 euros.")
    'What was paid on 04/07/2023?'
    """
    for asked in reversed(document.dates):
        if found := find_matching_date(asked, text, document, title):
            question = question[: asked.start] + found.text + question[asked.end :]
    return question


def describe_reading(dates: DatesForDocument, text: str, name: str, title: str) -> list[str]:
    """Return sentences for the user about dates of a question whose meaning in a text is uncertain.

    The order of day and month, or the year, can be uncertain.

    Parameters
    ----------
    dates : DatesForDocument
        The dates of the question, and properties of the document.
    text : str
    name, title : str
        Name and title of the document.

    >>> dates = DatesForDocument(find_asked_dates("What was paid on 7 April 2023?"))
    >>> describe_reading(dates, "Paid 04/07/2023: 12 euros.", "log.pdf", "")
    ['“04/07/2023” in log.pdf can be 4 July 2023 or 7 April 2023.']
    """
    sentences = []
    for asked in dates.dates:
        found = find_matching_date(asked, text, dates, title)
        place = name if found and found.is_numeric else "the question"
        shown = found if found and found.is_numeric else asked
        if found and found.readings and not (found.readings[0].year or dates.written_on or find_years(title)):
            sentences += [f"“{found.text}” in {name} has no year."] if asked.readings[0].year else []
        if found is None or not shown.is_numeric or len(shown.readings) == 1:
            continue
        days = [describe_date(one) for one in read_date(shown, dates.order)]
        if len(days) > 1:
            sentences.append(f"“{shown.text}” in {place} can be {' or '.join(days)}.")
        else:
            first = "month" if dates.order == MONTH_FIRST else "day"
            sentences.append(f"“{shown.text}” in {place} is read as {days[0]}: {name} writes the {first} first.")
    return sentences
