"""Search for the figures and fiscal years of a question in a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from rag_core.text.annotated import AnnotatedText

_FIGURES = re.compile(r"\d{2,}")
_FISCAL = re.compile(r"\b(?:FY|fiscal(?: year)?) ?['’]?(\d\d)(?!\d)", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[\W\d_]+")


def keep_letters(text: str) -> str:
    """Return only the letters of a text, case-folded and joined."""
    return _NOT_LETTERS.sub("", text.casefold())


def find_fiscal_years(text: str) -> list[str]:
    """Return the fiscal years that a text abbreviates, such as "FY22", with four digits: ``2022``."""
    return [f"20{year}" for year in _FISCAL.findall(text)]


def join_digit_groups(text: str) -> str:
    return re.sub(r"(?<=\d)[,.](?=\d)", "", text)


def find_missing_figures(asked: AnnotatedText, said: AnnotatedText, known: Collection[str] = ()) -> Iterator[str]:
    """Yield the figures of two or more digits in a question that a text lacks, except for years in ``known``."""
    digits = join_digit_groups(said.text)
    known = {*known, *(year[2:] for year in find_fiscal_years(asked.text) if year in known)}
    for match in _FIGURES.finditer(join_digit_groups(asked.text)):
        if match.group() not in digits and match.group() not in known:
            yield match.group()
