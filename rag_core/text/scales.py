"""Scales that a line of a table states, such as "in millions"."""

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


def parse_scale(line: str) -> int | None:
    """Return the power of ten that a line states as the scale of a table; ``None`` if it states no scale.

    >>> parse_scale("(in millions, except per share amounts)"), parse_scale("£'000"), parse_scale("It cost $5 million")
    (6, 3, None)
    """
    match = _SCALE.search(line)
    if match is None:
        return None
    if match["d"] or match["e"]:
        return 3
    return AMOUNT_SCALES[(match["a"] or match["b"] or match["c"]).casefold()]
