"""Find the figure that belongs to a caption on the picture of a page: ink beside the caption that is not text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_core.types.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

# ``x0, y0, x1, y1`` as fractions of the page.
Box = tuple[float, float, float, float]
# The longer side of a page is divided into this many blocks, and each side of a block into this many pixels.
_BLOCKS = 140
_BLOCK_PIXELS = 6
# A pixel is ink if its colour differs from the paper by at least ``_MIN_STEP``. A block with a larger share of ink than
# ``_MIN_INK`` is part of a figure.
_MIN_STEP = 30
_MIN_INK = 0.02
# The strips at the top and the bottom of the page show the colour of the paper: height as a share of the shorter side.
_EDGE = 0.02
# Limits on the width, the height and the area of a figure, as fractions of the page.
_MIN_WIDTH = 0.08
_MIN_HEIGHT = 0.04
_MAX_AREA = 0.85
# Maximum distances from a figure to its caption, to its further parts and to the words beside it.
_CAPTION_GAP = 0.15
_PART_GAP = 0.1
_WORD_GAP = 0.03
_MARGIN = 0.01
# Ink with a larger share of words is a table or a box with text.
_MAX_TEXT = 0.2


def find_figure(image: Image, caption: FloatArray, words: FloatArray, others: FloatArray) -> Box | None:
    """Return the box of a figure and its caption, with a margin; ``None`` if no figure is near the caption.

    The figure is the nearest large area of ink above or below the caption; above, if both are about equally near. Its
    further parts and the words at its edges belong to the box.

    Parameters
    ----------
    image : PIL.Image.Image
        Picture of the page in RGB.
    caption : FloatArray, shape (n, 4)
        Boxes of the words of the caption, as fractions of the page.
    words : FloatArray, shape (m, 4)
        Boxes of all words of the page.
    others : FloatArray, shape (k, 4)
        Boxes of the other captions of the page.
    """
    left, top, right, bottom = own = _find_bounds(caption)
    parts = [
        part
        for part in _find_parts(image, words)
        if _measure_area(part) < _MAX_AREA
        and _measure_text_share(part, words) < _MAX_TEXT
        # A part belongs to the nearest caption.
        and all(_measure_distance(part, own) <= _measure_distance(part, other) for other in others.tolist())
    ]
    # All parts of a figure are on one side of its caption.
    sides = {
        "above": [part for part in parts if part[3] <= top + _MARGIN],
        "below": [part for part in parts if part[1] >= bottom - _MARGIN],
    }
    candidates = []
    for side, on_side in sides.items():
        for part in on_side:
            gap = top - part[3] if side == "above" else part[1] - bottom
            if _is_large(part) and gap <= _CAPTION_GAP and part[0] < right and part[2] > left:
                candidates.append((gap + _MARGIN * (side == "below"), side, part))
    if not candidates:
        return None
    _, side, figure = min(candidates)
    while further := [part for part in sides[side] if not _contains(figure, part) and _is_part(figure, part)]:
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
    """Yield the box of each connected area of ink outside the words."""
    small = image.copy()
    small.thumbnail((_BLOCKS * _BLOCK_PIXELS, _BLOCKS * _BLOCK_PIXELS))
    pixels = np.asarray(small, np.int16)
    height, width = pixels.shape[:2]
    edge = max(round(_EDGE * min(height, width)), 1)
    frame = np.concatenate([pixels[:edge].reshape(-1, 3), pixels[-edge:].reshape(-1, 3)])
    ink = (np.abs(pixels - np.median(frame, axis=0)) > _MIN_STEP).any(axis=2)
    for x0, y0, x1, y1 in (words * (width, height, width, height)).astype(int).tolist():
        ink[max(y0 - 1, 0) : y1 + 2, max(x0 - 1, 0) : x1 + 2] = False
    side = _BLOCK_PIXELS
    rows, columns = height // side, width // side
    blocks = ink[: rows * side, : columns * side].reshape(rows, side, columns, side).mean(axis=(1, 3))
    for top, left, bottom, right in _find_connected(blocks > _MIN_INK):
        yield left * side / width, top * side / height, right * side / width, bottom * side / height


def _find_connected(blocks: BoolArray) -> Iterator[tuple[int, int, int, int]]:
    """Yield first row, first column, end row and end column of each group of blocks with gaps of at most one block."""
    remaining = set(zip(*(places.tolist() for places in np.nonzero(blocks)), strict=True))
    near = [(down, across) for down in range(-2, 3) for across in range(-2, 3)]
    while remaining:
        waiting = [remaining.pop()]
        group = list(waiting)
        while waiting:
            row, column = waiting.pop()
            neighbours = {(row + down, column + across) for down, across in near} & remaining
            remaining -= neighbours
            waiting += neighbours
            group += neighbours
        rows, columns = zip(*group, strict=True)
        yield min(rows), min(columns), max(rows) + 1, max(columns) + 1


def _find_bounds(rects: FloatArray) -> Box:
    x0, y0 = rects[:, :2].min(axis=0).tolist()
    x1, y1 = rects[:, 2:].max(axis=0).tolist()
    return x0, y0, x1, y1


def _join(*boxes: tuple[float, ...]) -> Box:
    return _find_bounds(np.array(boxes))


def _measure_area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _measure_text_share(part: Box, words: FloatArray) -> float:
    """Return the share of the area of a part that words cover."""
    inside = np.clip(np.minimum(words[:, 2:], part[2:]) - np.maximum(words[:, :2], part[:2]), 0, None)
    return float(np.prod(inside, axis=1).sum() / _measure_area(part))


def _measure_distance(first: Box, second: Sequence[float]) -> float:
    across, down = _measure_gaps(first, second)
    return max(across, 0.0) + max(down, 0.0)


def _measure_gaps(first: Box, second: Sequence[float]) -> tuple[float, float]:
    """Return the horizontal and the vertical distance of two boxes, which are negative where the boxes overlap."""
    return max(first[0], second[0]) - min(first[2], second[2]), max(first[1], second[1]) - min(first[3], second[3])


def _is_large(box: Box) -> bool:
    return box[2] - box[0] >= _MIN_WIDTH and box[3] - box[1] >= _MIN_HEIGHT


def _contains(outer: Box, inner: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _is_part(figure: Box, part: Box) -> bool:
    """Return whether a part is near enough to a figure to belong to it.

    A large part may be further away, and a part beside the figure further than one above or below.
    """
    across, down = _measure_gaps(figure, part)
    gap = _PART_GAP if _is_large(part) else _MARGIN
    return (down < 0 and across < gap) or (across < 0 and down < gap / 4)
