"""Compose letters and accents that are separate characters in the text layer.

TeX's original fonts have no letters with accents. TeX draws an accent and a letter under it, so the text layer contains
"Schr¨odinger". If the accent or the letter is moved up or down, a blank or a line end is between the two.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np

from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import BoolArray, FloatArray, IntArray

_ACCENTS = dict(
    zip(
        map(ord, "`´ˆ˜¨¸˘ˇ˚˝¯˙"),
        "\u0300\u0301\u0302\u0303\u0308\u0327\u0306\u030c\u030a\u030b\u0304\u0307",
        strict=True,
    )
)
_DOTLESS = {"ı": "i", "ȷ": "j"}
# `characters.clean_word` drops this character.
_DROPPED = 0x200B
_DRAWS_NOTHING = frozenset((2, 9, 10, 13, 32, _DROPPED))
# Two boxes are on one line if they overlap vertically by more than this share of the smaller height.
_MIN_SHARED = 0.3
# Minimum width of a blank between words, as a share of the height of the letter before it.
_MIN_BLANK = 0.15
# Maximum horizontal distance between the middle of an accent and its letter, as a share of the height of the letter.
_MAX_DISTANCE = 0.1
# The number of accents is limited, because each accent is compared with all characters of the page. A page with more
# accents is not normal text.
_MAX_ACCENTS = 2000


def compose_accents(characters: Characters) -> Characters:
    """Return the characters with each accent and its letter composed to one character.

    The number of characters stays the same, because the accent, and blanks beside the accent that divide its word,
    become U+200B, which is dropped later. An accent without a letter is kept, and so are accents after the first 2,000.
    """
    places = np.flatnonzero(np.isin(characters.codes, list(_ACCENTS))).tolist()[:_MAX_ACCENTS]
    if not places:
        return characters
    codes, new_boxes = characters.codes.copy(), characters.boxes.copy()
    boxes = characters.boxes * np.array((characters.width, characters.height) * 2, np.float32)
    for place in places:
        under = np.flatnonzero(_are_at_accent(boxes[place], boxes))
        # If the accent is over two letters, prefer the letter that is nearer in the content stream.
        for letter in sorted(under.tolist(), key=lambda one: abs(one - place)):
            if composed := _compose(int(codes[letter]), int(codes[place])):
                # Remove the box of the accent. If pdfium put the accent into another word, the box of that word would
                # otherwise extend to the accent.
                codes[letter], codes[place], new_boxes[place] = composed, _DROPPED, np.nan
                _remove_blanks(codes, boxes, place)
                break
    return replace(characters, codes=codes, boxes=new_boxes)


def _compose(letter: int, accent: int) -> int:
    """Return the code point of a letter with an accent; 0 if there is no such character."""
    plain = chr(letter)
    composed = unicodedata.normalize("NFC", _DOTLESS.get(plain, plain) + _ACCENTS[accent])
    return ord(composed) if len(composed) == 1 and plain.isalpha() else 0


def _are_at_accent(accent: FloatArray, boxes: FloatArray) -> BoolArray:
    """Return which boxes are on the line of an accent and reach horizontally over its middle, shape (n,).

    Boxes of characters that are not drawn are NaN, for which the result is false.
    """
    middle, slack = (accent[0] + accent[2]) / 2, _MAX_DISTANCE * (boxes[:, 3] - boxes[:, 1])
    within = (boxes[:, 0] - slack <= middle) & (middle <= boxes[:, 2] + slack)
    over: BoolArray = within & _are_on_one_line(accent, boxes)
    return over


def _are_on_one_line(box: FloatArray, boxes: FloatArray) -> BoolArray:
    shared = np.minimum(box[3], boxes[:, 3]) - np.maximum(box[1], boxes[:, 1])
    same_line: BoolArray = shared > _MIN_SHARED * np.minimum(box[3] - box[1], boxes[:, 3] - boxes[:, 1])
    return same_line


def _remove_blanks(codes: IntArray, boxes: FloatArray, place: int) -> None:
    """Replace the blanks around a composed accent by dropped characters, in ``codes`` itself.

    Blanks are kept if the characters before and after them belong to different words.
    """
    first, last = place, place
    while first > 0 and codes[first] in _DRAWS_NOTHING:
        first -= 1
    while last < len(codes) - 1 and codes[last] in _DRAWS_NOTHING:
        last += 1
    gap = abs(boxes[last][0] - boxes[first][2])
    if (
        gap < _MIN_BLANK * (boxes[last][3] - boxes[last][1])
        and _are_on_one_line(boxes[first], boxes[last : last + 1])[0]
    ):
        codes[first + 1 : last] = _DROPPED
