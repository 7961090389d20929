"""Normalisation of text for comparison."""

from __future__ import annotations

import re
import unicodedata

# The digits zero to nine, as written in footnote marks and exponents.
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
PUNCTUATION_MAP = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-"}
)
# Superscript digits are removed: most are footnote marks, which would change the number before them if they became
# ordinary digits.
PUNCTUATION_MAP |= dict.fromkeys(map(ord, SUPERSCRIPT_DIGITS), "")

_MARK = re.compile(f"[{''.join(map(chr, PUNCTUATION_MAP))}]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")

# Markdown characters that a model may put around words. Comparisons with a source ignore them.
_EMPHASIS = "*`"


def normalize(text: str) -> str:
    """Return the text in lower case, without accents and superscript digits, with ASCII quotation marks and hyphens.

    >>> normalize("Nestlé’s")
    "nestle's"
    """
    # A fast path for ASCII text, because each question normalises many passages.
    if text.isascii():
        return text.lower()
    marked = _MARK.sub(lambda found: PUNCTUATION_MAP[ord(found[0])], text)
    parts = unicodedata.normalize("NFKD", marked.casefold())
    return parts if parts.isascii() else _FOREIGN.sub(_uncombined, parts)


def _uncombined(found: re.Match[str]) -> str:
    return "".join(char for char in found[0] if not unicodedata.combining(char))


def normalize_with_offsets(text: str) -> tuple[str, list[int]]:
    """Return a normalised text and, for each character of the normalised text, its offset in the original text.

    White space is collapsed into single blanks. Invisible characters and Markdown emphasis are removed, and quotation
    marks, dashes and ligatures are replaced by plain characters. Letter case is kept.
    """
    normalized: list[str] = []
    offsets: list[int] = []
    for offset, char in enumerate(text):
        if char.isspace():
            if normalized and normalized[-1] != " ":
                normalized.append(" ")
                offsets.append(offset)
            continue
        if char in _EMPHASIS or unicodedata.category(char) == "Cf":
            continue
        for simple in unicodedata.normalize("NFKC", char.translate(PUNCTUATION_MAP)):
            normalized.append(simple)
            offsets.append(offset)
    return "".join(normalized), offsets
