"""Clean words: spell out ligatures, drop control characters, and replace the bullets of symbol fonts."""

from __future__ import annotations

import re
import unicodedata

from rag_core.text.normalize import SUPERSCRIPT_DIGITS, spell_out

# The fonts Symbol and Wingdings use private use characters: 0xF000 plus the byte of the glyph. The characters below
# have a meaning in reports and forms. Other private use characters have no meaning as text and are dropped.
_SYMBOLS = {
    0xF0A7: "•",
    0xF0B7: "•",
    0xF076: "•",
    0xF0D8: "•",
    0xF06C: "•",
    0xF06E: "•",
    0xF0E0: "→",
    0xF0A8: "☐",
    0xF06F: "☐",
    0xF0FE: "☒",
    0xF078: "☒",
    0xF0FC: "✓",
    0xF02D: "-",
    0xF020: "",
}

_DROPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    "\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
_COMPATIBILITY = re.compile("[\ufb00-\ufb06\ufb13-\ufdff\ufe70-\ufefc\u2f00-\u2fdf]")
# Combining accents, and characters that stand for several letters, such as "№" and "⑩".
_COMPOSED = re.compile("[\u0132-\u0149\u01c4-\u01cc\u01f1-\u01f3\u0300-\u036f\u2100-\u218f\u2460-\u24ff\u3200-\u33ff]")
_NUMBER_SIGN = "\u2116"
# TeX draws the negation stroke first, and then the sign that the stroke negates.
_NEGATED = re.compile("(\u0338)(.)")
_SUSPECT = re.compile(
    "|".join(pattern.pattern for pattern in (_DROPPED, _PRIVATE, _COMPATIBILITY, _COMPOSED, _NEGATED))
)
_UNREADABLE = re.compile("[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff\x00-\x08\x0e-\x1f\x80-\x9f]")

# In languages of the Latin script, vowels are between a third and a half of the letters of a page. If a font has a
# wrong Unicode table, other letters take their place, and the share differs.
_VOWELS = frozenset("aeiouyæøœı")
_PLAUSIBLE_VOWEL_SHARE = (0.28, 0.62)
# Fewer letters are too few for a share.
_MIN_LETTERS = 60
_MIN_LATIN_SHARE = 0.8
# Shorter words are often units, and words with digits are codes.
_LONG_WORD = re.compile(r"(?<!\w)[^\W\d_]{4,}(?!\w)")
_NOT_ASCII = re.compile("[^\x00-\x7f]")

# Characters of scripts that are written without spaces. Each is a separate word, so that a highlight can mark a few
# characters. Blanks and line ends of a PDF between two such characters are left out of the text.
UNSPACED_SCRIPTS = (
    "\u2e80-\u2fdf\u3001-\u30ff\u3130-\u318f\u31f0-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{UNSPACED_SCRIPTS}]")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

SUPERSCRIPTS = dict(zip(map(ord, "0123456789+-−"), map(ord, f"{SUPERSCRIPT_DIGITS}⁺⁻⁻"), strict=True))


def needs_cleaning(text: str) -> bool:
    """Return whether `clean_word` could change a word of a text; this test is cheap."""
    return _SUSPECT.search(text) is not None


def clean_word(word: str) -> str:
    """Return a word with ligatures and presentation forms spelled out, and with the signs of symbol fonts replaced.

    Control characters and unknown characters of private use are dropped, so the result may be empty.
    """
    if word.isascii() and word.isprintable():
        return word
    word = _COMPATIBILITY.sub(lambda match: unicodedata.normalize("NFKC", match[0]).strip(), word)
    word = _NEGATED.sub(_compose_negation, word)
    # Keep the sign for a number, which Cyrillic texts use, as printed.
    word = _NUMBER_SIGN.join(map(spell_out, word.split(_NUMBER_SIGN)))
    word = _PRIVATE.sub(lambda match: _SYMBOLS.get(ord(match[0]), ""), word)
    return _DROPPED.sub("", word)


def _compose_negation(match: re.Match[str]) -> str:
    composed = unicodedata.normalize("NFC", match[2] + match[1])
    return composed if len(composed) == 1 else match[0]


def clean_line(text: str) -> str:
    """Return a title or label from metadata as one line, without control characters and double spaces."""
    return clean_word(" ".join(text.split()))


def measure_unreadable_share(text: str) -> float:
    """Return the share of visible characters, 0..1, that are unreadable because their font has no Unicode table.

    Return 0 for a text without visible characters.
    """
    if not _UNREADABLE.search(text):
        return 0.0
    visible = sum(not char.isspace() for char in text)
    known = sum(ord(match[0]) in _SYMBOLS for match in _PRIVATE.finditer(text))
    return (len(_UNREADABLE.findall(text)) - known) / visible if visible else 0.0


def has_plausible_letters(text: str) -> bool:
    """Return whether the letters of a text can form words of a language; true for short texts and other scripts.

    >>> has_plausible_letters("The wrench was calibrated by the chief mechanic of the workshop. " * 2)
    True
    >>> has_plausible_letters("Ymj bwjshm bfx hfqngwfyji gd ymj hmnjk rjhmfsnh tk ymj btwpxmtu. " * 2)
    False
    """
    words = "".join(word for word in _LONG_WORD.findall(text) if not word.isupper())
    words = unicodedata.normalize("NFD", words).casefold()
    # Test only the characters outside ASCII one by one, which are few on most pages.
    not_ascii = _NOT_ASCII.findall(words)
    others = [char for char in not_ascii if char.isalpha()]
    latin: int = len(words) - len(not_ascii) + sum(char < "\u0250" for char in others)
    if latin < _MIN_LETTERS or latin < _MIN_LATIN_SHARE * (len(words) - len(not_ascii) + len(others)):
        return True
    least, most = _PLAUSIBLE_VOWEL_SHARE
    return least <= sum(words.count(vowel) for vowel in _VOWELS) / latin <= most
