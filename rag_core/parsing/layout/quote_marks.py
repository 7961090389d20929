"""Remove the marks ">" at the start of the lines of a quoted mail, which would interrupt its sentences.

The first line of each quoted paragraph keeps its mark, so that a reader sees where the quotation ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.page_text import PARAGRAPH
from rag_core.parsing.layout.runs import Run

_MARKS = re.compile(r"(?:>\s*)+")


def remove_quote_marks(lines: list[Line]) -> tuple[list[Line], frozenset[int]]:
    """Return the lines of a page without quote marks except at the start of each quoted paragraph.

    Lines that contain only marks are left out. Also return the indices, among the returned lines, of those that begin a
    quoted paragraph or follow a quotation.
    """
    kept: list[Line] = []
    firsts: set[int] = set()
    for is_quoted, group in groupby(lines, key=lambda line: line.text.startswith(">")):
        block = list(group)
        # No line of a list with ">" continues another, and limits such as "> 50 mg" do not begin in lower case.
        continues = any(_MARKS.sub("", line.text)[:1].islower() for line in block[1:])
        if not is_quoted or not continues:
            kept += block
            continue
        depth = 0
        for line in block:
            marks = _MARKS.match(line.text)
            line_depth = marks[0].count(">") if marks else 0
            rest = _remove_marks(line)
            if rest is None:
                depth = 0
            elif line_depth != depth:
                firsts.add(len(kept))
                kept.append(line)
                depth = line_depth
            else:
                kept.append(rest)
        firsts.add(len(kept))
    return kept, frozenset(firsts)


def begin_paragraphs(separators: Sequence[str], firsts: frozenset[int]) -> list[str]:
    """Return the separators of lines, with a blank line before each line whose index is in ``firsts``."""
    return [PARAGRAPH if number in firsts else separator for number, separator in enumerate(separators, 1)]


def _remove_marks(line: Line) -> Line | None:
    """Return a line without the marks at its start; `None` if the line has nothing else."""
    runs: list[Run] = []
    for run in line.runs:
        first = 0
        while not runs and first < len(run.words) and not run.words[first].strip(">"):
            first += 1
        if first == len(run.words):
            continue
        words = run.words[first:]
        if not runs:
            words = [words[0].lstrip(">"), *words[1:]]
        boxes = run.line_boxes[first:]
        box = (float(boxes[0, 0]), run.box[1], run.box[2], run.box[3])
        runs.append(
            replace(run, words=words, spaced=run.spaced[first:], rects=run.rects[first:], line_boxes=boxes, box=box)
        )
    return Line(runs) if runs else None
