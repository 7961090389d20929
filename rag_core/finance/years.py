"""Fiscal years in questions and in the headers of columns."""

from __future__ import annotations

import re

from rag_core.text.dates import YEAR

_FULL = rf"(?:FY|fiscal(?: year)?|CY)?[\s'’]?({YEAR})"
_SHORT = r"FY\s?['’]?(\d\d)(?!\d)"
_YEAR = re.compile(rf"(?<![\w.,$])(?:{_FULL}|{_SHORT})(?![\w%]|,\d|\.\d)", re.IGNORECASE)
# "2015-17" and "FY2015 - FY2017", and "from 2015 to 2017".
_RANGE = re.compile(
    rf"(?<![\w.,$])(?:{_FULL}|{_SHORT})\s?(?:-|–|—|to|through|until)\s?(?:{_FULL}|{_SHORT}|(\d\d))(?![\w%]|,\d|\.\d)",
    re.IGNORECASE,
)
# Words that only state the period around its years.
_AROUND = re.compile(
    r"\b(?:fiscal(?: years?)?|FY|(?:at |as of |for )?(?:the )?(?:year[- ]?end(?:ed|ing)?|end of(?: the)?(?: year)?))\b",
    re.IGNORECASE,
)


def find_years(text: str) -> list[int]:
    """Return the years that a text names, in order, each once, with both ends of ranges.

    >>> find_years("from FY2015 to FY17, and FY 2020-21")
    [2015, 2017, 2020, 2021]
    """
    found: dict[int, int] = {}
    for match in _RANGE.finditer(text):
        first, last = _to_year(match[1], match[2]), _to_year(match[3], match[4] or match[5])
        if first < last <= first + 20:
            found.setdefault(first, match.start())
            found.setdefault(last, match.start() + 1)
    for match in _YEAR.finditer(text):
        found.setdefault(_to_year(match[1], match[2]), match.start())
    return sorted(found, key=found.__getitem__)


def remove_years(text: str) -> str:
    """Return a text without its years and the words "fiscal" and "year end"."""
    return _AROUND.sub(" ", _YEAR.sub(" ", _RANGE.sub(" ", text)))


def _to_year(full: str | None, short: str | None) -> int:
    return int(full) if full else 2000 + int(short or 0)
