"""Find relative dates in texts, such as "yesterday" and "next week", with the data of dateparser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain, product
from typing import Any

from rag_core.text.dates import MONTHS
from rag_core.text.languages import LANGUAGES, detect_language
from rag_core.text.normalize import normalize
from rag_core.text.words import LETTERS
from rag_core.types.dates import CalendarDate, WrittenDate

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = (*_WEEKDAYS, "week", "month")
# Minimum number of letters of the name of a weekday or a week, because shorter abbreviations are also other words.
_MIN_LETTERS = 4
# Minimum number of letters of the longest word in a phrase such as "2 weeks ago".
_MIN_UNIT = 3
# Keys of dateparser's data for phrases with a fixed number of days, and for phrases that contain a number.
_FIXED, _COUNTED = re.compile(r"(in )?(\d) day(?: ago)?"), re.compile(r"(in )?\\1 (day|week)(?: ago)?")
# The number in the patterns of dateparser.
_COUNT = r"(\d++[.,]?\d*+)"
# Keys of dateparser's data for "last", "this" and "next week", with the distance in weeks. The keys for months have
# "month" instead of "week".
_PERIODS = {"1 week ago": -1, "0 week ago": 0, "in 1 week": 1}
# Words that dateparser's data lacks: "last" and "next" before the noun, "next" after the noun, and phrases for days.
_MORE_BEFORE = {
    "de": {"vergangen": -1, "kommend": 1},
    "nl": {"afgelop": -1, "komend": 1, "aanstaand": 1},
}
_MORE_AFTER = {"es": {"que viene": 1}, "pt": {"que vem": 1}}
_ENDING = r"(?:[aeo]\w?)?"
_MORE_DAYS = {"pasado manana": 2, "antes de ayer": -2, "depois de amanha": 2, "antes de ontem": -2, "dopodomani": 2}
# Languages in which "last" may precede or follow the noun.
_FREE_ORDER = frozenset(("es", "it", "pt"))
# Excludes phrases that are not relative to today, such as "the last Friday of a month".
_NOT_AFTER = r"(?<!\bthe )(?<!\bevery )(?<!\beach )(?<!\bjeden )(?<!\belke )"
_NOT_BEFORE = r"(?! (?:of|des|im monat|van|du|del|do|da|della)\b)"
# Excludes "Morgen" and "mañana" in the sense of "morning", and "tomorrow" in the sense of "future".
_NOT_MORNING = r"(?<!\bof )(?<!\bam )(?<!\bden )(?<!\bde )(?<!\bla )(?<!\bguten )(?<!\bjeden )"
# In French, "hier" means yesterday; in German and Dutch, it is a frequent word that means here.
_HIER, _HIER_LANGUAGE = "hier", "fr"


@lru_cache(maxsize=500)
def find_relative_dates(text: str, today: date, *, is_question: bool = False) -> tuple[WrittenDate, ...]:
    """Return the relative dates of a text in text order: days, weeks and months.

    Parameters
    ----------
    text : str
    today : date
        The day to which the dates are relative.
    is_question : bool
        Whether the text is a question, where some words have other meanings: "in two days" is a duration, "today" can
        mean nowadays, and "Yesterday" is a name.

    >>> [one.readings for one in find_relative_dates("What did we do yesterday?", date(2026, 12, 1))]
    [(CalendarDate(year=2026, month=11, day=30),)]
    """
    plain = normalize(text)
    found: list[tuple[int, int, tuple[CalendarDate, ...]]] = []
    longest_first = sorted(_find_phrases(plain, today, is_question=is_question), key=lambda one: one[0] - one[1])
    for start, end, readings in longest_first:
        is_here = plain[start:end] == _HIER and detect_language(text) != _HIER_LANGUAGE
        if not is_here and not any(first < end and start < last for first, last, _ in found):
            found.append((start, end, readings))
    # For each character of the normalized text, its offset in the text.
    offsets = [offset for offset, char in enumerate(text) for _ in normalize(char)] if found else []
    spans = [(offsets[start], offsets[end - 1] + 1, readings) for start, end, readings in sorted(found)]
    return tuple(
        WrittenDate(start, end, text[start:end], readings, is_computed=True)
        for start, end, readings in spans
        if not (is_question and start and text[start].isupper())
    )


def _find_phrases(plain: str, today: date, *, is_question: bool) -> Iterator[tuple[int, int, tuple[CalendarDate, ...]]]:
    """Yield the span and the readings of each phrase in a normalized text; phrases can overlap."""
    words = set(LETTERS.findall(plain))
    fixed, days, keys = _load_fixed_phrases()
    for match in () if words.isdisjoint(keys) else fixed.finditer(plain):
        if days[match[0]] or not is_question:
            yield *match.span(), _list_days(today + timedelta(days[match[0]]))
    for pattern, step, keys in _load_counted_phrases():
        if not words.isdisjoint(keys) and (step < 0 or not is_question):
            for match in pattern.finditer(plain):
                count = next(filter(None, match.groups()))
                yield *match.span(), _list_days(today + timedelta(step * int(_load_numerals().get(count, count))))
    for pattern, signs, units in _load_unit_phrases():
        if not words.isdisjoint(units):
            for match in pattern.finditer(plain):
                sign, unit = signs[match["word"] or match["after"]], units[match["unit"] or match["before"]]
                yield *match.span(), _compute_dates(sign, unit, today)


def _compute_dates(sign: int, unit: int, today: date) -> tuple[CalendarDate, ...]:
    """Return the dates of the last (-1), this (0) or the next (1) unit, given its index in ``_UNITS``."""
    if _UNITS[unit] == "month":
        months = 12 * today.year + today.month - 1 + sign
        return (CalendarDate(months // 12, months % 12 + 1, 0),)
    monday = today - timedelta(today.weekday())
    if _UNITS[unit] == "week":
        return _list_days(monday + timedelta(7 * sign), 7)
    distance = unit - today.weekday()
    # The last or the next such weekday is from one to seven days away.
    return _list_days(today + timedelta(sign * ((sign * distance - 1) % 7 + 1) if sign else distance))


def _list_days(first: date, count: int = 1) -> tuple[CalendarDate, ...]:
    """Return consecutive days, given the first one and their number."""
    days = (first + timedelta(number) for number in range(count))
    return tuple(CalendarDate(day.year, day.month, day.day) for day in days)


def describe_days(dates: Sequence[CalendarDate]) -> str:
    """Return one date in English, or several consecutive days as a range.

    >>> describe_days([CalendarDate(2026, 11, 30), CalendarDate(2026, 12, 1)])
    '30 November to 1 December 2026'
    """
    first, last = dates[0], dates[-1]
    if first == last:
        return describe_date(first)
    beginning = describe_date(first._replace(year=0) if first.year == last.year else first)
    return f"{first.day if first[:2] == last[:2] else beginning} to {describe_date(last)}"


def describe_date(one: CalendarDate) -> str:
    """Return a date in English, such as "7 April 2023"."""
    month = MONTHS[one.month - 1].capitalize()
    return " ".join(filter(None, (str(one.day or ""), month, str(one.year or ""))))


@cache
def _load_language_data() -> dict[str, Mapping[str, Any]]:
    """Return the data of dateparser for each of `LANGUAGES`."""
    return {one: import_module(f"dateparser.data.date_translation_data.{one}").info for one in LANGUAGES}


@cache
def _load_numerals() -> dict[str, str]:
    """Return the number in digits of each spelled-out number, in all `LANGUAGES`."""
    pairs = chain.from_iterable(
        one.items() for info in _load_language_data().values() for one in info.get("simplifications", ())
    )
    return {normalize(word): number for word, number in pairs if word.isalpha() and number.isdigit()}


@cache
def _load_fixed_phrases() -> tuple[re.Pattern[str], dict[str, int], frozenset[str]]:
    """Return a pattern of phrases such as "yesterday", the distances of the phrases, and the longest word of each.

    The distance of a phrase is its number of days from today, negative for the past.
    A text without any of these words contains no phrase, which is fast to check.
    """
    days = dict(_MORE_DAYS)
    for info in _load_language_data().values():
        for key, phrases in info["relative-type"].items():
            if match := _FIXED.fullmatch(key):
                days |= dict.fromkeys(map(normalize, phrases), int(match[2]) * (1 if match[1] else -1))
    return (
        re.compile(rf"(?<!\w){_NOT_MORNING}(?:{_join_alternatives(days)})(?!\w)"),
        days,
        frozenset(map(_get_longest_word, days)),
    )


@cache
def _load_counted_phrases() -> list[tuple[re.Pattern[str], int, frozenset[str]]]:
    """Return patterns of phrases such as "2 weeks ago", each with the number of days of its unit and with words.

    The number of days is negative for the past. Each phrase of a pattern contains one of the words, so a text without
    these words contains no phrase.
    """
    numerals = rf"(\d{{1,3}}|{'|'.join(_load_numerals())})"
    phrases: dict[int, list[str]] = {}
    for info in _load_language_data().values():
        for key, listed in info["relative-type-regex"].items():
            if match := _COUNTED.fullmatch(key):
                step = (7 if match[2] == "week" else 1) * (1 if match[1] else -1)
                phrases.setdefault(step, []).extend(normalize(one).replace(_COUNT, "#") for one in listed)
    loaded = []
    for step, listed in phrases.items():
        # Many texts contain abbreviations of one or two letters.
        words = {one: _get_longest_word(one) for one in listed if len(_get_longest_word(one)) >= _MIN_UNIT}
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(words).replace('#', numerals)})(?!\w)")
        loaded.append((pattern, step, frozenset(words.values())))
    return loaded


def _get_longest_word(phrase: str) -> str:
    return max(map(str, LETTERS.findall(phrase)), key=len)


@cache
def _load_unit_phrases() -> list[tuple[re.Pattern[str], dict[str, int], dict[str, int]]]:
    """Return, for each language, a pattern of phrases such as "last Friday" and "next week", and two mappings.

    The first mapping contains the signs of the words for "last" (-1), "this" (0) and "next" (1), the second the indices
    in ``_UNITS`` of the words for units.
    """
    found = []
    for language, info in _load_language_data().items():
        units = {normalize(name): index for index, day in enumerate(_WEEKDAYS) for name in info[day]}
        before, after = dict(_MORE_BEFORE.get(language, {})), dict(_MORE_AFTER.get(language, {}))
        for unit, (key, sign) in product(("week", "month"), _PERIODS.items()):
            known = set(map(normalize, info[unit]))
            for phrase in info["relative-type"][key.replace("week", unit)]:
                words = normalize(phrase).split()
                name = next((one for one in words if one in known), "")
                units |= {name: _UNITS.index(unit)} if name else {}
                # The ending of an adjective depends on the gender of the noun.
                (after if words[-1] != name else before).update(
                    {re.sub("[aeo]n?$", "", one): sign for one in words if len(one) >= _MIN_LETTERS and one != name}
                )
        if language in _FREE_ORDER:
            before = after = {**before, **after}
        units = {one: index for one, index in units.items() if len(one) >= _MIN_LETTERS or _UNITS[index] == "month"}
        names = _join_alternatives(units)
        first = rf"{_NOT_AFTER}(?P<word>{_join_alternatives(before)}){_ENDING}\s(?P<unit>{names})"
        # In English, German and Dutch, no such word follows the noun.
        second = rf"(?P<before>{names})\s(?P<after>{_join_alternatives(after) or '(?!)'}){_ENDING}"
        pattern = re.compile(rf"(?<!\w)(?:{first}|{second})(?!\w){_NOT_BEFORE}")
        found.append((pattern, {**before, **after}, units))
    return found


def _join_alternatives(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
