"""Text that a page holds and does not show: left out of its text, and kept apart so that it can be told.

What a reader cannot see can speak to a model behind the reader's back. Hidden is what lies outside the page, is
smaller than a point, or makes no difference when it is drawn: white on white, drawn in the colour under it, or not
painted at all (render mode 3; ISO 32000-1, table 106). The invisible letters of a scan lie over its picture, are
there to be read, and stay.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rag_core.extraction.pdfium import Characters
from rag_core.types import FloatArray, Int64Array, IntArray

if TYPE_CHECKING:
    from rag_core.extraction.pdfium import PageReader

Mask = npt.NDArray[np.bool_]

_OUTSIDE = 0.02
_TINY_POINTS = 1.0
# Every character costs a call or three: a sentence is noticed by every twenty-fourth.
_SAMPLED = 24
_PAINTED = (0, 2, 4, 6)
_CLIPS = 7
_LIGHT, _SHEER, _ALIKE = 192, 26, 32
_SCALE, _LEAST_CHANGE = 1.5, 16
_MOST = 2000
_WORD, _RUN = re.compile(r"\S+"), re.compile("h+")
_RUN_STANDS = 4
_TAGS = (0xE0020, 0xE007F)
_BREAK = "\x00"


def without_hidden(reader: PageReader, characters: Characters) -> tuple[Characters, str]:
    """The characters with blanks in place of hidden ones, and the text that was hidden.

    At most 2,000 characters of it are kept, white space folded; letters hidden as tag characters are written as
    what they stand for.
    """
    codes = characters.codes
    mask = _whole_words(codes, _unshowable(characters) | _unpainted(reader, characters))
    tags = (codes >= _TAGS[0]) & (codes < _TAGS[1])
    if not (mask | tags).any():
        return characters, ""
    told = _told(np.where(tags, codes - 0xE0000, codes), mask | tags)
    return replace(characters, codes=np.where(mask, 0x20, codes).astype(np.int32)), told


def _unshowable(characters: Characters) -> Mask:
    """Characters that are smaller than a point, or whose middle does not lie on the page as shown."""
    x0, y0, x1, y1 = characters.boxes.T  # NaN where a place is not known, which compares false
    across, down = x0 + x1, y0 + y1
    low, high = 2 * -_OUTSIDE, 2 * (1 + _OUTSIDE)
    tiny = ((x1 - x0) * characters.width < _TINY_POINTS) & ((y1 - y0) * characters.height < _TINY_POINTS)
    mask: Mask = tiny | (across < low) | (across > high) | (down < low) | (down > high)
    return mask


def _unpainted(reader: PageReader, characters: Characters) -> Mask:
    """Characters whose drawing changes nothing."""
    count = len(characters.codes)
    none = np.zeros(count, bool)
    rects, fills = reader.areas()
    if not any(_doubtful(look, fills) for look in reader.looks(_SAMPLED)):
        return none
    inks = reader.inks(range(count))
    suspect = _suspect(inks, characters.boxes, rects, fills)
    suspect &= ~((inks[:, 1] == 3) & _over(characters.boxes, reader.images()))
    if not suspect.any():
        return none
    whole, rest = reader.drawn_without(set(inks[suspect, 0].tolist()), _SCALE)
    same = ~_any_within(_most(np.abs(whole - rest)) >= _LEAST_CHANGE, characters.boxes)
    # Letters that clip what is painted after them do not paint themselves, and yet may show.
    clipping = inks[:, 1] == _CLIPS
    if clipping.any():
        steps = np.abs(np.diff(whole, axis=1, prepend=whole[:, :1]))
        same &= ~(clipping & _any_within(_most(steps) >= _LEAST_CHANGE, characters.boxes))
    return suspect & same


def _most(steps: IntArray) -> IntArray:
    """The largest of the three colours' steps at each pixel."""
    most: IntArray = steps.max(axis=2)
    return most


def _doubtful(look: tuple[int, ...], fills: Int64Array) -> bool:
    """Whether characters that look so may not be seen on some part of the page."""
    mode, *colour, opacity = look
    if mode not in _PAINTED or opacity < _SHEER or min(colour) >= _LIGHT:
        return True
    return len(fills) > 0 and bool((np.abs(fills - colour).max(axis=1) < _ALIKE).any())


def _suspect(inks: Int64Array, boxes: FloatArray, rects: FloatArray, fills: Int64Array) -> Mask:
    """Characters that may not be seen: pale or unpainted ones, and those on an area of about their own colour."""
    colours = inks[:, 2:5]
    suspect: Mask = ~np.isin(inks[:, 1], _PAINTED) | (inks[:, 5] < _SHEER) | (colours.min(axis=1) >= _LIGHT)
    for rect, fill in zip(rects, fills, strict=True):
        alike = np.abs(colours - fill).max(axis=1) < _ALIKE
        if alike.any():
            suspect |= alike & _over(boxes, rect[None])
    suspect &= inks[:, 0] != 0
    return suspect


def _over(boxes: FloatArray, rects: FloatArray) -> Mask:
    """Characters whose middle lies on one of these rectangles."""
    middles = ((boxes[:, :2] + boxes[:, 2:]) / 2)[:, None]
    over: Mask = np.all((middles >= rects[None, :, :2]) & (middles <= rects[None, :, 2:]), axis=2).any(axis=1)
    return over


def _any_within(marked: Mask, boxes: FloatArray) -> Mask:
    """Whether some pixel within each box is marked; false for a box without a place."""
    height, width = marked.shape
    sums = np.pad(marked.cumsum(axis=0, dtype=np.int64).cumsum(axis=1), ((1, 0), (1, 0)))
    places = np.clip(np.nan_to_num(boxes), 0, 1) * (width, height, width, height)
    x0, y0 = np.floor(places[:, 0]).astype(int), np.floor(places[:, 1]).astype(int)
    x1, y1 = np.ceil(places[:, 2]).astype(int), np.ceil(places[:, 3]).astype(int)
    within: Mask = (sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]) > 0
    return within


def _whole_words(codes: IntArray, hidden: Mask) -> Mask:
    """Without a few hidden characters of a word: a faint full stop is not taken out of the number it stands in."""
    if not hidden.any():
        return hidden
    pairs = zip(_decoded(codes), hidden.tolist(), strict=True)
    signs = "".join(" " if char.isspace() else "h" if one else "." for char, one in pairs)
    words = np.zeros_like(hidden)
    for word in _WORD.finditer(signs):
        for run in _RUN.finditer(signs, *word.span()):
            length = run.end() - run.start()
            if length >= _RUN_STANDS or 2 * length > word.end() - word.start():
                words[slice(*run.span())] = True
    return words


def _told(codes: IntArray, mask: Mask) -> str:
    """The masked characters as text, what stood apart parted by a blank."""
    text = _decoded(codes)
    kept = (char if shown or char.isspace() else _BREAK for char, shown in zip(text, mask.tolist(), strict=True))
    return " ".join("".join(kept).replace(_BREAK, " ").split())[:_MOST]


def _decoded(codes: IntArray) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le")
