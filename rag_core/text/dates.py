"""Patterns of years, months and quarters, and the years in a text."""

from __future__ import annotations

import re

MONTHS = "january february march april may june july august september october november december".split()

# A year from 1900 to 2099, such as the year of a document.
YEAR = r"(?:19|20)\d\d"
_WHOLE_YEAR = re.compile(rf"(?<!\d){YEAR}(?!\d)")
# A fiscal year that is written with two digits, such as "FY22" and "FY22/23".
_FISCAL_YEAR = re.compile(r"\b(?:FY|fiscal(?: year)?) ?['’]?(\d\d)(?:/(\d\d))?(?!\d)", re.IGNORECASE)
# The second of two successive years, such as "23" in "2022/23".
_NEXT_YEAR = re.compile(rf"(?<!\d)({YEAR})[/–](\d\d)(?![\d/])")
# A year from 1000 to 2099, such as a year in a text about history.
ANY_YEAR = r"(?:1\d{3}|20\d\d)"
# Words that turn a date in a question into a period, such as "after" in "after 1 May".
OPEN_PERIOD = re.compile(
    r"(?<!\w)(?:after|before|since|until|till|between|following|next|nach|vor|seit|bis|ab|zwischen|depuis|après|avant|"
    r"entre|desde|después|antes|hasta)(?!\w)",
    re.IGNORECASE,
)
_FEBRUARY = 2
# A quarter as it is written in column headers, such as "Q2".
QUARTER = r"Q[1-4]"
# The English name of a month, its first three letters, or "Sept".
MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS).replace("(?:tember)", "(?:t(?:ember)?)")


def find_years(text: str, *, with_second: bool = True) -> list[str]:
    """Return the distinct years from 1900 to 2099 in a text; "FY22" is 2022, and "2022/23" is 2022 and 2023.

    Years in four digits come first, then fiscal years in two digits, then the second years of pairs, such as 2023 in
    "2022/23", unless ``with_second`` is false.

    >>> find_years("Sales in 2021, FY22 and FY2023"), find_years("FY24/25 after 2022/23")
    (['2021', '2023', '2022'], ['2022', '2024', '2025', '2023'])
    >>> find_years("FY24/25 after 2022/23", with_second=False)
    ['2022', '2024']
    """
    fiscal = [(f"20{first}", last) for first, last in _FISCAL_YEAR.findall(text)]
    pairs = [*fiscal, *_NEXT_YEAR.findall(text)]
    second = (str(int(first) + 1) for first, last in pairs if last and int(last) == (int(first) + 1) % 100)
    years = [*_WHOLE_YEAR.findall(text), *(year for year, _ in fiscal), *(second if with_second else ())]
    return list(dict.fromkeys(years))


def list_fiscal_years(year: int, month: int) -> frozenset[int]:
    """Return the years that can be the name of a fiscal year, given the year and the month in which it ends.

    A fiscal year that ends in January or February can have the name of that year or of the year before.

    >>> sorted(list_fiscal_years(2023, 1)), sorted(list_fiscal_years(2023, 6))
    ([2022, 2023], [2023])
    """
    return frozenset((year, year - 1) if month <= _FEBRUARY else (year,))


def is_year(text: str) -> bool:
    """Return whether a text is a year from 1000 to 2099."""
    return re.fullmatch(ANY_YEAR, text) is not None
