"""Decode characters that pdfium cannot map to Unicode, by the names of their glyphs.

If a font does not map its codes to letters, pdfium uses the code as the code point. Then "field" becomes "eld" if "fi"
is one glyph, and ⟨name⟩ becomes "hnamei". LaTeX writes such files by default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

# Each ligature is one character, so that the characters of a page keep their numbers. `characters.clean_word` later
# spells the ligatures out.
_TEX_LIGATURES = "\ufb00\ufb01\ufb02\ufb03\ufb04"
_LIGATURES = {**dict(zip(("ff", "fi", "fl", "ffi", "ffl"), _TEX_LIGATURES, strict=True)), "st": "\ufb06"}
# Glyph names of TeX's fonts without the suffix for the size, each followed by its character. The glyph "negationslash"
# is the stroke before the sign that it negates, and "mapsto" is the bar before an arrow.
_PAIRS = (
    "angbracketleft ⟨ angbracketright ⟩ floorleft ⌊ floorright ⌋ ceilingleft ⌈ ceilingright ⌉ parenleft ( parenright ) "
    "bracketleft [ bracketright ] braceleft { braceright } bardbl ‖ slash / "
    "backslash \\ prime ′ negationslash \u0338 mapsto | radical √ summation ∑ product ∏ coproduct ∐ integral ∫ "
    "contintegral ∮ union ⋃ intersection ⋂ circleplus ⊕ circlemultiply ⊗ logicaland ⋀ logicalor ⋁ epsilon1 ϵ rho1 ϱ "
    "pi1 ϖ theta1 ϑ phi1 ϕ sigma1 ς Rfractur ℜ Ifractur ℑ lscript ℓ triangleleft ◁ triangleright ▷ "
    "square □ Diamond ◇ triangle △ simequal ≃ similarequal ≃ precedesequal ⪯ followsequal ⪰ lessorsimilar ≲ "
    "greaterorsimilar ≳ leadsto ⇝"
).split()
_NAMES = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
# Suffixes of glyph names for other sizes of the same glyph.
_SIZE = re.compile(r"(?:[bB]igg?|text|display)$")
# In many fonts, a code of one byte is the right code point. A larger code is the index of a glyph; as a code point, the
# index would be a letter of another script.
_LARGEST_BYTE, _UNKNOWN = 255, 0xFFFD


def decode_glyphs(
    unmapped: Sequence[tuple[str, int]], glyph_names: Callable[[], Mapping[str, Mapping[int, str]]]
) -> list[int]:
    """Return the code points of characters that pdfium could not map.

    Without a known glyph name, the result is U+FFFD for a code above 255, which is certainly not a code point. For any
    other code, the result is 0, and the caller keeps the code as the code point.

    Parameters
    ----------
    unmapped : sequence of (str, int)
        For each character, the font name and the code in the font. The name is empty if the font has no name.
    glyph_names : callable
        Returns the glyph names of the page's fonts; called at most once. See `fonts.Fonts`.
    """
    names = glyph_names() if any(font for font, _ in unmapped) else {}
    code_points = {}
    for font, code in set(unmapped):
        letter = find_glyph_character(names.get(font, {}).get(code, ""))
        code_points[font, code] = ord(letter) if letter else _UNKNOWN if code > _LARGEST_BYTE else 0
    return [code_points[character] for character in unmapped]


def find_glyph_character(name: str) -> str:
    """Return the character of a glyph name; empty if the name is unknown.

    >>> find_glyph_character("f_i"), find_glyph_character("parenleftbigg"), find_glyph_character("a27")
    ('ﬁ', '(', '')
    """
    name = name.partition(".")[0]
    return _LIGATURES.get(name.replace("_", ""), "") or _NAMES.get(name, "") or _NAMES.get(_SIZE.sub("", name), "")
