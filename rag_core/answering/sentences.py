"""Sentences of any text at all, as offsets."""

from __future__ import annotations

import re

from rag_core.sentences import sentence_spans

# sentencex 1.0 panics at blanks outside ASCII, such as the no-break space that models and PDFs are
# full of, and refuses half surrogate pairs; a panic is no Exception and would end the thread.
_UNSAFE = re.compile(r"(?![\x00-\x7f])\s|[\ud800-\udfff]")


def sentences(text: str, language: str = "en") -> list[tuple[int, int]]:
    """`rag_core.sentences.sentence_spans` for text from anywhere; offsets count in ``text`` itself."""
    return sentence_spans(_UNSAFE.sub(_plain, text), language)


def _plain(blank: re.Match[str]) -> str:
    return "\n" if blank[0] in "\x85\u2028\u2029" else " "
