"""Boxes of characters made as high as their line, where those of the text layer hug the letters.

Where a font does not say how high its letters reach, pdfium guesses it from two of them, and makes the boxes of those
that reach further higher: words of one line then stand at different heights and have different sizes.
"""

from __future__ import annotations

import numpy as np

from rag_core.parsing.pdf.text_page import TextPage
from rag_core.types import BoolArray, FloatArray, Int64Array

# In ems from the baseline: how far down and up the letters of common fonts reach.
_DOWN, _UP = -0.22, 0.9
# As shares of a height: what changes less is the same.
_ALIKE = 0.01
# Brackets may be higher than the letters of a font that has a height.
_FEWEST_CHANGES, _FEWEST_OF_FONT, _LEAST_SHARE = 20, 3, 0.2


def normalize_heights(
    boxes: FloatArray,
    drawn: Int64Array,
    across: int,
    text: TextPage,
) -> FloatArray:
    """The boxes, with those that hug their letters made as high as a line.

    Parameters
    ----------
    boxes : FloatArray, shape (n, 4)
        Left, bottom, right and top.
    drawn, across
        What `line_axis` returns for ``boxes``.
    text : TextPage
        Read for the characters whose height differs from the one before them, which are few inside a text object.
    """
    changes = np.flatnonzero(_differ(boxes[drawn, across + 2] - boxes[drawn, across])) + 1
    if len(changes) < _FEWEST_CHANGES:
        return boxes
    starts = np.concatenate([[0], changes])
    lengths = np.diff(starts, append=len(drawn))
    named = text.objects_and_fonts(drawn[starts].tolist())
    inside = np.concatenate([[False], named[1:, 0] == text.objects_and_fonts(drawn[changes - 1].tolist())[:, 0]])
    if inside.sum() < _FEWEST_CHANGES:
        return boxes
    ems = text.origins_and_ems(drawn[starts].tolist())[1]
    # The letters of a line that runs across those of the page differ in this way by their widths.
    inside &= np.abs(ems[:, across]) > np.abs(ems[:, 1 - across])
    numbers = drawn[np.repeat(_uneven(named[:, 1], inside, lengths), lengths)]
    return _as_high(boxes, numbers, *text.origins_and_ems(numbers.tolist())) if len(numbers) else boxes


def line_axis(boxes: FloatArray) -> tuple[Int64Array, int]:
    """The numbers of the characters that are drawn, and the axis across their lines: 1, or 0 where they run up or down.

    It is the one along which neighbours differ less often, since letters of a line differ in width.
    """
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    drawn = np.flatnonzero((widths > 0) & (heights > 0))
    narrower, higher = (np.count_nonzero(_differ(sizes[drawn])) for sizes in (widths, heights))
    return drawn, int(higher <= narrower)


def _differ(sizes: FloatArray) -> BoolArray:
    """Which of these but the first are not what the one before is, shape (n - 1,)."""
    found: BoolArray = np.abs(np.diff(sizes)) > _ALIKE * sizes[1:]
    return found


def _uneven(fonts: Int64Array, inside: BoolArray, lengths: Int64Array) -> BoolArray:
    """Which stretches of one height are of a font that changes its height all the time.

    Parameters
    ----------
    fonts : Int64Array, shape (n,)
        0 for one that is not to be judged.
    inside : BoolArray, shape (n,)
        Whether the stretch begins inside a text object.
    lengths : Int64Array, shape (n,)
    """
    names, which = np.unique(fonts, return_inverse=True)
    changes = np.bincount(which, inside, len(names))
    uneven = (names != 0) & (changes >= _FEWEST_OF_FONT)
    uneven &= changes >= _LEAST_SHARE * np.bincount(which, lengths, len(names))
    found: BoolArray = uneven[which] & bool(changes[uneven].max(initial=0) >= _FEWEST_CHANGES)
    return found


def _as_high(boxes: FloatArray, numbers: Int64Array, origins: FloatArray, ems: FloatArray) -> FloatArray:
    ends = np.stack([origins + _DOWN * ems, origins + _UP * ems])
    made = boxes.copy()
    for axis in (0, 1):
        # Letters that lie on their side reach to the left or right.
        up = np.abs(ems[:, axis]) > np.abs(ems[:, 1 - axis])
        made[numbers[up], axis] = ends[:, up, axis].min(axis=0)
        made[numbers[up], axis + 2] = ends[:, up, axis].max(axis=0)
    return made
