"""Measure texts in the bundled typeface, and load fonts for drawing.

Pages are laid out with the widths of one typeface, so that the boxes of words are the same on every machine. If another
font draws a word, the word is scaled to its box.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.errors import StoreError

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

_FILES = {False: "Vera.ttf", True: "VeraBd.ttf"}
# Fonts of operating systems for characters that the bundled typeface lacks.
_FALLBACKS = (
    *("DejaVuSans.ttf", "NotoSans-Regular.ttf", "FreeSans.ttf", "arialuni.ttf", "Arial Unicode.ttf", "arial.ttf"),
    *("NotoSansCJK-Regular.ttc", "NotoSansArabic-Regular.ttf", "NotoSansHebrew-Regular.ttf", "wqy-microhei.ttc"),
    *("NotoSansDevanagari-Regular.ttf", "msgothic.ttc", "simsun.ttc", "malgun.ttf", "PingFang.ttc", "Symbola.ttf"),
)
# Character that no font has. A font that draws another character in the same way lacks that character as well.
_MISSING = "\U0010ffff"
_TRIAL_SIZE = 20


def _find_file(bold: bool) -> Path:
    spec = find_spec("reportlab")
    if spec is None or spec.submodule_search_locations is None:
        raise StoreError("The package reportlab is not installed. Run make setup.")
    return Path(spec.submodule_search_locations[0]) / "fonts" / _FILES[bold]


@cache
def load_widths(bold: bool) -> dict[str, float]:
    """Return the width of each character of the typeface, as a share of the font size."""
    from reportlab.pdfbase.ttfonts import TTFontFile

    widths = TTFontFile(str(_find_file(bold)), validate=0).charWidths
    return {chr(code): width / 1000 for code, width in widths.items() if code > 31}


def measure(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a text in points; ``size`` is the font size in points."""
    widths = load_widths(bold)
    try:
        return sum([widths[char] for char in text]) * size
    except KeyError:
        return sum(widths[char] if char in widths else _guess_width(char) for char in text) * size


def _guess_width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(char) in ("W", "F") else 0.6


@cache
def load_font(size: float, bold: bool) -> FreeTypeFont:
    """Return the bundled font at a size in pixels."""
    from PIL import ImageFont

    return ImageFont.truetype(str(_find_file(bold)), size)


def load_font_with_characters(text: str, size: float, bold: bool) -> FreeTypeFont:
    """Return the bundled font or, if it lacks a character of the text, a system font with that character.

    Return the bundled font as well if no system font has the first of the missing characters. ``size`` is in pixels.
    """
    missing = sorted({char for char in text if char not in load_widths(bold) and not char.isspace()})
    if missing and (name := _find_fallback(missing[0])):
        return _load_fallback(name, size)
    return load_font(size, bold)


@cache
def _find_fallback(char: str) -> str | None:
    for name in _FALLBACKS:
        try:
            font = _load_fallback(name, _TRIAL_SIZE)
        except OSError:  # this machine does not have the font
            continue
        if bytes(font.getmask(char)) != bytes(font.getmask(_MISSING)):
            return name
    return None


@cache
def _load_fallback(name: str, size: float) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(name, size)
