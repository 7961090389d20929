"""Join words that line ends divide.

The other words of the document decide whether the hyphen stays, as in "long-term", or not, as in "informa-tion".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rag_core.text.words import HYPHENATED_WORD
from rag_core.types.documents import ParsedPage, WordBoxes

_WORD = re.compile(HYPHENATED_WORD)
_MAX_WORDS = 200_000

# First halves that begin a compound far more often than a divided word. They decide if the document gives no evidence.
_COMPOUND = frozenset(
    "long short self well high low mid year end full half part cross first second third fourth one two three four five "
    "six ten market fixed real non anti".split()
)
# First halves that begin a divided word, such as "pre-sented", about as often as a compound, such as "pre-tax".
_PREFIXES = frozenset("multi ex all on off post pre inter co so in".split())


def split_words(text: str) -> set[str]:
    """Return the words of a text in lower case; a compound with hyphens is one word."""
    return set(_WORD.findall(text.casefold()))


class Vocabulary:
    """The words of a document, from the pages that are read so far."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._kept = self._closed = 0

    def add(self, words: Iterable[str]) -> None:
        """Add the words of a page, as `split_words` returns them."""
        if len(self._words) < _MAX_WORDS:
            self._words.update(words)

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Return whether the hyphen at a line end stays, because the two halves of the word are a compound.

        The first of these tests that gives an answer decides:

        1. The document contains the word inside a line, with or without the hyphen, or a half contains another hyphen.
        2. Both halves are words of the document; a first half in ``_PREFIXES`` counts as a word.
        3. The first half is in ``_COMPOUND``, or most earlier hyphens of the document stayed. Text that is typeset from
           HTML never divides words, but books often do.
        """
        first, second = first.casefold(), second.casefold()
        if f"{first}{second}" in self._words:
            self._closed += 1
            return False
        if "-" in first + second or f"{first}-{second}" in self._words:
            self._kept += 1
            return True
        if second in self._words and (
            first in _PREFIXES or (first in self._words and min(len(first), len(second)) > 3)
        ):
            self._kept += 1
            return True
        return first in _COMPOUND or self._kept > 2 + 2 * self._closed


def join_hyphenated(parsed: ParsedPage, vocabulary: Vocabulary) -> ParsedPage:
    """Return a page without the hyphens that only divide words at line ends, and add its words to the vocabulary.

    The offsets of words, headings and table cells are adjusted to the new text.
    """
    vocabulary.add(parsed.words)
    hyphens = [offset for offset, first, second in parsed.divided if not vocabulary.keeps_hyphen(first, second)]
    if not hyphens:
        return parsed
    page = parsed.page
    kept = [page.text[start + 1 : end] for start, end in zip([-1, *hyphens], [*hyphens, len(page.text)], strict=True)]
    boxes = page.boxes
    starts, ends = (places - np.searchsorted(hyphens, places).astype(np.int32) for places in (boxes.starts, boxes.ends))
    spans = np.array(parsed.headings, np.int64).reshape(-1, 2)
    headings = (spans - np.searchsorted(hyphens, spans)).tolist()
    tables = tuple(table.map_offsets(lambda place: place - bisect_left(hyphens, place)) for table in page.tables)
    return replace(
        parsed,
        page=replace(page, text="".join(kept), boxes=WordBoxes(starts, ends, boxes.rects), tables=tables),
        headings=tuple((start, end) for start, end in headings),
        divided=(),
    )
