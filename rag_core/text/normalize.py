"""Normalize the characters of texts, so that texts can be compared."""

from __future__ import annotations

import re
import string
import unicodedata
from functools import cache
from itertools import chain, starmap

# The digits zero to nine in footnote marks and exponents.
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# Maps quotation marks and dashes to ASCII characters.
PUNCTUATION_MAP = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-"}
)
# Superscript digits are removed, because most are footnote marks. As ordinary digits, they would change the number
# before them.
PUNCTUATION_MAP |= dict.fromkeys(map(ord, SUPERSCRIPT_DIGITS), "")

# Unicode does not decompose letters with a stroke into a letter and a mark.
STROKES = str.maketrans("łŁøØđĐħĦŧŦ", "lLoOdDhHtT")

_MARK = re.compile(f"[{''.join(map(chr, PUNCTUATION_MAP))}]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")

# Kinds of compatibility decomposition (Unicode Standard Annex #44) of characters that only look different from their
# plain form. Decomposing other kinds, such as superscripts and fractions, would change numbers.
_LOOKS = ("<wide>", "<narrow>", "<compat>", "<circle>", "<noBreak>", "<font>")
# Ranges of code points that contain such characters.
_LOOK_ALIKES = ((0x80, 0x3400), (0xF900, 0x10000), (0x1D400, 0x1D800), (0x1F100, 0x1F200))
# Characters that are easier to read as they are: dot leaders, Thai and Lao vowels, Korean letters, CJK radicals.
_KEPT = re.compile("[\u2024-\u2026\u0e33\u0eb3\u3130-\u318f\u2e80-\u2fdf\uffa0-\uffdc]")
_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\ufe63"), "-")
# Full-width punctuation is normal between Chinese and Japanese words, but not inside a code such as "KX-7721".
_WIDE_PUNCTUATION = re.compile("(?<=[A-Za-z0-9])[\uff01-\uff0f\uff1a-\uff20\uff3f](?=[A-Za-z0-9])")
# A circled digit after a figure, which refers to a note.
_NOTE_MARK = re.compile("(?<=[0-9\uff10-\uff19])[\u2460-\u24ff\u2776-\u2793]")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@cache
def _map_plain_forms() -> tuple[dict[int, str], dict[int, str]]:
    """Return two mappings from look-alike characters to plain forms: of one character, and of several characters."""
    single: dict[int, str] = dict(_HYPHENS)
    several: dict[int, str] = {}
    for code in chain.from_iterable(starmap(range, _LOOK_ALIKES)):
        char = chr(code)
        if not unicodedata.decomposition(char).startswith(_LOOKS) or code in single or _KEPT.match(char):
            continue
        plain = unicodedata.normalize("NFKC", char)
        # Leave out spacing accents, whose plain form begins with a blank, and wide punctuation, which is replaced only
        # between certain neighbours.
        if (" " in plain and plain != " ") or ("\uff00" < char < "\uff66" and not plain.isalnum()):
            continue
        (single if len(plain) == 1 else several)[code] = plain
    return single, several


def replace_look_alikes(text: str) -> str:
    """Return the text with full-width, circled and mathematical letters and digits as plain ones.

    No-break spaces, no-break hyphens and, inside codes, full-width punctuation marks are replaced as well. A circled
    digit after a figure becomes a blank. The length of the text does not change.

    >>> replace_look_alikes("\uff2b\uff38\uff0d\uff17\uff17")
    'KX-77'
    """
    if text.isascii():
        return text
    single, _ = _map_plain_forms()
    # As a plain digit, the mark of a note would change the figure before it.
    text = _NOTE_MARK.sub(" ", text)
    return _WIDE_PUNCTUATION.sub(lambda found: chr(ord(found[0]) - 0xFEE0), text.translate(single))


def spell_out(text: str) -> str:
    """Return the text with ligatures and other joined characters as several letters, and with composed accents."""
    if text.isascii():
        return text
    _, several = _map_plain_forms()
    return unicodedata.normalize("NFC", text.translate(several))


def normalize_characters(text: str) -> str:
    """Return the text with plain letters and digits, composed accents and no invisible characters.

    The result is the NFKC form, except for superscripts, fractions and punctuation between Chinese or Japanese
    characters, which do not change.

    >>> normalize_characters("\ufb01lter A\u20117731")
    'filter A-7731'
    """
    return spell_out(replace_look_alikes(_INVISIBLE.sub("", unicodedata.normalize("NFC", text))))


def normalize(text: str) -> str:
    """Return the text in lower case, without accents and superscript digits, with ASCII quotation marks and hyphens.

    >>> normalize("Nestlé’s")
    "nestle's"
    """
    # A fast path, because many passages are normalized for each question.
    if text.isascii():
        return text.lower()
    marked = _MARK.sub(lambda found: PUNCTUATION_MAP[ord(found[0])], text)
    parts = unicodedata.normalize("NFKD", marked.casefold())
    return parts if parts.isascii() else _NON_ASCII.sub(_remove_accents, parts).translate(STROKES)


def _remove_accents(found: re.Match[str]) -> str:
    return "".join(char for char in found[0] if not unicodedata.combining(char))


def normalize_answer(text: str) -> str:
    """Return an answer in lower case, without punctuation, articles and extra white space, for exact match and F1.

    The normalization is that of the evaluation script of Rajpurkar et al., "SQuAD: 100,000+ questions for machine
    comprehension of text", EMNLP 2016.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())
