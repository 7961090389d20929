"""Runs, the units of layout analysis: adjacent words on one line, in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.types.arrays import FloatArray

# Minimum gap between two cells of a run, in heights of the characters.
CELL_GAP = 1.3


@dataclass(slots=True)
class Run:
    """Words on one line of one column or cell, from the text layer or OCR.

    Attributes
    ----------
    words : list of str
        Cleaned words that are not empty.
    spaced : list of bool
        Whether there is a space before each word; the value of the first word is ignored.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` of each word as fractions of the displayed page.
    line_boxes : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` of each word in points. For any rotation of the text, x is the direction of the line, and y
        points to the next line.
    box : tuple of float
        ``x0, y0, x1, y1`` of the whole run, in the coordinates of ``line_boxes``.
    size : float
        Height of the characters in points.
    bold : bool
        Whether the font is bold.
    cells : int
        Number of groups of words between wide gaps; more than one in table rows.
    hyphen : bool
        Whether the run ends in a hyphen that divides a word at the line end. ``words`` does not contain this hyphen.
    backward : bool
        Whether words of the run are written from right to left; set only on pages whose lines continue to the left.
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
    backward: bool = False

    @property
    def text(self) -> str:
        return join_words(self.words, self.spaced)

    @property
    def middle(self) -> float:
        """Vertical middle of the run, in the coordinates of ``box``."""
        return (self.box[1] + self.box[3]) / 2


def join_words(words: Sequence[str], spaced: Sequence[bool]) -> str:
    """Return words as one text; ``spaced`` says whether a space is before each word except the first."""
    if all(spaced[1:]):
        return " ".join(words)
    rest = zip(words[1:], spaced[1:], strict=True)
    return words[0] + "".join((" " if is_spaced else "") + word for word, is_spaced in rest)


def rotate_boxes(rects: FloatArray, direction: str, width: float, height: float) -> FloatArray:
    """Convert boxes from page fractions to points, rotated so that text of a direction runs from left to right.

    Parameters
    ----------
    rects : FloatArray, shape (n, 4)
    direction : {"right", "left", "down", "up"}
        Direction of the text on the displayed page.
    width, height : float
        Size of the displayed page in points.
    """
    x0, y0, x1, y1 = (rects * np.array([width, height, width, height], np.float32)).T
    corners: Sequence[FloatArray] = {
        "right": (x0, y0, x1, y1),
        "left": (width - x1, height - y1, width - x0, height - y0),
        "down": (y0, width - x1, y1, width - x0),
        "up": (height - y1, x0, height - y0, x1),
    }[direction]
    return np.stack(list(corners), axis=1)


def rotate_boxes_like_run(rects: FloatArray, run: Run, width: float, height: float) -> FloatArray:
    """Convert boxes from page fractions to points, rotated as the ``line_boxes`` of a run.

    Parameters
    ----------
    rects : FloatArray, shape (n, 4)
    run : Run
    width, height : float
        Size of the displayed page in points.
    """
    offsets = {
        direction: float(np.nanmax(np.abs(rotate_boxes(run.rects, direction, width, height) - run.line_boxes)))
        for direction in ("right", "left", "down", "up")
    }
    return rotate_boxes(rects, min(offsets, key=offsets.__getitem__), width, height)
