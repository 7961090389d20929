"""Lines in reading order to the text of a page, with the box of each word."""

from __future__ import annotations

import numpy as np

from rag_core.parsing.layout.lines import Line
from rag_core.types import FloatArray, WordBoxes


def compose(lines: list[Line], separators: list[str]) -> tuple[str, WordBoxes, list[tuple[int, int]]]:
    """Write lines one after another.

    Parameters
    ----------
    lines : list of Line
        In reading order.
    separators : list of str
        What stands before each line but the first.

    Returns
    -------
    text : str
    boxes : WordBoxes
        Of the words whose place is known; a word that a line end divides has a box for each half.
    spans : list of tuple of int
        Where each line stands in ``text``.
    """
    parts: list[str] = []
    offset = 0
    starts: list[int] = []
    ends: list[int] = []
    rects: list[FloatArray] = []
    spans: list[tuple[int, int]] = []

    for number, line in enumerate(lines):
        separator = separators[number - 1] if number else ""
        parts.append(separator)
        offset += len(separator)
        begin = offset
        for order, run in enumerate(line.runs):
            rects.append(run.rects)
            for index, (word, spaced) in run.pairs():
                if (spaced and index) or (order and not index and line.spaced(order)):
                    parts.append(" ")
                    offset += 1
                starts.append(offset)
                offset += len(word)
                ends.append(offset)
                parts.append(word)
        spans.append((begin, offset))
    return "".join(parts), _boxes(starts, ends, rects), spans


def _boxes(starts: list[int], ends: list[int], rects: list[FloatArray]) -> WordBoxes:
    if not starts:
        return WordBoxes.empty()
    places = np.concatenate(rects).astype(np.float32)
    known = ~np.isnan(places).any(axis=1)
    places = np.clip(places[known], 0.0, 1.0)
    return WordBoxes(np.array(starts, np.int32)[known], np.array(ends, np.int32)[known], places)
