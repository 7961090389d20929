"""Remove line numbers in the margin, as in drafts, manuscripts under review, bills and pleadings.

Line numbers are not part of the text, and would interrupt the sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import mode

from rag_core.parsing.layout.columns import is_prose, split_run
from rag_core.parsing.layout.runs import Run

_NUMBER = re.compile(r"\d{1,5}")
_MIN_LINES = 5
# Maximum difference between the positions of aligned numbers, in points.
_MAX_OFFSET = 1.0
# At least this share of the steps between line numbers are equal.
_MIN_EQUAL_STEPS = 0.9
# At least this share of the other words of the page are on one side of the line numbers.
_MIN_ON_SIDE = 0.9
# Line numbers extend over at least this share of the height of the text. Numbered rows of a table in one of two columns
# usually extend over less.
_MIN_HEIGHT = 0.3
# Maximum distance between the header of a column and its first number, in heights of the characters.
_MAX_HEADER_DISTANCE = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class _Word:
    """A word with the index of its run and its box in points."""

    text: str
    run: int
    x0: float
    y0: float
    x1: float
    y1: float


def remove_line_numbers(runs: list[Run]) -> list[Run]:
    """Return the runs without the line numbers in the left and right margins."""
    numbered = [
        (number, run)
        for number, run in enumerate(runs)
        if _NUMBER.fullmatch(run.words[0]) or _NUMBER.fullmatch(run.words[-1])
    ]
    words = [word for word in _iter_words(numbered) if _NUMBER.fullmatch(word.text)]
    others = []
    if len(words) >= _MIN_LINES:
        others = [word for word in _iter_words(enumerate(runs)) if not _NUMBER.fullmatch(word.text)]
    if not others:
        return runs
    kept: dict[int, Run | None] = dict(enumerate(runs))
    for column in _group_aligned(words):
        x0, x1 = min(word.x0 for word in column), max(word.x1 for word in column)
        sides = [word for word in others if word.x1 < x0], [word for word in others if word.x0 > x1]
        text = max(sides, key=len)
        if len(text) < _MIN_ON_SIDE * len(others) or _has_header(column, others) or not _are_line_numbers(column, text):
            continue
        side = sides.index(text)
        for number in {word.run for word in column}:
            run = kept[number]
            kept[number] = run and split_run(run, x1 if side else x0)[side]
    return [run for run in kept.values() if run]


def _iter_words(numbered: Iterable[tuple[int, Run]]) -> Iterator[_Word]:
    """Yield the words with a known position; ``numbered`` contains pairs of a run's index and the run."""
    for number, run in numbered:
        for word, box in zip(run.words, run.line_boxes.tolist(), strict=True):
            if box[0] == box[0]:
                yield _Word(word, number, *box)


def _group_aligned(numbers: list[_Word]) -> list[list[_Word]]:
    """Return groups of at least ``_MIN_LINES`` right- or left-aligned numbers, the largest first.

    No number is in two groups.
    """
    groups: list[list[_Word]] = []
    for side in ("x1", "x0"):
        column: list[_Word] = []
        for word in sorted(numbers, key=lambda word: float(getattr(word, side))):
            if column and getattr(word, side) - getattr(column[-1], side) > _MAX_OFFSET:
                column = []
            if not column:
                groups.append(column)
            column.append(word)
    chosen: list[list[_Word]] = []
    for column in sorted(groups, key=len, reverse=True):
        if len(column) >= _MIN_LINES and not any(word in other for other in chosen for word in column):
            chosen.append(column)
    return chosen


def _has_header(column: list[_Word], others: list[_Word]) -> bool:
    """Return whether a word such as "No." is directly above the numbers, as in a table."""
    first = min(column, key=lambda word: word.y0)
    x0, x1 = min(word.x0 for word in column), max(word.x1 for word in column)
    most = _MAX_HEADER_DISTANCE * (first.y1 - first.y0)
    return any(0 < first.y1 - word.y1 < most and word.x0 < x1 and word.x1 > x0 for word in others)


def _are_line_numbers(column: list[_Word], text: list[_Word]) -> bool:
    """Return whether numbers increase by equal steps next to prose, and not next to table rows or form lines."""
    column = sorted(column, key=lambda word: word.y0)
    height = max(word.y1 for word in text) - min(word.y0 for word in text)
    if column[-1].y1 - column[0].y0 < _MIN_HEIGHT * height:
        return False
    steps = [int(lower.text) - int(upper.text) for upper, lower in pairwise(column)]
    if mode(steps) <= 0 or steps.count(mode(steps)) < _MIN_EQUAL_STEPS * len(steps):
        return False
    rows = [sorted(row) for number in column if (row := _find_words_on_line(number, text))]
    return bool(rows) and is_prose(rows)


def _find_words_on_line(number: _Word, text: list[_Word]) -> list[tuple[float, float, str]]:
    middle = (number.y0 + number.y1) / 2
    return [(word.x0, word.x1, word.text) for word in text if word.y0 < middle < word.y1]
