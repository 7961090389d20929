"""Find two columns on a page: an empty vertical strip with prose on both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rag_core.parsing.characters import UNSPACED
from rag_core.parsing.layout.runs import Run

# Horizontal positions are rounded to bins of this width in points.
_BIN = 3.0
# Minimum width of a text that may have two columns, in points.
_MIN_WIDTH = 60.0
_MIN_ROWS = 6
# Lines of prose fill at least this median share of their column, and at least this share of them begin in lower case.
_MIN_FILL = 0.7
_MIN_CONTINUED = 0.2
# The content stream returns to the left column if at least this many lines before are in the right column, and as many
# after in the left column.
_RETURN_LINES = 3
# Left end, right end and text of a word.
_Word: TypeAlias = tuple[float, float, str]


@dataclass(frozen=True, slots=True)
class Columns:
    """Two columns of a page, with an empty gutter between them; coordinates are in points.

    Attributes
    ----------
    gutter : float
        Horizontal position of the gutter.
    top, bottom : float
        Ends of the part of the page that has two columns.
    interleaved : bool
        Whether the content stream changes between the columns, instead of writing one column after the other.
    """

    gutter: float
    top: float
    bottom: float
    interleaved: bool


@dataclass(slots=True)
class _Row:
    """Runs on one baseline, even if they are far apart in the content stream."""

    runs: list[Run]
    top: float
    bottom: float

    def words(self) -> list[_Word]:
        """Return the words with a known position, from left to right."""
        placed = (
            (float(box[0]), float(box[2]), word)
            for run in self.runs
            for box, word in zip(run.line_boxes, run.words, strict=True)
        )
        return sorted(word for word in placed if word[0] == word[0])


def find_columns(runs: list[Run]) -> Columns | None:
    """Return the largest part of the page with two columns, or `None`.

    To find more than two columns, call this function again with the runs of each column.
    """
    rows = _group_rows(runs)
    if len(rows) < _MIN_ROWS:
        return None
    strip = _find_longest_strip(rows)
    if strip is None:
        return None
    gutter, first, last = strip
    band = rows[first : last + 1]
    words = [row.words() for row in band]
    divided = [number for number, row in enumerate(words) if row[0][0] < gutter < row[-1][1]]
    band, words = band[divided[0] : divided[-1] + 1], words[divided[0] : divided[-1] + 1]
    if not _has_prose_on_both_sides(words, gutter):
        return None
    top, bottom = band[0].top - 0.1, band[-1].bottom + 0.1
    return Columns(gutter, top, bottom, _is_interleaved(runs, gutter, top, bottom))


def _group_rows(runs: list[Run]) -> list[_Row]:
    rows: list[_Row] = []
    for run in sorted(runs, key=lambda item: item.box[3]):
        if np.isnan(run.line_boxes[0, 0]) and np.isnan(run.line_boxes[:, 0]).all():
            continue
        if rows and run.box[3] - rows[-1].bottom < 0.4 * max(run.size, 1.0):
            rows[-1].runs.append(run)
            rows[-1].top = min(rows[-1].top, run.box[1])
        else:
            rows.append(_Row([run], run.box[1], run.box[3]))
    return rows


def _find_longest_strip(rows: list[_Row]) -> tuple[float, int, int] | None:
    """Return x, first row and last row of the empty vertical strip with the most rows that have words on both sides."""
    boxes = np.concatenate([run.line_boxes for row in rows for run in row.runs]).astype(np.float64)
    numbers = np.repeat(np.arange(len(rows)), [sum(len(run.words) for run in row.runs) for row in rows])
    has_position = ~np.isnan(boxes[:, 0])
    boxes, numbers = boxes[has_position], numbers[has_position]
    low, high = float(boxes[:, 0].min()), float(boxes[:, 2].max())
    if high - low < _MIN_WIDTH:
        return None
    # Process all words and positions at once, because nearly every page has no columns and this test must be cheap.
    # Each word adds 1 to the bin of its start and -1 to the bin after its end. Words cover the bins in which the
    # cumulative sum is positive.
    bins = int((high - low) / _BIN) + 1
    begins, ends = (((boxes[:, side] - low) / _BIN).astype(np.int64) for side in (0, 2))
    steps = np.zeros((len(rows), bins + 1), np.int64)
    np.add.at(steps, (numbers, begins), 1)
    np.add.at(steps, (numbers, ends + 1), -1)
    covered = steps.cumsum(axis=1)[:, :-1] > 0
    starts, stops = covered.argmax(axis=1), bins - 1 - covered[:, ::-1].argmax(axis=1)
    free = ~covered[:, :-1] & ~covered[:, 1:]
    places = np.arange(bins - 1)
    sides = (starts[:, None] < places) & (stops[:, None] > places)
    # For each position, count the rows with words on both sides within each stretch of rows that are empty there: the
    # running total, minus the total before the stretch.
    reached = sides.cumsum(axis=0)
    counts = reached - np.maximum.accumulate(np.where(free, 0, reached), axis=0)
    most = counts[:, int(0.2 * bins) : int(0.8 * bins)].max(axis=0)
    if most.max() < _MIN_ROWS:
        return None
    place = int(0.2 * bins) + int(most.argmax())
    first, last = max(_find_stretches(free[:, place]), key=lambda ends: int(sides[ends[0] : ends[1] + 1, place].sum()))
    return low + (place + 1) * _BIN, first, last


def _find_stretches(free: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the last index of each stretch of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(np.int8)))
    return [(int(begin), int(end) - 1) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _has_prose_on_both_sides(band: list[list[_Word]], gutter: float) -> bool:
    left = [[word for word in row if word[0] < gutter] for row in band]
    right = [[word for word in row if word[0] >= gutter] for row in band]
    pairs = [(first, second) for first, second in zip(left, right, strict=True) if first and second]
    return is_prose([first for first, _ in pairs]) and is_prose([second for _, second in pairs])


def is_prose(side: list[list[_Word]]) -> bool:
    """Return whether the rows of a column are prose; ``side`` contains the words of each row.

    In prose, most rows have several words and fill the column, most characters are letters, and at least a fifth of the
    rows begin in lower case if the script has cases.
    """
    width = max(words[-1][1] for words in side) - min(words[0][0] for words in side)
    fills = [(words[-1][1] - words[0][0]) / max(width, 1.0) for words in side]
    text = "".join(word for words in side for _, _, word in words)
    letters = sum(char.isalpha() for char in text)
    if letters < 0.8 * len(text) or median(fills) < _MIN_FILL:
        return False
    if UNSPACED.search(text):
        return median(map(len, side)) >= 8
    # Many lines of prose begin in lower case, because a sentence continues there; table cells begin with capitals.
    continued = sum(words[0][2][0].islower() for words in side)
    caseless = text.upper() == text.lower()
    return median(map(len, side)) >= 3 and (caseless or continued >= _MIN_CONTINUED * len(side))


def _is_interleaved(runs: list[Run], gutter: float, top: float, bottom: float) -> bool:
    """Return whether the content stream crosses the gutter, changes sides often, or returns to the left column."""
    inside = [run for run in runs if run.box[3] > top and run.box[1] < bottom]
    crossing = sum(run.box[0] < gutter < run.box[2] for run in inside)
    sides = [run.box[0] >= gutter for run in inside]
    turns = sum(first != second for first, second in pairwise(sides))
    block = _RETURN_LINES
    returns = any(
        all(sides[at - block : at])
        and not any(sides[at : at + block])
        and inside[at].box[3] < inside[at - 1].box[1]
        and all(len(run.words) > 1 for run in inside[at - block : at + block])
        for at in range(block, len(inside) - block + 1)
    )
    return crossing > 2 or turns > max(4, len(inside) // 5) or returns


def split_run(run: Run, x: float) -> tuple[Run | None, Run | None]:
    """Split a run at the horizontal position ``x``, and return the left and the right part.

    The left part has the words whose middle is left of ``x`` or unknown. A part without words is `None`.
    """
    middles = (run.line_boxes[:, 0] + run.line_boxes[:, 2]) / 2
    left = [number for number, middle in enumerate(middles.tolist()) if not middle >= x]
    right = [number for number, middle in enumerate(middles.tolist()) if middle >= x]
    return _select_words(run, left, hyphen=run.hyphen and not right), _select_words(run, right, hyphen=run.hyphen)


def _select_words(run: Run, numbers: list[int], *, hyphen: bool) -> Run | None:
    if not numbers:
        return None
    if len(numbers) == len(run.words):
        return run
    boxes = run.line_boxes[numbers]
    low, high = np.fmin.reduce(boxes[:, :2]).tolist(), np.fmax.reduce(boxes[:, 2:]).tolist()
    return replace(
        run,
        words=[run.words[number] for number in numbers],
        spaced=[run.spaced[number] for number in numbers],
        rects=run.rects[numbers],
        line_boxes=boxes,
        box=(low[0], low[1], high[0], high[1]) if low[0] == low[0] else run.box,
        cells=1,
        hyphen=hyphen,
    )
