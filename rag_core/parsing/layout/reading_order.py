"""Turn runs in the order of the content stream into lines in reading order.

PDF producers nearly always write text in reading order, even on pages with columns. So the order of the content stream
is kept, except in three cases:

- Lines cross the gap between two columns.
- Columns are written row by row.
- The text jumps back up a page without columns, as at footnote marks, at headers that are written after the text, and
  in tables that are written column by column.
"""

from __future__ import annotations

import math
from itertools import pairwise

from rag_core.parsing.characters import RIGHT_TO_LEFT
from rag_core.parsing.layout.cards import insert_cards, separate_cards
from rag_core.parsing.layout.columns import Columns, find_columns, split_run
from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.rows import group_rows, place_strays, separate_strays
from rag_core.parsing.layout.runs import Run

# The text jumps back if it continues higher by at least this multiple of the height of the characters.
_MIN_JUMP = 0.5
# Maximum distance between the labels of a column, as a multiple of their height.
_MAX_LABEL_DISTANCE = 4.0
# Minimum share of the labels that have a value at the same height.
_MIN_PAIRED = 0.6
_MAX_RUNS = 4000


def order_lines(runs: list[Run], *, written: bool = True) -> list[Line]:
    """Return lines in reading order, which contain every word of ``runs``.

    More than ``_MAX_RUNS`` runs keep their order, and each is a line.

    Parameters
    ----------
    runs : list of Run
    written : bool
        Whether ``runs`` are in the order of a content stream. The order of recognized text has no meaning, so
        recognized text is ordered only by position.
    """
    if len(runs) < 2 or len(runs) > _MAX_RUNS:
        return [Line([run]) for run in runs]
    runs, cards = separate_cards(runs) if written else (runs, [])
    if cards:
        return insert_cards(order_lines(runs), cards)
    columns = find_columns(runs)
    if columns is not None and (columns.interleaved or not written):
        return _order_columns(runs, columns, written)
    if not written:
        return group_rows(runs)
    main, strays = separate_strays(_pair_labels(runs))
    lines = _group_adjacent(main)
    if columns is None and _jumps_back(main):
        rows = group_rows(main)
        if _contains_figures(rows):
            lines = rows
    return place_strays(lines, strays)


def _pair_labels(runs: list[Run]) -> list[Run]:
    """Return the runs with each value behind its label.

    Some content streams write a column of labels with colons first, and the column of their values after the labels.
    """
    ordered: list[Run] = []
    start = 0
    while start < len(runs):
        end = start
        while end < len(runs) and _continues_labels(runs[end - 1] if end > start else None, runs[end]):
            end += 1
        labels, last = runs[start:end], end
        while last < len(runs) and len(labels) > 1 and _is_beside(labels, runs[last]):
            last += 1
        values = runs[end:last]
        paired = sum(any(_is_level(label, value) for value in values) for label in labels)
        if len(labels) < 2 or paired < _MIN_PAIRED * len(labels):
            end = max(end, start + 1)
            ordered += runs[start:end]
            start = end
            continue
        for number, label in enumerate(labels):
            bottom = labels[number + 1].box[1] if number + 1 < len(labels) else math.inf
            ordered.append(label)
            ordered += [value for value in values if label.box[1] <= value.middle < bottom]
        start = last
    return ordered


def _continues_labels(above: Run | None, run: Run) -> bool:
    """Return whether a run is a label with a colon, directly below the label ``above`` if there is one."""
    if not run.words[-1].endswith(":"):
        return False
    return above is None or 0 < run.box[3] - above.box[3] < _MAX_LABEL_DISTANCE * run.size


def _is_beside(labels: list[Run], value: Run) -> bool:
    """Return whether a value is to the right of all labels, at the height of the labels."""
    is_right = value.box[0] > max(label.box[2] for label in labels)
    return is_right and labels[0].box[1] <= value.middle < labels[-1].box[3] + 0.5 * value.size


def _is_level(first: Run, second: Run) -> bool:
    """Return whether two runs are on one baseline."""
    return abs(first.box[3] - second.box[3]) < 0.25 * max(min(first.size, second.size), 1.0)


def _order_columns(runs: list[Run], columns: Columns, written: bool) -> list[Line]:
    """Return the lines above the columns, then those of the left column, of the right column, and below the columns."""
    above = [run for run in runs if run.box[3] <= columns.top]
    below = [run for run in runs if run.box[1] >= columns.bottom and run.box[3] > columns.top]
    left: list[Run] = []
    right: list[Run] = []
    for run in runs:
        if run.box[3] > columns.top and run.box[1] < columns.bottom:
            first, second = split_run(run, columns.gutter)
            left += [first] if first else []
            right += [second] if second else []
    return [line for part in (above, left, right, below) if part for line in order_lines(part, written=written)]


def _group_adjacent(runs: list[Run]) -> list[Line]:
    """Return lines in the order of the content stream.

    Runs that follow each other on one baseline, such as table cells, form one line.
    """
    lines: list[list[Run]] = []
    for run in runs:
        if lines and _continues(lines[-1][-1], run):
            lines[-1].append(run)
        elif lines and _precedes(run, lines[-1][0]):
            lines[-1].insert(0, run)
        else:
            lines.append([run])
    return [Line(line) for line in lines]


def _continues(before: Run, run: Run) -> bool:
    """Return whether a run continues the line of the run before to the right."""
    if before.hyphen or run.box[0] < before.box[2] - 1.0:
        return False
    # Figures may be slightly off the baseline of their label, because a label may be centred or have two lines.
    figures = not any(char.isalpha() for word in run.words for char in word)
    tolerance = 0.6 if figures and run.box[0] > before.box[2] + before.size else 0.25
    return abs(run.box[3] - before.box[3]) < tolerance * max(min(run.size, before.size), 1.0)


def _precedes(run: Run, first: Run) -> bool:
    """Return whether a run ends directly left of ``first``, the first run of the line that is written before the run.

    Pages that are written upside down have such runs.
    """
    gap, size = first.box[0] - run.box[2], max(min(run.size, first.size), 1.0)
    if not -0.1 * size < gap < size or run.hyphen or run.backward or first.backward:
        return False
    return _is_level(run, first) and not any(RIGHT_TO_LEFT.search(one.text) for one in (run, first))


def _jumps_back(runs: list[Run]) -> bool:
    return any(run.box[3] < before.box[1] - _MIN_JUMP * max(run.size, 4.0) for before, run in pairwise(runs))


def _contains_figures(rows: list[Line]) -> bool:
    """Return whether rows contain labels and figures, as in a table, and not texts that are only side by side.

    In a table, most runs after the first run of a row are figures.
    """
    cells = [run for row in rows for run in row.runs[1:]]
    figures = sum(
        any(char.isdigit() for word in run.words for char in word)
        and not any(len(word) > 2 and word.isalpha() for word in run.words)
        for run in cells
    )
    return len(cells) > 1 and figures >= 0.6 * len(cells)
