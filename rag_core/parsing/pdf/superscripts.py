"""Write raised figures, such as footnote marks and exponents, as superscript characters.

With a normal digit, "$5.2" with the footnote mark "1" would become another number: "$5.21".
"""

from __future__ import annotations

import re

import numpy as np

from rag_core.parsing.characters import SUPERSCRIPTS
from rag_core.parsing.pdf.text_page import TextPage
from rag_core.types.arrays import BoolArray, FloatArray, Int64Array, IntArray

# Limits on the rise and on the size of a raised character, as shares of the em of the largest character of its word.
_RISE = (0.2, 1.0)
_SIZE = (0.4, 0.9)
# A word may have a raised figure if the heights of two neighbouring characters differ by more than this share.
_MIN_STEP = 0.1
# Maximum distance between the characters of a word, as a share of their height.
_MAX_DISTANCE = 0.15
# Two sizes are equal if they differ by at most this share.
_EQUAL = 0.01
# Characters, besides letters and digits, that a raised figure may follow.
_BASE_SIGNS = frozenset("%$€£¥)]}.,;:!?'\"’”»")
_STRETCH = re.compile("\x01+")


def mark_superscripts(codes: IntArray, boxes: FloatArray, text: TextPage) -> IntArray:
    """Return the code points of characters, with superscripts in place of raised figures in words.

    Parameters
    ----------
    codes : IntArray, shape (n,)
    boxes : FloatArray, shape (n, 4)
        Left, bottom, right and top of each character.
    text : TextPage
        Provides the origins of characters.
    """
    drawn, across = find_line_axis(boxes)
    visible = codes[drawn]
    order = np.flatnonzero(visible > 0x20)
    drawn, visible = drawn[order], visible[order]
    figures = (visible >= 0x30) & (visible <= 0x39)
    if not figures.any():
        return codes
    next_to_figure = figures[1:] | figures[:-1]
    joined = np.diff(drawn) == 1
    # Join characters that touch, because pdfium inserts a line end before a raised figure in text that runs upwards.
    broken = np.flatnonzero(next_to_figure & ~joined & (np.diff(order) == 1))
    joined[broken] = _touches(boxes[drawn[broken]], boxes[drawn[broken + 1]], across)
    ends = np.concatenate([[0], np.flatnonzero(~joined) + 1, [len(drawn)]])

    pairs = np.flatnonzero(next_to_figure & joined)
    first, second = (
        boxes[drawn[numbers], across + 2] - boxes[drawn[numbers], across] for numbers in (pairs, pairs + 1)
    )
    steps = pairs[np.abs(first - second) > _MIN_STEP * np.maximum(first, second)]
    written = codes.copy()
    for begin, end in _find_words(steps, ends):
        word = drawn[begin:end]
        _write_superscripts(written, word, _is_raised(codes[word], *text.read_origins_and_ems(word.tolist())))
    return written


def find_line_axis(boxes: FloatArray) -> tuple[Int64Array, int]:
    """Return the numbers of the drawn characters, and the axis across their lines: 1 for horizontal lines, else 0.

    Neighbouring characters differ less often in size on this axis, because the letters of a line differ more often in
    width than in height.
    """
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    drawn = np.flatnonzero((widths > 0) & (heights > 0))
    narrower, higher = (
        np.count_nonzero(np.abs(np.diff(sizes[drawn])) > _EQUAL * sizes[drawn][1:]) for sizes in (widths, heights)
    )
    return drawn, int(higher <= narrower)


def _find_words(characters: Int64Array, ends: Int64Array) -> list[tuple[int, int]]:
    """Return the start and the end of each word that contains one of the characters.

    ``ends`` contains 0 and the end of each word, ascending.
    """
    words = np.unique(np.searchsorted(ends, characters, "right"))
    return list(zip(ends[words - 1].tolist(), ends[words].tolist(), strict=True))


def _touches(boxes: FloatArray, following: FloatArray, across: int) -> BoolArray:
    """Return whether each box is near to the box of the same index in ``following``, on the same line."""
    gaps = np.maximum(boxes[:, :2], following[:, :2]) - np.minimum(boxes[:, 2:], following[:, 2:])
    most = _MAX_DISTANCE * (following[:, across + 2] - following[:, across])
    touches: BoolArray = (np.abs(gaps[:, 1 - across]) < most) & (gaps[:, across] < 0)
    return touches


def _write_superscripts(codes: IntArray, numbers: Int64Array, raised: BoolArray) -> None:
    """Replace raised characters of a word by superscripts, in ``codes`` itself, if there are figures among them.

    Raised figures in brackets are not replaced, because they cannot be misread as part of a number.
    """
    for stretch in _STRETCH.finditer(raised.tobytes().decode("latin-1")):
        here = numbers[slice(*stretch.span())]
        values = codes[here].tolist()
        if chr(values[0]) not in "([" and any(chr(code).isdecimal() for code in values):
            codes[here] = [SUPERSCRIPTS.get(code, code) for code in values]


def _is_raised(codes: IntArray, origins: FloatArray, ems: FloatArray) -> BoolArray:
    """Return which characters of a word are smaller than its largest character and raised above its baseline."""
    sizes = np.hypot(*ems.T)
    is_base = [char.isalnum() or char in _BASE_SIGNS for char in map(chr, codes.tolist())]
    base = int(np.argmax(np.where(is_base, sizes, 0)))
    if not is_base[base] or sizes[base] <= 0:
        return np.zeros(len(codes), bool)
    rises = (origins - origins[base]) @ ems[base] / sizes[base] ** 2
    shares = sizes / sizes[base]
    is_raised: BoolArray = (rises > _RISE[0]) & (rises < _RISE[1]) & (shares > _SIZE[0]) & (shares < _SIZE[1])
    return is_raised
