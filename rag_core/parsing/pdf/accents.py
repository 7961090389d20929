"""Accents that stand beside their letters in the text layer, put on them.

TeX's first fonts have no letters with accents: it draws an accent and the letter under it, and the text layer says
"Schr¨odinger", with a blank or a line's end between them where one of the two was moved up or down.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np

from rag_core.parsing.pdf.text_page import Characters
from rag_core.types import BoolArray, FloatArray, IntArray

_ACCENTS = dict(
    zip(
        map(ord, "`´ˆ˜¨¸˘ˇ˚˝¯˙"),
        "\u0300\u0301\u0302\u0303\u0308\u0327\u0306\u030c\u030a\u030b\u0304\u0307",
        strict=True,
    )
)
_DOTLESS = {"ı": "i", "ȷ": "j"}
# Dropped with what else is no text; see `cleaning`.
_NOTHING = 0x200B
_DRAWS_NOTHING = frozenset((2, 9, 10, 13, 32, _NOTHING))
# The share of the lower of two boxes that lies in the other's height where both are on one line.
_LEAST_SHARED = 0.3
# As shares of a letter's height: what is wider than the first is a blank between words, and no accent's middle is
# farther than the second from its letter.
_BLANK, _BESIDE = 0.15, 0.1
# Each is held against the whole page; one with more of them is no text.
_MOST_ACCENTS = 2000


def compose_accents(characters: Characters) -> Characters:
    """The characters with each accent put on the letter that it is drawn over, if there is such a letter.

    Their numbers stay the same: what is no longer there is a character that is dropped later.
    """
    places = np.flatnonzero(np.isin(characters.codes, list(_ACCENTS))).tolist()[:_MOST_ACCENTS]
    if not places:
        return characters
    codes, kept = characters.codes.copy(), characters.boxes.copy()
    boxes = characters.boxes * np.array((characters.width, characters.height) * 2, np.float32)
    for place in places:
        under = np.flatnonzero(_is_over(boxes[place], boxes))
        # Of two letters over one another the one that was written with the accent.
        for letter in sorted(under.tolist(), key=lambda one: abs(one - place)):
            if made := _composed(int(codes[letter]), int(codes[place])):
                # Pdfium may have put it into another word, which does not reach to here.
                codes[letter], codes[place], kept[place] = made, _NOTHING, np.nan
                _close(codes, boxes, place)
                break
    return replace(characters, codes=codes, boxes=kept)


def _composed(letter: int, accent: int) -> int:
    """The code point of a letter with an accent; 0 where there is none."""
    plain = chr(letter)
    made = unicodedata.normalize("NFC", _DOTLESS.get(plain, plain) + _ACCENTS[accent])
    return ord(made) if len(made) == 1 and plain.isalpha() else 0


def _is_over(accent: FloatArray, boxes: FloatArray) -> BoolArray:
    """Which boxes the middle of the accent's is in, shape (n,); none where nothing is drawn."""
    middle, slack = (accent[0] + accent[2]) / 2, _BESIDE * (boxes[:, 3] - boxes[:, 1])
    within = (boxes[:, 0] - slack <= middle) & (middle <= boxes[:, 2] + slack)
    found: BoolArray = within & _are_on_one_line(accent, boxes)
    return found


def _are_on_one_line(box: FloatArray, boxes: FloatArray) -> BoolArray:
    shared = np.minimum(box[3], boxes[:, 3]) - np.maximum(box[1], boxes[:, 1])
    found: BoolArray = shared > _LEAST_SHARED * np.minimum(box[3] - box[1], boxes[:, 3] - boxes[:, 1])
    return found


def _close(codes: IntArray, boxes: FloatArray, place: int) -> None:
    """Take away the blanks beside an accent that was lifted off where the characters around it are one word's."""
    first, last = place, place
    while first > 0 and codes[first] in _DRAWS_NOTHING:
        first -= 1
    while last < len(codes) - 1 and codes[last] in _DRAWS_NOTHING:
        last += 1
    gap = abs(boxes[last][0] - boxes[first][2])
    if gap < _BLANK * (boxes[last][3] - boxes[last][1]) and _are_on_one_line(boxes[first], boxes[last : last + 1])[0]:
        codes[first + 1 : last] = _NOTHING
