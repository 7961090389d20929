"""Give the characters of a line boxes of equal height if the text layer has tight boxes.

If a font does not define its height, pdfium guesses the height from two letters, and returns higher boxes for letters
that extend further. The words of a line then have different heights, which would be taken for different text sizes.
"""

from __future__ import annotations

import numpy as np

from rag_core.parsing.pdf.text_page import TextPage
from rag_core.types import BoolArray, FloatArray, Int64Array

# Descent and ascent of common fonts, in ems from the baseline.
_DOWN, _UP = -0.22, 0.9
# Two heights count as equal if they differ by less than this share.
_ALIKE = 0.01
# A few changes of height are normal: even in a font that defines its height, brackets may be higher than letters.
_MIN_CHANGES, _MIN_OF_FONT, _LEAST_SHARE = 20, 3, 0.2


def normalize_heights(
    boxes: FloatArray,
    drawn: Int64Array,
    across: int,
    text: TextPage,
) -> FloatArray:
    """Return the boxes, with tight boxes extended to the height of the line.

    Parameters
    ----------
    boxes : FloatArray, shape (n, 4)
        Left, bottom, right and top of each character.
    drawn, across
        Result of `find_line_axis` for ``boxes``.
    text : TextPage
        Provides details of the characters whose height differs from the character before; normally these are few.
    """
    changes = np.flatnonzero(_differs_from_previous(boxes[drawn, across + 2] - boxes[drawn, across])) + 1
    if len(changes) < _MIN_CHANGES:
        return boxes
    starts = np.concatenate([[0], changes])
    lengths = np.diff(starts, append=len(drawn))
    named = text.objects_and_fonts(drawn[starts].tolist())
    inside = np.concatenate([[False], named[1:, 0] == text.objects_and_fonts(drawn[changes - 1].tolist())[:, 0]])
    if inside.sum() < _MIN_CHANGES:
        return boxes
    ems = text.origins_and_ems(drawn[starts].tolist())[1]
    # Ignore a line at a right angle to most lines, because these differences are differences of its letter widths.
    inside &= np.abs(ems[:, across]) > np.abs(ems[:, 1 - across])
    numbers = drawn[np.repeat(_find_uneven(named[:, 1], inside, lengths), lengths)]
    return _extend_boxes(boxes, numbers, *text.origins_and_ems(numbers.tolist())) if len(numbers) else boxes


def find_line_axis(boxes: FloatArray) -> tuple[Int64Array, int]:
    """Return the numbers of the drawn characters, and the axis at a right angle to their lines.

    The axis is 1 for horizontal and 0 for vertical lines. On this axis, neighbouring characters differ less often in
    size, because the letters of a line differ in width more often than in height.
    """
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    drawn = np.flatnonzero((widths > 0) & (heights > 0))
    narrower, higher = (np.count_nonzero(_differs_from_previous(sizes[drawn])) for sizes in (widths, heights))
    return drawn, int(higher <= narrower)


def _differs_from_previous(sizes: FloatArray) -> BoolArray:
    """Return which sizes differ from the size before, shape (n - 1,)."""
    differs: BoolArray = np.abs(np.diff(sizes)) > _ALIKE * sizes[1:]
    return differs


def _find_uneven(fonts: Int64Array, inside: BoolArray, lengths: Int64Array) -> BoolArray:
    """Return which stretches of characters of equal height belong to a font whose height changes often.

    Parameters
    ----------
    fonts : Int64Array, shape (n,)
        Address of the font of each stretch; 0 for a font without a name, for which the result is always false.
    inside : BoolArray, shape (n,)
        Whether the stretch begins inside a text object.
    lengths : Int64Array, shape (n,)
        Number of characters of each stretch.
    """
    names, which = np.unique(fonts, return_inverse=True)
    changes = np.bincount(which, inside, len(names))
    uneven = (names != 0) & (changes >= _MIN_OF_FONT)
    uneven &= changes >= _LEAST_SHARE * np.bincount(which, lengths, len(names))
    is_uneven: BoolArray = uneven[which] & bool(changes[uneven].max(initial=0) >= _MIN_CHANGES)
    return is_uneven


def _extend_boxes(boxes: FloatArray, numbers: Int64Array, origins: FloatArray, ems: FloatArray) -> FloatArray:
    ends = np.stack([origins + _DOWN * ems, origins + _UP * ems])
    extended = boxes.copy()
    for axis in (0, 1):
        # Extend each box along the axis on which its letter stands: rotated letters extend to the left or right.
        up = np.abs(ems[:, axis]) > np.abs(ems[:, 1 - axis])
        extended[numbers[up], axis] = ends[:, up, axis].min(axis=0)
        extended[numbers[up], axis + 2] = ends[:, up, axis].max(axis=0)
    return extended
