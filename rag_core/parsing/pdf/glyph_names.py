"""Letters of which pdfium does not know what they are, by the names of their glyphs.

A font need not say which letters it draws, and then pdfium takes a glyph's number for its character: "field" comes
out as "eld" where "fi" is one glyph, and ⟨name⟩ as "hnamei". LaTeX writes such files unless it is told not to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

# As one character each, so that a page's characters keep their numbers; `cleaning` spells them out.
_TEX_LIGATURES = "\ufb00\ufb01\ufb02\ufb03\ufb04"
_LIGATURES = {**dict(zip(("ff", "fi", "fl", "ffi", "ffl"), _TEX_LIGATURES, strict=True)), "st": "\ufb06"}
# Names that TeX's own fonts have and the Adobe Glyph List does not, each with what it draws. What negates comes before
# what it negates, and the bar of an arrow before the arrow.
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
# The same in another size.
_SIZE = re.compile(r"(?:[bB]igg?|text|display)$")
# Glyphs drawn as pictures of dots have only numbers for names: here TeX's two arrangements of what is below the
# space (OT1 and T1; the LaTeX font encodings guide, 2.2 and 3.1).
_UNNAMED = {
    **dict(zip(range(11, 16), _TEX_LIGATURES, strict=True)),
    **dict(zip(range(16, 23), "“”„«»–—", strict=True)),
    **dict(zip(range(27, 32), _TEX_LIGATURES, strict=True)),
}
_FIRST_PRINTED = 32
# Many fonts give a character's byte as its code, and text is right by that. A larger number is a glyph's place in the
# font, and as a character it is some letter of another script.
_LARGEST_BYTE, _UNKNOWN = 255, 0xFFFD
# A font with more of its characters down there than this numbers its glyphs as they come.
_MOST_BELOW = 0.1


def decode_glyphs(
    unmapped: Sequence[tuple[str, int]], glyph_names: Callable[[], Mapping[str, Mapping[int, str]]]
) -> list[int]:
    """The code point of each of a page's characters that pdfium could not tell.

    It is 0 where nothing is known, and U+FFFD where the code is no character's for sure.

    Parameters
    ----------
    unmapped : sequence of (str, int)
        The name of the font, empty where it has none, and the code of the character in it.
    glyph_names : callable
        Of the page's fonts; asked at most once. See `fonts.Fonts`.
    """
    unnamed = [code for font, code in unmapped if not font]
    is_tex = sum(code < _FIRST_PRINTED for code in unnamed) <= _MOST_BELOW * len(unnamed)
    names = glyph_names() if len(unnamed) < len(unmapped) else {}
    known = {}
    for font, code in set(unmapped):
        letter = (
            glyph_character(names.get(font, {}).get(code, "")) if font else _UNNAMED.get(code, "") if is_tex else ""
        )
        known[font, code] = ord(letter) if letter else _UNKNOWN if code > _LARGEST_BYTE else 0
    return [known[one] for one in unmapped]


def glyph_character(name: str) -> str:
    """The character that a glyph of this name draws, empty where that is not known.

    >>> letter_of("f_i"), letter_of("parenleftbigg"), letter_of("a27")
    ('ﬁ', '(', '')
    """
    name = name.partition(".")[0]
    return _LIGATURES.get(name.replace("_", ""), "") or _NAMES.get(name, "") or _NAMES.get(_SIZE.sub("", name), "")
