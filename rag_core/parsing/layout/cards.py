"""Find large numbers side by side, each above its own label, as in the key figures of a report.

PDF producers write such a row of figures as one line, but each figure is read together with the label below it.
"""

from __future__ import annotations

import re
from statistics import median

from rag_core.parsing.layout.columns import split_run
from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.runs import Run

# Figures are at least this many times as high as the usual text and as their labels.
_LARGE, _LARGER = 1.5, 1.35
# Least gap between figures, largest distance of a label from its figure, and of a line of a label from the one above,
# as multiples of the height of the upper one.
_GAP, _BELOW, _NEXT = 1.3, 1.5, 1.0
# A head of columns consists of years, as in "2024 2023" or "FY24 FY23".
_YEAR = re.compile(r"(?:(?:19|20)\d\d(?:[-/\u2013]\d\d)?|[FC]Y ?(?:20)?\d\d)[AE]?")


def take_cards(runs: list[Run]) -> tuple[list[Run], list[list[Line]]]:
    """Return the other runs, and for each row of figures the lines of its figures and labels, figure by figure."""
    usual = median(run.size for run in runs)
    cards: list[list[Line]] = []
    for row in [run for run in runs if run.cells > 1 and run.size >= _LARGE * usual]:
        figures = _split_cells(row)
        others = [run for run in runs if run is not row]
        labels = [_find_label(figure, figures, others) for figure in figures]
        is_head = all(_YEAR.fullmatch(figure.text) for figure in figures)
        if any(char.isdigit() for char in row.text) and all(labels) and not is_head:
            cards.append(
                [Line([run]) for figure, label in zip(figures, labels, strict=True) for run in (figure, *label)]
            )
            taken = {id(row), *(id(run) for label in labels for run in label)}
            runs = [run for run in runs if id(run) not in taken]
    return runs, cards


def insert_cards(lines: list[Line], cards: list[list[Line]]) -> list[Line]:
    """Insert each row of figures beside the nearest line above or below it in its column."""
    for card in cards:
        place = _find_place(lines, card)
        lines = [*lines[:place], *card, *lines[place:]]
    return lines


def _find_place(lines: list[Line], card: list[Line]) -> int:
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
    for before, after in zip(row.line_boxes.tolist(), row.line_boxes.tolist()[1:], strict=False):
        if rest and after[0] - before[2] > _GAP * row.size:
            cell, rest = split_run(rest, (before[2] + after[0]) / 2)
            cells += [cell] if cell else []
    return [*cells, rest] if rest else cells


def _find_label(figure: Run, figures: list[Run], runs: list[Run]) -> list[Run]:
    """Return the lines below a figure that are below no other figure."""
    label: list[Run] = []
    above = figure
    for run in sorted(runs, key=lambda run: run.box[1]):
        distance = run.box[1] - above.box[3]
        if not -0.3 * above.size < distance < (_NEXT if label else _BELOW) * above.size:
            continue
        over = [one for one in figures if run.box[0] < one.box[2] and one.box[0] < run.box[2]]
        if (
            len(over) == 1
            and over[0] is figure
            and run.size * _LARGER < figure.size
            and (not label or run.box[1] > above.box[1])
        ):
            label.append(run)
            above = run
    return label
