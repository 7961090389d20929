"""The names of months, and the years, parts of years and dates that a text names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

MONTHS = "january february march april may june july august september october november december".split()

_FOREIGN_MONTHS = (
    "januar jänner janvier enero gennaio", "februar février febrero febbraio", "märz mars marzo", "avril abril aprile",
    "mai mayo maggio", "juni juin junio giugno", "juli juillet julio luglio", "août agosto",
    "septembre septiembre setiembre settembre", "oktober octobre octubre ottobre",
    "novembre noviembre", "dezember décembre diciembre dicembre",
)  # fmt: skip
# Maps the name of a month, in lower case and with accents, to the number of the month.
FOREIGN_MONTHS: Mapping[str, int] = {
    name: number for number, names in enumerate(_FOREIGN_MONTHS, 1) for name in names.split()
}
# A year from 1900 to 2099, such as the year of a document.
YEAR = r"(?:19|20)\d\d"
WHOLE_YEAR = rf"(?<!\d){YEAR}(?!\d)"
# A year from 1000 to 2099, such as a year in a text about history.
ANY_YEAR = r"(?:1\d{3}|20\d\d)"
# A quarter as written in column headers, such as "Q2".
QUARTER = r"Q[1-4]"
# The name of a month, or its first three letters, or "Sept".
MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS).replace("(?:tember)", "(?:t(?:ember)?)")
# The day of a date, such as "3" and "3rd".
DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_WRITTEN_DATE = re.compile(
    rf"\b(?:{DAY} (?:of )?(?:{MONTH})\.?,? {YEAR}|(?:{MONTH})\.? {DAY},? {YEAR}|(?:{MONTH})\.? {YEAR}|"
    rf"{YEAR}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./]{YEAR})\b",
    re.IGNORECASE,
)


def find_written_date(text: str) -> str:
    """Return the first date in a text as written; empty if there is none.

    >>> find_written_date("Minutes of the board, 3 October 2023. Next: May 2024.")
    '3 October 2023'
    """
    match = _WRITTEN_DATE.search(text)
    return " ".join(match[0].split()) if match else ""


def is_year(text: str) -> bool:
    """Return whether a text is written like a year from 1000 to 2099."""
    return re.fullmatch(ANY_YEAR, text) is not None


_NUMBERS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
    "three": 3, "six": 6, "nine": 9, "twelve": 12, "13": 3, "26": 6, "39": 9, "52": 12, "53": 12,
}  # fmt: skip
_ORDINAL = "first|second|third|fourth|1st|2nd|3rd|4th"
_FISCAL = r"(?:FY|CY|(?:fiscal|financial|calendar|full)(?:[\s-]years?)?)"
# A part of a period: a date or its day and month, a part of a year, or a year.
_ITEM = re.compile(
    rf"""(?<![^\W_])(?<![\d$€£¥][.,])(?<![$€£¥])(?:
    (?P<iso>{YEAR}-\d\d-\d\d) | (?P<numeric>\d{{1,2}}[./]\d{{1,2}}[./]{YEAR}) |
    (?P<day>{DAY})\.?\s+(?:of\s+)?(?P<of_month>{MONTH})\.? | (?P<month_of>{MONTH})\.?\s+(?P<nth>{DAY})(?!\d) |
    (?:
        (?P<quarter>Q\s?[1-4]|[1-4]Q|quarter\s[1-4]|(?:{_ORDINAL})[\s-]quarters?|
            (?:{_ORDINAL})(?=\s(?:and|to|or)\s(?:{_ORDINAL})[\s-]quarters?)) |
        (?P<half>HY?\s?[12]|[12]HY?|(?:{_ORDINAL})[\s-]half(?:[\s-]years?)?) | (?P<month>{MONTH})\.?
    )(?:['’/-]?(?P<two>\d\d)(?![^\W_]|[.,/-]\d))? |
    (?P<interim>HY|half[\s-]years?) | (?P<count>[69])M |
    (?P<start>first\s)?(?P<months>three|six|nine|twelve|3|6|9|12|13|26|39|52|53)[\s-](?:months?|weeks?)
    (?P<ended>\s+(?:period\s+)?(?:ended|ending|to)(?=\s))? |
    (?P<whole>(?:fiscal\s+)?years?\s+(?:ended|ending)(?=\s)) |
    (?:{_FISCAL}[\s'’]*)?(?P<year>{YEAR})(?:[/–-](?P<next>\d\d)(?![\d/-]))? | FY\s?['’]?(?P<short>\d\d)
    )(?![^\W_]|[.,]\d|\s?%)""",
    re.IGNORECASE | re.VERBOSE,
)
# What may stand between a part of a year and its year, and between periods of the same year.
_GLUE = re.compile(rf"[\s,.'’›/_()–-]*(?:(?:of|in|on|{_FISCAL})\b[\s›]*)*(?:the\s+)?(?:{_FISCAL}\s*)?", re.IGNORECASE)
# "LX-2041" and "2041-A" are codes, but "Mar-2024" is not.
_JOINED = re.compile(rf"\b(?:{MONTH}|FY|CY|Q[1-4]|H[12])-$", re.IGNORECASE)
_BEFORE = re.compile(r"[\s,›/_–-]{1,3}")
_JOIN = re.compile(
    r"[\s,;–-]*(?:and|to|or|vs\.?|versus|with|than|until|through)?[\s–-]*(?:in\s+|the\s+|from\s+)*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A year, a part of a year, or a date.

    Attributes
    ----------
    year : int
        0 if the text does not name it.
    part : str
        Empty for a whole year; else ``q1`` for a quarter, ``h1`` for a half-year, ``m03`` for a month, ``9m`` for nine
        months, ``9m09`` for the nine months to September, ``/24`` for a year that ends in the next one, and ``m03-31``
        for a date.
    spans : tuple of (int, int)
        The places of its words in the text.
    """

    year: int
    part: str = ""
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False)

    @property
    def is_date(self) -> bool:
        return "-" in self.part

    @property
    def kind(self) -> str:
        """``q`` for quarters, ``h`` for half-years, ``m`` for months, and so on; empty for whole years."""
        return "-" if self.is_date else self.part[:1]

    def contains(self, part: Period) -> bool:
        """Return whether a date, or a part of a year, is in this period or equal to it."""
        if self.year != part.year or not self.year or not part.part:
            return self == part
        if not self.part or part.part.startswith(self.part):
            return True
        if self.part[0] not in "qh":
            return False
        # Quarters and half-years are those of the calendar year.
        last = int(part.part[1:3]) if part.part[0] == "m" else 3 * int(part.part[1]) if part.part[0] == "q" else 0
        length = 3 if self.part[0] == "q" else 6
        return bool(last) and (last - 1) // length + 1 == int(self.part[1])


def blank_periods(text: str) -> str:
    """Return a text in which blanks replace the words of its periods.

    >>> blank_periods("in FY2023, net").split()
    ['in', ',', 'net']
    """
    for start, end in (span for one in find_periods(text) for span in one.spans):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def is_within_dated_period(text: str, start: int, end: int) -> bool:
    """Return whether a span of a text, without its article, is a part of a period with a year, as "H1" of "H1 2023"."""
    if article := re.match(r"the\s+", text[start:end], re.IGNORECASE):
        start += article.end()
    spans = [span for period in find_periods(text) if period.year for span in period.spans]
    return any(first <= start and end <= last for first, last in spans)


def find_periods(text: str) -> list[Period]:
    """Return the periods and dates that a text names, in order, each once.

    A part of a year without a year belongs to the next year after "and" or "to", or to the only year of the text.

    >>> [(one.year, one.part) for one in find_periods("from Q3 2024 to 1Q25, in H1 and in H2 of FY2023")]
    [(2024, 'q3'), (2025, 'q1'), (2023, 'h1'), (2023, 'h2')]
    >>> [(one.year, one.part) for one in find_periods("Nine months ended September 30, 2023")]
    [(2023, '9m09')]
    """
    found: list[Period] = []
    items: list[tuple[str, Period]] = [one for one in map(_read_item, _ITEM.finditer(text)) if one is not None]
    while items:
        kind, one = items.pop(0)
        next_kind, following = items[0] if items else ("", one)
        if next_kind and not one.year and _is_between(_GLUE, text, one, following):
            joined = (*one.spans, *following.spans)
            if kind == "ended" and next_kind in ("part", "date"):
                # The month of "nine months ended September 30" and the year after it.
                items[0] = ("part", Period(following.year, one.part and one.part + following.part[1:3], joined))
                continue
            if next_kind == "year":
                found.append(Period(following.year, one.part, joined))
                items.pop(0)
                continue
        elif kind == "year" and next_kind == "part" and not (one.part or following.year):
            belongs = len(items) > 1 and items[1][0] == "year" and _is_between(_GLUE, text, following, items[1][1])
            if not belongs and _is_between(_BEFORE, text, one, following):
                found.append(Period(one.year, following.part, (*one.spans, *following.spans)))
                items.pop(0)
                continue
        if kind not in ("count", "ended"):
            found.append(one)
    return _share_years(text, found)


def _is_between(pattern: re.Pattern[str], text: str, one: Period, following: Period) -> bool:
    return pattern.fullmatch(text, one.spans[-1][1], following.spans[0][0]) is not None


def find_parts(text: str) -> set[str]:
    """Return the parts of years, without dates, that a text names, such as ``q1`` and ``h2``."""
    return {one.part for one in find_periods(text) if one.part and not one.is_date}


def names_part_of_year(text: str) -> bool:
    """Return whether a text names a quarter, a half-year or some months of a year, and not only dates and months.

    >>> names_part_of_year("Revenue in 1H24"), names_part_of_year("Year ended March 31, 2024")
    (True, False)
    """
    return any(part[0] not in "m/" for part in find_parts(text))


def find_quarters(text: str) -> set[str]:
    """Return the quarters that a text names, written as ``q1`` to ``q4``.

    >>> sorted(find_quarters("Sales in the first quarter of 2023, and in Q2"))
    ['q1', 'q2']
    """
    return {part for part in find_parts(text) if part.startswith("q")}


def match_period(asked: Period, known: Iterable[Period]) -> list[Period]:
    """Return the periods that ``asked`` may mean; equal periods are preferred.

    Without an equal one, a year means its dates, a month its dates, a date its month and its year, and "nine months"
    the nine months to any named month, and the reverse. A quarter never means its year.
    """
    known = list(known)
    equal = [one for one in known if one.part == asked.part and asked.year in (0, one.year)]
    return equal or [one for one in known if one.year == asked.year and _is_alike(asked.part, one.part)]


def _is_alike(part: str, other: str) -> bool:
    dates, months = ("-" in part, "-" in other), (part[:3], other[:3])
    if any(dates):
        return not part or not other or (months[0] == months[1] and not all(dates))
    # "Nine months" does not say in which month they end.
    return bool(re.fullmatch(r"\dm(\d\d)?", part) and re.fullmatch(r"\dm(\d\d)?", other)) and (
        part[:2] == other[:2] and 2 in (len(part), len(other))
    )


def _read_item(match: re.Match[str]) -> tuple[str, Period] | None:
    """Return the kind of an item (``year``, ``date``, ``part``, ``count`` or ``ended``) and its period."""
    text, spans = match.string, (match.span(),)
    before = text[max(0, match.start() - 2) : match.start()]
    if match["iso"]:
        year, month, day = match["iso"].split("-")
        return "date", Period(int(year), f"m{month}-{day}", spans)
    if match["numeric"]:
        day, month, year = re.split(r"[./]", match["numeric"])
        # The month comes first in America; without a number above 12, the day is taken to be first.
        if int(month) > 12 >= int(day):
            day, month = month, day
        return "date", Period(int(year), f"m{month:0>2}-{day:0>2}", spans)
    if name := match["of_month"] or match["month_of"]:
        day = re.sub(r"\D", "", match["day"] or match["nth"])
        return "date", Period(0, f"m{_month_number(name):02}-{day:0>2}", spans)
    year = 2000 + int(match["two"]) if match["two"] else 0
    if part := match["quarter"] or match["half"]:
        digit = re.search(r"\d", part)
        number = digit[0] if digit else _NUMBERS[re.split(r"[\s-]", part.casefold())[0]]
        return ("part", Period(year, f"{'q' if match['quarter'] else 'h'}{number}", spans)) if int(number) < 5 else None
    if match["month"]:
        # "May" and "March" are also verbs, and "April" and "June" first names.
        is_alone = match["month"][0].isupper() and (match.start() > 0 or len(match[0]) == len(text.strip()))
        is_name = re.match(r"\s+[A-Z][a-z]", text[match.end() :]) is not None
        if year or re.match(rf"[\s,.'’/›_-]{{0,3}}(?:of\s+)?{YEAR}", text[match.end() :]) or (is_alone and not is_name):
            return "part", Period(year, f"m{_month_number(match['month']):02}", spans)
        return None
    if match["interim"]:
        return "count", Period(0, "hy", spans)
    if match["count"]:
        return "count", Period(0, f"{match['count']}m", spans)
    if match["months"]:
        number = _NUMBERS.get(match["months"].casefold()) or int(match["months"])
        if match["start"] and number in (3, 6):
            return "part", Period(0, "q1" if number == 3 else "h1", spans)
        part = "" if number == 12 else f"{number}m"
        return ("ended" if match["ended"] else "part" if match["start"] else "count"), Period(0, part, spans)
    if match["whole"]:
        return "ended", Period(0, "", spans)
    is_joined = re.fullmatch(r"[^\W\d_]-", before) or re.match(r"-[^\W\d_]", text[match.end() :])
    if is_joined and not _JOINED.search(text[: match.start()]):
        return None
    if match["short"]:
        return "year", Period(2000 + int(match["short"]), "", spans)
    year = int(match["year"])
    is_split = match["next"] is not None and int(match["next"]) == (year + 1) % 100
    return "year", Period(year, f"/{match['next']}" if is_split else "", spans)


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].casefold()))


def _share_years(text: str, found: list[Period]) -> list[Period]:
    """Return the periods with their missing years.

    A missing year is that of the next part after "and" or "to", or else the only year of the text, which is then left
    out as a period.
    """
    for position in range(len(found) - 2, -1, -1):
        one, following = found[position], found[position + 1]
        between = text[one.spans[-1][1] : following.spans[0][0]]
        if not one.year and following.year and following.part and _JOIN.fullmatch(between):
            found[position] = replace(one, year=following.year)
    years = {one.year for one in found if one.year}
    if any(not one.year for one in found) and len(years) == 1:
        (year,) = years
        lone = [one for one in found if not one.part]
        shared = tuple(span for one in lone for span in one.spans)
        found = [one if one.year else replace(one, year=year, spans=(*one.spans, *shared)) for one in found if one.part]
    return list(dict.fromkeys(found))
