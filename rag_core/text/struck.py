"""Text that its document shows as struck out, between two marks in the text of a page."""

from __future__ import annotations

import re

from rag_core.types.documents import STRUCK

MARK = "~~"
# The parser writes this sign for a tilde that could be read as a part of a mark.
TILDE = "∼"
LITERAL_MARK = re.compile(r"~{2,}")
# Blanks of at least this length may stand for struck words.
_BLANKS = " " * (2 * len(MARK) + 1)


def remove_struck(text: str) -> str:
    """Return a text with blanks in place of struck words and their marks, so that all offsets stay.

    >>> remove_struck("within ~~30~~ 10 days")
    'within        10 days'
    """
    return STRUCK.sub(lambda match: " " * len(match[0]), text) if MARK in text else text


def find_struck(text: str) -> list[str]:
    """Return the struck words of a text; those that only white space separates are one text.

    >>> find_struck("~~Pay within~~\\n~~30 days.~~ Pay ~~late~~ soon.")
    ['Pay within 30 days.', 'late']
    """
    return STRUCK.findall(re.sub(rf"{MARK}\s+{MARK}", " ", text)) if MARK in text else []


def may_lack_struck(text: str) -> bool:
    """Return quickly whether struck words may have been removed from a text: it contains a run of blanks."""
    return _BLANKS in text


def escape_marks(text: str) -> str:
    """Return a text of a document in which no literal tildes can be read as a mark."""
    return LITERAL_MARK.sub(lambda match: TILDE * len(match[0]), text)
