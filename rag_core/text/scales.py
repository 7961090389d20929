"""Find the scales of tables that a text states, such as "in millions"."""

from __future__ import annotations

import re

from rag_core.text.numbers import AMOUNT_SCALES, CURRENCY_CODE, SCALE_WORDS

_MONEY = rf"(?:US\$|[$€£¥]|\b(?:USD|EUR|GBP|CHF|{CURRENCY_CODE}|euros?|dollars?|pounds?)\b)"
# Matches "in millions", "(millions", "$ million", "£m", "Mio. EUR", "millions of euros", "£'000", but not "5 million".
_SCALE = re.compile(
    rf"(?:^|[(,;:]|\b(?:in|en)\s(?:[A-Za-z]+\s)?)\s*(?:{_MONEY}\s?)?(?P<a>{SCALE_WORDS})\b"
    rf"|{_MONEY}\s?(?:in\s)?(?P<b>{SCALE_WORDS}|m|k|b)\b"
    rf"|(?<!\d)(?<!\d\s)\b(?P<c>{SCALE_WORDS})\b\.?\s?(?:of\s|de\s|di\s|d['’])?\s?{_MONEY}"
    rf"|(?<![\d.,])(?:{_MONEY}\s?['’]?|['’])(?P<d>000)s?\b|(?<![\w.,])(?P<e>[Tk])(?:€|EUR)",
    re.IGNORECASE,
)


def find_table_scales(text: str) -> frozenset[int]:
    """Return the powers of ten that a text states as scales of tables, such as 6 for "in millions".

    >>> sorted(find_table_scales("Sales (in millions) and staff, £'000")), find_table_scales("It cost $5 million")
    ([3, 6], frozenset())
    """
    return frozenset(map(_read_power, _SCALE.finditer(text)))


def parse_scale(line: str) -> int | None:
    """Return the power of ten of the first table scale in a line; ``None`` if the line states no scale."""
    match = _SCALE.search(line)
    return None if match is None else _read_power(match)


def _read_power(match: re.Match[str]) -> int:
    return 3 if match["d"] or match["e"] else AMOUNT_SCALES[(match["a"] or match["b"] or match["c"]).casefold()]
