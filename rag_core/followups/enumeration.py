"""Things that an answer or a question lists, so that "the second one" can be told."""

from __future__ import annotations

import re

from rag_core.text.noun_phrases import names

_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+(.+)$", re.MULTILINE)
_SERIES = re.compile(r"\s*,\s*(?:and|or)\s+|\s*,\s*|\s+(?:and|or)\s+")
_POSITIONS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "latter": -1}
MOST_WORDS = 12


def listed(question: str, answer: str, ordinal: str) -> str:
    """The thing that an ordinal picks out of what was listed; empty when nothing was.

    A list of lines in the answer comes first, then names in a row ("Ada, Ben and Cy") in the
    question, then such names in the answer.
    """
    position = _POSITIONS.get(ordinal)
    if position is None:
        return ""
    for found in ([_plain(item) for item in _ITEM.findall(answer)], _series(question), _series(answer)):
        if len(found) >= 2 and -len(found) <= position < len(found):
            return found[position]
    return ""


def _plain(item: str) -> str:
    """A list item's own name: its words up to a colon, a dash or the sentence's end."""
    head = re.split(r"\s[–—-]\s|[:;.](?:\s|$)", item.replace("*", ""))[0]
    return " ".join(head.split()[:MOST_WORDS])


def _series(text: str) -> list[str]:
    """The first row of at least two names with nothing but commas, "and" or "or" between them."""
    row: list[str] = []
    end = 0
    for one in names(text):
        if row and not _SERIES.fullmatch(text[end : one.start]):
            if len(row) >= 2:
                return row
            row = []
        row.append(one.text)
        end = one.end
    return row if len(row) >= 2 else []
