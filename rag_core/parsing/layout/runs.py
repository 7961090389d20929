"""A run: words that stand on one line next to each other, in reading order; what layout works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.types import FloatArray


@dataclass(slots=True)
class Run:
    """Words of one line of one column or cell, as the source (text layer or OCR) gave them.

    Attributes
    ----------
    words : list of str
        Clean, none empty.
    spaced : list of bool
        Whether a space stands before the word; the first is ignored.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` of each word as fractions of the displayed page.
    spots : FloatArray, shape (n, 4)
        The same in points, with x along the line and y down the lines, whatever way the text is turned.
    box : tuple of float
        ``x0, y0, x1, y1`` of the whole run, like ``line_boxes``.
    size : float
        Height of its characters in points.
    bold : bool
        Whether its font says so.
    cells : int
        Number of groups of words with a clear gap between them; more than one in tables.
    hyphen : bool
        Whether it ends in a hyphen, not in ``words``, that the line end put there.
    """

    words: list[str]
    spaced: list[bool]
    rects: FloatArray
    line_boxes: FloatArray
    box: tuple[float, float, float, float]
    size: float
    bold: bool = False
    cells: int = 1
    hyphen: bool = False

    @property
    def text(self) -> str:
        if all(self.spaced[1:]):
            return " ".join(self.words)
        parts = [(" " if spaced and number else "") + word for number, (word, spaced) in self.pairs()]
        return "".join(parts)

    def pairs(self) -> list[tuple[int, tuple[str, bool]]]:
        return list(enumerate(zip(self.words, self.spaced, strict=True)))


def rotate_boxes(rects: FloatArray, direction: str, width: float, height: float) -> FloatArray:
    """Page fractions to points in the frame in which text of this direction runs left to right.

    Parameters
    ----------
    rects : FloatArray, shape (n, 4)
    direction : {"right", "left", "down", "up"}
        Where the text runs to on the displayed page.
    width, height : float
        Of the displayed page, in points.
    """
    x0, y0, x1, y1 = (rects * np.array([width, height, width, height], np.float32)).T
    corners: Sequence[FloatArray] = {
        "right": (x0, y0, x1, y1),
        "left": (width - x1, height - y1, width - x0, height - y0),
        "down": (y0, width - x1, y1, width - x0),
        "up": (height - y1, x0, height - y0, x1),
    }[direction]
    return np.stack(list(corners), axis=1)
