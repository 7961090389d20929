"""Parse numbers that are spelled out in languages other than English, such as "fünfundzwanzig" and "quatre-vingts"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from text_to_num import find_numbers

from rag_core.text.languages import LANGUAGES
from rag_core.text.numbers import Number

# English numbers are parsed by `rag_core.text.numbers.parse_numbers`.
SPELLED_LANGUAGES = frozenset(LANGUAGES) - {"en"}
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\S\n]+|[\d.,]+|.", re.DOTALL)


class _Token:
    """A token with the methods that text2num calls."""

    def __init__(self, match: re.Match[str]) -> None:
        self.start, self.end = match.span()
        self._text = match[0].lower()

    def text(self) -> str:
        return self._text

    def nt_separated(self, previous: _Token) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        # Digits are parsed by `parse_numbers`.
        return self._text[0].isdigit()


def parse_spelled_numbers(text: str, language: str) -> Iterator[Number]:
    """Yield the numbers above one that a text spells out; nothing if ``language`` is not in `SPELLED_LANGUAGES`.

    >>> [(one.text, int(*one.values)) for one in parse_spelled_numbers("Es sind fünfundzwanzig Häuser.", "de")]
    [('fünfundzwanzig', 25)]
    """
    if language not in SPELLED_LANGUAGES:
        return
    tokens = [_Token(match) for match in _TOKEN.finditer(text)]
    for found in find_numbers(tokens, language, 0):
        # In these languages, the word for one is also an article.
        if found.value > 1:
            start, end = tokens[found.start].start, tokens[found.end - 1].end
            yield Number(start, end, text[start:end], frozenset({Decimal(str(found.value)).normalize()}))
