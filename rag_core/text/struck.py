"""Struck-out words, which are between two marks (``~~``) in the text of a page."""

from __future__ import annotations

import re

from rag_core.types.documents import STRUCK

MARK = "~~"
# The parser writes this character instead of tildes in a document that would be read as a mark.
TILDE = "∼"
LITERAL_MARK = re.compile(r"~{2,}")
# The shortest sequence of blanks that can replace struck words.
_BLANKS = " " * (2 * len(MARK) + 1)


def remove_struck(text: str) -> str:
    """Return a text in which struck words and their marks are replaced by blanks, so that offsets stay valid.

    >>> remove_struck("within ~~30~~ 10 days")
    'within        10 days'
    """
    return STRUCK.sub(lambda match: " " * len(match[0]), text) if MARK in text else text


def find_struck(text: str) -> list[str]:
    """Return the struck words of a text. Struck words that are separated only by white space are joined.

    >>> find_struck("~~Pay within~~\\n~~30 days.~~ Pay ~~late~~ soon.")
    ['Pay within 30 days.', 'late']
    """
    return STRUCK.findall(re.sub(rf"{MARK}\s+{MARK}", " ", text)) if MARK in text else []


def may_lack_struck(text: str) -> bool:
    """Return whether struck words may have been removed from a text, by a quick check for a sequence of blanks."""
    return _BLANKS in text


def escape_marks(text: str) -> str:
    """Return a text of a document in which tildes that would be read as a mark are replaced by `TILDE`."""
    return LITERAL_MARK.sub(lambda match: TILDE * len(match[0]), text)
