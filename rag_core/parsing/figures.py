"""Find the figure of a caption on the picture of a page: the ink beside the caption that is no text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_core.types.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

# ``x0, y0, x1, y1`` as fractions of the page.
Box = tuple[float, float, float, float]
# Blocks into which the longer side of a page is divided, and pixels of a side of each. A block with a larger share of
# ink, whose colour differs by ``_STEP`` or more from the paper, is a part of a figure.
_BLOCKS, _PIXELS, _LEAST_INK, _STEP = 140, 6, 0.02, 30
# Share of the page at its edges whose colour is that of the paper.
_EDGE = 0.02
# Least width and height of a figure and largest area, as fractions of the page, and the greatest distances of a caption
# from its figure, of the parts of a figure, and of the words beside it.
_NARROWEST, _LOWEST, _LARGEST = 0.08, 0.04, 0.85
_CAPTION_GAP, _PART_GAP, _WORD_GAP = 0.15, 0.1, 0.03
_MARGIN = 0.01
# Ink with a larger share of words is a table or a box with text.
_MOST_TEXT = 0.2


def find_figure(image: Image, caption: FloatArray, words: FloatArray, others: FloatArray) -> Box | None:
    """Return the place of a figure with its caption; ``None`` if there is only text beside the caption.

    The figure is above its caption, or else below it.

    Parameters
    ----------
    image : PIL.Image.Image
        Picture of the page in RGB.
    caption : FloatArray, shape (n, 4)
        The words of the caption, as fractions of the page.
    words : FloatArray, shape (m, 4)
        All words of the page.
    others : FloatArray, shape (k, 4)
        The places of other captions of the page.
    """
    left, top, right, bottom = own = _bound(caption)
    parts = [one for one in _find_parts(image, words) if _measure(one) < _LARGEST and _share(one, words) < _MOST_TEXT]
    # A part belongs to the nearest caption.
    parts = [
        one
        for one in parts
        if all(_distance(one, own) <= _distance(one, other) for other in map(tuple, others.tolist()))
    ]
    # Parts of a figure are on one side of its caption.
    sides = {
        "above": [one for one in parts if one[3] <= top + _MARGIN],
        "below": [one for one in parts if one[1] >= bottom - _MARGIN],
    }
    found = []
    for side, ones in sides.items():
        for one in ones:
            gap = top - one[3] if side == "above" else one[1] - bottom
            if _is_large(one) and gap <= _CAPTION_GAP and one[0] < right and one[2] > left:
                found.append((gap + _MARGIN * (side == "below"), side, one))
    if not found:
        return None
    _, side, figure = min(found)
    while further := [one for one in sides[side] if not _contains(figure, one) and _is_part(figure, one)]:
        figure = _join(figure, *further)
    near = [
        word
        for word in map(tuple, words.tolist())
        if (word[3] <= top + _MARGIN if side == "above" else word[1] >= bottom - _MARGIN)
        and figure[0] - _WORD_GAP < (word[0] + word[2]) / 2 < figure[2] + _WORD_GAP
        and figure[1] - _WORD_GAP < (word[1] + word[3]) / 2 < figure[3] + _WORD_GAP
    ]
    x0, y0, x1, y1 = _join(figure, *near, (left, top, right, bottom))
    return max(x0 - _MARGIN, 0.0), max(y0 - _MARGIN, 0.0), min(x1 + _MARGIN, 1.0), min(y1 + _MARGIN, 1.0)


def _find_parts(image: Image, words: FloatArray) -> Iterator[Box]:
    """Yield the places of connected ink that is no text."""
    small = image.copy()
    small.thumbnail((_BLOCKS * _PIXELS, _BLOCKS * _PIXELS))
    pixels = np.asarray(small, np.int16)
    height, width = pixels.shape[:2]
    edge = max(round(_EDGE * min(height, width)), 1)
    frame = np.concatenate([pixels[:edge].reshape(-1, 3), pixels[-edge:].reshape(-1, 3)])
    ink = (np.abs(pixels - np.median(frame, axis=0)) > _STEP).any(axis=2)
    for x0, y0, x1, y1 in (words * (width, height, width, height)).astype(int).tolist():
        ink[max(y0 - 1, 0) : y1 + 2, max(x0 - 1, 0) : x1 + 2] = False
    rows, columns = height // _PIXELS, width // _PIXELS
    blocks = ink[: rows * _PIXELS, : columns * _PIXELS].reshape(rows, _PIXELS, columns, _PIXELS).mean(axis=(1, 3))
    for top, left, bottom, right in _find_connected(blocks > _LEAST_INK):
        yield left * _PIXELS / width, top * _PIXELS / height, right * _PIXELS / width, bottom * _PIXELS / height


def _find_connected(blocks: BoolArray) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first and the last row and column (exclusive) of blocks that are at most one block apart."""
    left = set(zip(*(places.tolist() for places in np.nonzero(blocks)), strict=True))
    near = [(down, across) for down in range(-2, 3) for across in range(-2, 3)]
    while left:
        waiting = [left.pop()]
        found = list(waiting)
        while waiting:
            row, column = waiting.pop()
            beside = {(row + down, column + across) for down, across in near} & left
            left -= beside
            waiting += beside
            found += beside
        rows, columns = zip(*found, strict=True)
        yield min(rows), min(columns), max(rows) + 1, max(columns) + 1


def _bound(rects: FloatArray) -> Box:
    x0, y0 = rects[:, :2].min(axis=0).tolist()
    x1, y1 = rects[:, 2:].max(axis=0).tolist()
    return x0, y0, x1, y1


def _join(*boxes: tuple[float, ...]) -> Box:
    return _bound(np.array(boxes))


def _measure(one: Box) -> float:
    return (one[2] - one[0]) * (one[3] - one[1])


def _share(one: Box, words: FloatArray) -> float:
    """Return the share of words in the area of a part."""
    inside = np.clip(np.minimum(words[:, 2:], one[2:]) - np.maximum(words[:, :2], one[:2]), 0, None)
    return float(np.prod(inside, axis=1).sum() / _measure(one))


def _distance(one: Box, other: Sequence[float]) -> float:
    across, down = _find_gaps(one, other)
    return max(across, 0.0) + max(down, 0.0)


def _find_gaps(one: Box, other: Sequence[float]) -> tuple[float, float]:
    """Return the distances from left to right and from top to bottom; they are negative where boxes overlap."""
    return max(one[0], other[0]) - min(one[2], other[2]), max(one[1], other[1]) - min(one[3], other[3])


def _is_large(one: Box) -> bool:
    return one[2] - one[0] >= _NARROWEST and one[3] - one[1] >= _LOWEST


def _contains(one: Box, other: Box) -> bool:
    return one[0] <= other[0] and one[1] <= other[1] and other[2] <= one[2] and other[3] <= one[3]


def _is_part(figure: Box, other: Box) -> bool:
    """Return whether ink is inside a figure or beside it, or, if it is large, close above or below it."""
    across, down = _find_gaps(figure, other)
    gap = _PART_GAP if _is_large(other) else _MARGIN
    return (down < 0 and across < gap) or (across < 0 and down < gap / 4)
