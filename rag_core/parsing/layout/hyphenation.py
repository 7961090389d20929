"""The words of a document read so far: what tells "long-term" from "informa-tion" at a line end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rag_core.types import WordBoxes
from rag_core.types.documents import ParsedPage

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MOST = 200_000

# First halves that are compounds far more often than divided words, where the document gives no evidence.
_COMPOUND = frozenset(
    "long short self well high low mid year end full half part cross first second third fourth one two three four five "
    "six ten market fixed real non anti".split()
)
# Those that as often begin a divided word: "pre-tax" and "pre-sented".
_PREFIXES = frozenset("multi ex all on off post pre inter co so in".split())


def words_of(text: str) -> set[str]:
    """The words of a text in small letters, compounds whole."""
    return set(_WORD.findall(text.casefold()))


class Vocabulary:
    """Words seen in the text of a document."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._kept = self._closed = 0

    def add(self, words: Iterable[str]) -> None:
        """Remember the words of a page that has been read, as `words_of` gives them."""
        if len(self._words) < _MOST:
            self._words.update(words)

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Whether two halves of a word that a line end divides are a compound.

        What the document itself writes inside a line decides; then whether both halves are words of it, of which
        an English prefix counts as one; then a short list of first halves, and what was found at most line ends
        before: what is typeset from HTML never divides a word, and books do all the time.
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


def join_hyphenated(read: ParsedPage, vocabulary: Vocabulary) -> ParsedPage:
    """A page without those of its hyphens that only a line end put there; its words are added to the vocabulary.

    All that says where something stands in the text is moved with it.
    """
    vocabulary.add(read.words)
    gone = [at for at, first, second in read.divided if not vocabulary.keeps_hyphen(first, second)]
    if not gone:
        return read
    page = read.page
    kept = [page.text[start + 1 : end] for start, end in zip([-1, *gone], [*gone, len(page.text)], strict=True)]
    boxes = page.boxes
    starts, ends = (places - np.searchsorted(gone, places).astype(np.int32) for places in (boxes.starts, boxes.ends))
    spans = np.array(read.headings, np.int64).reshape(-1, 2)
    headings = (spans - np.searchsorted(gone, spans)).tolist()
    return replace(
        read,
        page=replace(page, text="".join(kept), boxes=WordBoxes(starts, ends, boxes.rects)),
        headings=tuple((start, end) for start, end in headings),
        divided=(),
    )
