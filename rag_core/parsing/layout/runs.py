"""A run, the unit of layout analysis: adjacent words on one line, in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.types import FloatArray


@dataclass(slots=True)
class Run:
    """Words on one line of one column or cell, from the text layer or OCR.

    Attributes
    ----------
    words : list of str
        Cleaned; none is empty.
    spaced : list of bool
        Whether there is a space before the word; the first is ignored.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` of each word as fractions of the displayed page.
    line_boxes : FloatArray, shape (n, 4)
        The same in points, with x along the line and y down the lines, for any rotation of the text.
    box : tuple of float
        ``x0, y0, x1, y1`` of the whole run, like ``line_boxes``.
    size : float
        Height of the characters in points.
    bold : bool
        Whether the font is bold.
    cells : int
        Number of groups of words with a clear gap between them; more than one in tables.
    hyphen : bool
        Whether the run ends in a hyphen that divides a word at the line end; ``words`` does not contain it.
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
        parts = [(" " if spaced and number else "") + word for number, (word, spaced) in self.enumerate_words()]
        return "".join(parts)

    def enumerate_words(self) -> list[tuple[int, tuple[str, bool]]]:
        return list(enumerate(zip(self.words, self.spaced, strict=True)))


def rotate_boxes(rects: FloatArray, direction: str, width: float, height: float) -> FloatArray:
    """Convert page fractions to points in the frame in which text of this direction runs from left to right.

    Parameters
    ----------
    rects : FloatArray, shape (n, 4)
    direction : {"right", "left", "down", "up"}
        Direction of the text on the displayed page.
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
