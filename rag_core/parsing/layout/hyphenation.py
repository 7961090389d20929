"""Join words that line ends divide.

The other words of the document decide whether the hyphen stays, as in "long-term", or not, as in "informa-tion". A
dictionary decides on words that the document does not contain inside a line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rag_core.text.dictionaries import load_words
from rag_core.text.languages import detect_language
from rag_core.text.words import HYPHENATED_WORD
from rag_core.types.documents import ParsedPage, WordBoxes

_WORD = re.compile(HYPHENATED_WORD)
_MAX_WORDS = 200_000

# First halves that keep their hyphen in names of chemicals, besides single letters, as in "n-butane".
_LOCANTS = frozenset("alpha beta cis delta gamma meta ortho para sec tert trans".split())
# Vowels that a Dutch compound separates by a hyphen, as in "auto-industrie".
_DUTCH_SOUNDS = frozenset("aa ae ai au ee ei eu ie ii oe oi oo ou ui uu".split())


def split_words(text: str) -> set[str]:
    """Return the words of a text in lower case; a compound with hyphens is one word."""
    return set(_WORD.findall(text.casefold()))


class Vocabulary:
    """The words of a document on the pages read so far, and counts of the hyphens at line ends that stayed or not."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = set(words)
        self._kept = self._dropped = 0

    def add(self, words: Iterable[str]) -> None:
        """Add the words of a page, as `split_words` returns them."""
        if len(self._words) < _MAX_WORDS:
            self._words.update(words)

    def keeps_hyphen(self, first: str, second: str, language: str = "") -> bool:
        """Return whether the hyphen at a line end stays, because the two halves of the word are a compound.

        ``language`` is the language of the text, as `detect_language` returns it. The first rule that applies decides:

        1. The hyphen is dropped if the document contains the word without a hyphen inside a line.
        2. The hyphen stays if the document contains the word with the hyphen, if a half contains another hyphen, or if
           a half is a single letter, as in "e-mail".
        3. If only the whole word is known, the hyphen is dropped. If only both halves are known, the hyphen stays. The
           dictionary knows the whole word, and the dictionary or the document knows the halves. German and Dutch write
           compounds without hyphens, so the halves count only after "ex" and, in Dutch, between vowels that would be
           read as one sound.
        4. The hyphen stays if the dictionary does not contain the whole word, and the first half is in capitals or in
           ``_LOCANTS``.
        5. The hyphen stays if the first three rules kept far more earlier hyphens of the document than they dropped.
           Text that is typeset from HTML never divides words, but books often do.

        Otherwise, the hyphen is dropped.
        """
        is_capital = first.isupper()
        first, second = first.casefold(), second.casefold()
        is_dropped = f"{first}{second}" in self._words
        is_kept = "-" in first + second or f"{first}-{second}" in self._words or min(len(first), len(second)) == 1
        is_word = False
        if not is_dropped and not is_kept:
            known = load_words(language)
            is_word = f"{first}{second}" in known
            has_hyphens = (
                language not in ("de", "nl")
                or first == "ex"
                or (language == "nl" and first[-1] + second[0] in _DUTCH_SOUNDS)
            )
            is_compound = has_hyphens and all(half in known or half in self._words for half in (first, second))
            is_dropped, is_kept = is_word and not is_compound, is_compound and not is_word
        self._dropped += is_dropped
        self._kept += is_kept and not is_dropped
        if is_dropped or is_kept:
            return not is_dropped
        if not is_word and (is_capital or first in _LOCANTS):
            return True
        return self._kept > 2 + 2 * self._dropped


def join_hyphenated(parsed: ParsedPage, vocabulary: Vocabulary) -> ParsedPage:
    """Return a page without the hyphens that only divide words at line ends, with adjusted offsets."""
    if not parsed.divided:
        return parsed
    page, language = parsed.page, detect_language(parsed.page.text)
    hyphens = [at for at, first, second in parsed.divided if not vocabulary.keeps_hyphen(first, second, language)]
    if not hyphens:
        return parsed
    kept = [page.text[start + 1 : end] for start, end in zip([-1, *hyphens], [*hyphens, len(page.text)], strict=True)]
    boxes = page.boxes
    starts, ends = (places - np.searchsorted(hyphens, places).astype(np.int32) for places in (boxes.starts, boxes.ends))

    def shift(place: int) -> int:
        return place - bisect_left(hyphens, place)

    return replace(
        parsed,
        page=replace(
            page,
            text="".join(kept),
            boxes=WordBoxes(starts, ends, boxes.rects),
            tables=tuple(table.map_offsets(shift) for table in page.tables),
        ),
        headings=tuple(one._replace(start=shift(one.start), end=shift(one.end)) for one in parsed.headings),
        divided=(),
    )
