"""Text made comparable."""

from __future__ import annotations

import unicodedata

PLAIN_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-"})


def plain(text: str) -> str:
    """A text in lower case, without accents, with plain quotation marks and hyphens.

    >>> plain("Nestlé’s")
    "nestle's"
    """
    if text.isascii():
        # Nearly all words are, and the gate compares some hundreds a question (4 ms against 1 ms).
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.translate(PLAIN_MARKS).casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))
