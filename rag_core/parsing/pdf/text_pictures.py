"""Find the pictures of text on a page that has a text layer, and place their text among its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.reading_order import order_lines
from rag_core.parsing.layout.runs import Run
from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

# Smaller pictures, in square points and points, are logos, icons and signatures.
_MIN_AREA = 20_000
_MIN_WIDTH = 72.0
_MIN_HEIGHT = 36.0
# If a picture contains more characters of the text layer in each square point, the text layer has the text of the
# picture.
_MAX_LAYER_DENSITY = 1 / 400
# A picture is divided into blocks of this size in points.
_BLOCK_WIDTH = 16.0
_BLOCK_HEIGHT = 2.0
# Letters have many vertical edges, at which the brightness of adjacent pixels differs by at least ``_MIN_STEP``. At
# least the share ``_MIN_EDGES`` of the pixels of a block with text are edges.
_MIN_STEP = 56
_MIN_EDGES = 0.06
# A column of pixels with a larger share of edges is a frame or a vertical rule.
_MAX_COLUMN_EDGES = 0.5
# Maximum number of blocks above each other in a line of text.
_MAX_LINE_BLOCKS = 10
_MIN_LINES = 3
# In a picture of text, nearly all edges are in lines, unlike the curves and bars of a chart. At least this share is in
# the rows of lines of three blocks or more.
_MIN_LINE_SHARE = 0.79
# At least this share is in or beside the rows of lines of two blocks or more.
_MIN_NEAR_SHARE = 0.985


def find_candidates(boxes: FloatArray, characters: Characters) -> FloatArray:
    """Return the boxes of the pictures that are large enough for text and contain little text of the text layer.

    Parameters
    ----------
    boxes : FloatArray, shape (n, 4)
        Boxes of the pictures, as fractions of the page.
    characters : Characters
        Characters of the text layer.

    Returns
    -------
    FloatArray, shape (m, 4)
    """
    width, height = ((boxes[:, 2:] - boxes[:, :2]) * (characters.width, characters.height)).T
    large = (width >= _MIN_WIDTH) & (height >= _MIN_HEIGHT) & (width * height >= _MIN_AREA)
    if not large.any():
        return boxes[:0]
    across, down = (characters.boxes[:, :2] + characters.boxes[:, 2:]).T / 2
    counts = [((x0 < across) & (across < x1) & (y0 < down) & (down < y1)).sum() for x0, y0, x1, y1 in boxes[large]]
    kept: FloatArray = boxes[large][counts < _MAX_LAYER_DENSITY * (width * height)[large]]
    return kept


def is_text(image: Image, box: FloatArray, characters: Characters) -> bool:
    """Return whether a part of the picture of a page shows lines of text that are not in the text layer.

    Parameters
    ----------
    image : PIL.Image.Image
        Picture of the page.
    box : FloatArray, shape (4,)
        The part, as fractions of the page.
    characters : Characters
        Characters of the text layer.
    """
    size = np.array((image.width, image.height) * 2)
    left, top, right, bottom = (box * size).astype(int).tolist()
    edges = (
        np.abs(np.diff(np.asarray(image.convert("L").crop((left, top, right, bottom)), np.int16), axis=1)) >= _MIN_STEP
    )
    for x0, y0, x1, y1 in (characters.boxes[~np.isnan(characters.boxes[:, 0])] * size).astype(int):
        edges[max(y0 - top, 0) : max(y1 + 1 - top, 0), max(x0 - 1 - left, 0) : max(x1 + 1 - left, 0)] = False
    edges[:, edges.mean(axis=0) > _MAX_COLUMN_EDGES] = False
    wide = round(_BLOCK_WIDTH * image.width / characters.width)
    high = max(round(_BLOCK_HEIGHT * image.height / characters.height), 1)
    rows, columns = edges.shape[0] // high, edges.shape[1] // wide
    if rows < 1 or columns < 3:
        return False
    blocks = edges[: rows * high, : columns * wide].reshape(rows, high, columns, wide).mean(axis=(1, 3))
    dense = blocks >= _MIN_EDGES
    short, long = (_find_lines(dense, length) for length in (2, 3))
    starts = long & ~np.roll(long, 1, axis=0)
    if starts.sum(axis=0).max(initial=0) < _MIN_LINES:
        return False
    has_line = short.any(axis=1)
    # The rows above and below contain the upper and the lower end of letters.
    is_near = has_line | np.roll(has_line, 1) | np.roll(has_line, -1)
    line_share, near_share = (blocks[rows].sum() / blocks.sum() for rows in (long.any(axis=1), is_near))
    return bool(line_share >= _MIN_LINE_SHARE and near_share >= _MIN_NEAR_SHARE)


def _find_lines(dense: BoolArray, length: int) -> BoolArray:
    """Return at which blocks ``length`` dense blocks side by side begin, shape (rows, columns - length + 1).

    If more than ``_MAX_LINE_BLOCKS`` such places are above each other, none counts, because a line is not so high.
    """
    begins: BoolArray = np.all(sliding_window_view(dense, length, axis=1), axis=2)
    lines = np.zeros(begins.shape, bool)
    for column in range(begins.shape[1]):
        ends = np.flatnonzero(np.diff(begins[:, column], prepend=False, append=False)).reshape(-1, 2)
        for start, end in ends.tolist():
            lines[start:end, column] = end - start <= _MAX_LINE_BLOCKS
    return lines


def insert_pictures(lines: list[Line], pictures: list[list[Run]]) -> list[Line]:
    """Return the lines of a page with the text of each picture after the nearest line above the picture.

    If there is no such line, the text is before the first line below the picture, or else at the end of the page.
    """
    for runs in pictures:
        x0, y0, x1, y1 = find_bounds(runs)
        above, below = [], []
        for number, line in enumerate(lines):
            left, top, right, bottom = find_bounds(line.runs)
            if left < x1 and right > x0:
                if top + bottom < 2 * y0:
                    above.append((bottom, number + 1))
                elif top + bottom > 2 * y1:
                    below.append(number)
        place = max(above)[1] if above else min(below, default=len(lines))
        lines = [*lines[:place], *order_lines(runs, written=False), *lines[place:]]
    return lines


def find_bounds(runs: list[Run]) -> tuple[float, float, float, float]:
    """Return ``x0, y0, x1, y1`` of all words of runs together, as fractions of the page."""
    rects = np.concatenate([run.rects for run in runs])
    x0, y0 = rects[:, :2].min(axis=0).tolist()
    x1, y1 = rects[:, 2:].max(axis=0).tolist()
    return x0, y0, x1, y1
