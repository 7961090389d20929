"""Find large numbers side by side, each above its own label, as in the key figures of a report.

PDF producers write such a row of figures as one line, but each figure is read together with the label below it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median

from rag_core.parsing.layout.columns import split_run
from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.runs import CELL_GAP, Run
from rag_core.text.dates import YEAR

# Minimum height of figures, as multiples of the usual height of text and of the height of their labels.
_LARGER_THAN_TEXT = 1.5
_LARGER_THAN_LABEL = 1.35
# Maximum distances from a figure to its label and between lines of a label, as multiples of the height above.
_MAX_LABEL_DISTANCE = 1.5
_MAX_LINE_DISTANCE = 1.0
# Headers of columns are years, as in "2024 2023" or "FY24 FY23".
_HEADER_YEAR = re.compile(rf"(?:{YEAR}(?:[-/\u2013]\d\d)?|[FC]Y ?(?:20)?\d\d)[AE]?")


def separate_cards(runs: list[Run]) -> tuple[list[Run], list[list[Line]]]:
    """Separate rows of large figures with their labels from the other runs.

    Returns
    -------
    others : list of Run
    cards : list of list of Line
        For each row of figures, the line of each figure followed by the lines of its label.
    """
    usual = median(run.size for run in runs)
    cards: list[list[Line]] = []
    for row in [run for run in runs if run.cells > 1 and run.size >= _LARGER_THAN_TEXT * usual]:
        figures = _split_cells(row)
        others = [run for run in runs if run is not row]
        labels = [_find_label(figure, figures, others) for figure in figures]
        is_header = all(_HEADER_YEAR.fullmatch(figure.text) for figure in figures)
        if any(char.isdigit() for char in row.text) and all(labels) and not is_header:
            cards.append(
                [Line([run]) for figure, label in zip(figures, labels, strict=True) for run in (figure, *label)]
            )
            taken = {id(row), *(id(run) for label in labels for run in label)}
            runs = [run for run in runs if id(run) not in taken]
    return runs, cards


def insert_cards(lines: list[Line], cards: list[list[Line]]) -> list[Line]:
    """Return the lines with each row of figures after the nearest line above or before the nearest line below.

    Only lines in the same column count. If a line above and a line below are about equally near, the row of figures is
    after the line above.
    """
    for card in cards:
        place = _find_place(lines, card)
        lines = [*lines[:place], *card, *lines[place:]]
    return lines


def _find_place(lines: list[Line], card: list[Line]) -> int:
    """Return the index of the line before which a row of figures is inserted."""
    left, right = min(line.box[0] for line in card), max(line.box[2] for line in card)
    top, bottom = min(line.box[1] for line in card), max(line.box[3] for line in card)
    within = [number for number, line in enumerate(lines) if line.box[0] < right and line.box[2] > left]
    above = {number: top - lines[number].box[3] for number in within if lines[number].box[3] <= top}
    below = {number: lines[number].box[1] - bottom for number in within if lines[number].box[1] >= bottom}
    if not above and not below:
        return max((number for number, line in enumerate(lines, 1) if line.box[3] <= top), default=0)
    # Lines beside each other are equally near.
    nearest = min([*above.values(), *below.values()]) + card[0].size
    after = [number + 1 for number, gap in above.items() if gap <= nearest]
    return max(after) if after else min(number for number, gap in below.items() if gap <= nearest)


def _split_cells(row: Run) -> list[Run]:
    cells: list[Run] = []
    rest: Run | None = row
    for before, after in pairwise(row.line_boxes.tolist()):
        if rest and after[0] - before[2] > CELL_GAP * row.size:
            cell, rest = split_run(rest, (before[2] + after[0]) / 2)
            cells += [cell] if cell else []
    return [*cells, rest] if rest else cells


def _find_label(figure: Run, figures: list[Run], runs: list[Run]) -> list[Run]:
    """Return the lines of smaller text below a figure that are below no other figure."""
    label: list[Run] = []
    above = figure
    for run in sorted(runs, key=lambda run: run.box[1]):
        distance = run.box[1] - above.box[3]
        if not -0.3 * above.size < distance < (_MAX_LINE_DISTANCE if label else _MAX_LABEL_DISTANCE) * above.size:
            continue
        figures_above = [other for other in figures if run.box[0] < other.box[2] and other.box[0] < run.box[2]]
        is_smaller = run.size * _LARGER_THAN_LABEL < figure.size
        is_below_figure = len(figures_above) == 1 and figures_above[0] is figure
        if is_below_figure and is_smaller and (not label or run.box[1] > above.box[1]):
            label.append(run)
            above = run
    return label
