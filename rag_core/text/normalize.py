"""Normalization of text for comparison."""

from __future__ import annotations

import re
import string
import unicodedata
from functools import cache
from itertools import chain, starmap

# The digits zero to nine, as written in footnote marks and exponents.
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
PUNCTUATION_MAP = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-"}
)
# Superscript digits are removed: most are footnote marks, which would change the number before them if they became
# ordinary digits.
PUNCTUATION_MAP |= dict.fromkeys(map(ord, SUPERSCRIPT_DIGITS), "")

# Letters with a stroke have no decomposition into a letter and an accent, but people type them without the stroke.
STROKES = str.maketrans("łŁøØđĐħĦŧŦ", "lLoOdDhHtT")

_MARK = re.compile(f"[{''.join(map(chr, PUNCTUATION_MAP))}]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")

# Kinds of compatibility decomposition (Unicode Standard Annex #44) that only change the look of a character. Other
# kinds, such as superscripts and fractions, change the number that they are part of.
_LOOKS = ("<wide>", "<narrow>", "<compat>", "<circle>", "<noBreak>", "<font>")
# Ranges of code points with such characters.
_LOOK_ALIKES = ((0x80, 0x3400), (0xF900, 0x10000), (0x1D400, 0x1D800), (0x1F100, 0x1F200))
# Spelled out, these would be more difficult to read: dot leaders, Thai and Lao vowels, Korean letters, CJK radicals.
_KEPT = re.compile("[\u2024-\u2026\u0e33\u0eb3\u3130-\u318f\u2e80-\u2fdf\uffa0-\uffdc]")
_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\ufe63"), "-")
# Full-width punctuation is normal between Chinese and Japanese words, but not inside a code such as "KX-7721".
_WIDE_PUNCTUATION = re.compile("(?<=[A-Za-z0-9])[\uff01-\uff0f\uff1a-\uff20\uff3f](?=[A-Za-z0-9])")
_NOTE_MARK = re.compile("(?<=[0-9\uff10-\uff19])[\u2460-\u24ff\u2776-\u2793]")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@cache
def _plain_characters() -> tuple[dict[int, str], dict[int, str]]:
    """Return two maps from look-alike characters to their plain forms: to one character, and to several."""
    single: dict[int, str] = dict(_HYPHENS)
    several: dict[int, str] = {}
    for code in chain.from_iterable(starmap(range, _LOOK_ALIKES)):
        char = chr(code)
        if not unicodedata.decomposition(char).startswith(_LOOKS) or code in single or _KEPT.match(char):
            continue
        plain = unicodedata.normalize("NFKC", char)
        # Spacing accents become a blank and a combining accent; wide punctuation depends on its neighbours.
        if (" " in plain and plain != " ") or ("\uff00" < char < "\uff66" and not plain.isalnum()):
            continue
        (single if len(plain) == 1 else several)[code] = plain
    return single, several


def replace_look_alikes(text: str) -> str:
    """Return the text, of the same length, with full-width, circled and mathematical letters and digits as plain ones.

    No-break spaces and no-break hyphens become plain ones as well, as do full-width punctuation marks inside codes.

    >>> replace_look_alikes("\uff2b\uff38\uff0d\uff17\uff17")
    'KX-77'
    """
    if text.isascii():
        return text
    single, _ = _plain_characters()
    # A circled digit after a figure is a mark of a note, and would change the figure.
    text = _NOTE_MARK.sub(" ", text)
    return _WIDE_PUNCTUATION.sub(lambda found: chr(ord(found[0]) - 0xFEE0), text.translate(single))


def spell_out(text: str) -> str:
    """Return the text with composed accents, and with ligatures and other joined characters as several letters."""
    if text.isascii():
        return text
    _, several = _plain_characters()
    return unicodedata.normalize("NFC", text.translate(several))


def normalize_characters(text: str) -> str:
    """Return a text as people type it: plain letters and digits, composed accents, no invisible characters.

    This is NFKC except for superscripts, fractions and punctuation between Chinese or Japanese characters.

    >>> normalize_characters("\ufb01lter A\u20117731")
    'filter A-7731'
    """
    return spell_out(replace_look_alikes(_INVISIBLE.sub("", unicodedata.normalize("NFC", text))))


def normalize(text: str) -> str:
    """Return the text in lower case, without accents and superscript digits, with ASCII quotation marks and hyphens.

    >>> normalize("Nestlé’s")
    "nestle's"
    """
    # A fast path for ASCII text, because each question normalizes many passages.
    if text.isascii():
        return text.lower()
    marked = _MARK.sub(lambda found: PUNCTUATION_MAP[ord(found[0])], text)
    parts = unicodedata.normalize("NFKD", marked.casefold())
    return parts if parts.isascii() else _NON_ASCII.sub(_uncombined, parts).translate(STROKES)


def _uncombined(found: re.Match[str]) -> str:
    return "".join(char for char in found[0] if not unicodedata.combining(char))


def normalize_answer(text: str) -> str:
    """Return the text in lower case, without punctuation, articles and extra white space.

    The normalization is that of the evaluation script of Rajpurkar et al., "SQuAD: 100,000+ questions for machine
    comprehension of text", EMNLP 2016.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())
