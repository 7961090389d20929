"""Group runs into rows by position, and move runs that the content stream contains far from their row."""

from __future__ import annotations

from dataclasses import replace

from rag_core.parsing.characters import RIGHT_TO_LEFT
from rag_core.parsing.layout.columns import split_run
from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.runs import Run

# A run is above another run, or far above it, if it is higher by this multiple of the height of its characters.
_ABOVE = 1.5
_FAR_ABOVE = 6.0
# Text that is smaller than this share of the size of its neighbour may be a footnote mark.
_SMALL = 0.85
_MAX_SHORT_WORDS = 3
_MAX_SHORT_CHARACTERS = 30


def group_rows(runs: list[Run]) -> list[Line]:
    """Group runs into lines by position, from the top down; the runs of a line are in the direction of its script."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda item: (item.middle, item.box[0])):
        # The runs are sorted from the top down, so a run can only belong to one of the last few rows.
        row = next((row for row in rows[-4:] if _fits_row(row, run)), None)
        if row is None:
            rows.append([run])
        else:
            row.append(run)
    rows.sort(key=lambda row: max(row, key=lambda run: run.size).middle)
    return [_build_line(row) for row in rows]


def separate_strays(runs: list[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs of the main text, and the strays: short runs that are out of order in the content stream.

    The content stream jumps back up the page for a stray, and the text after the stray does not continue there. Some
    PDF producers write footnote marks, page numbers and headers in this way, after all other text.
    """
    main: list[Run] = []
    strays: list[Run] = []
    index = 0
    while index < len(runs):
        run = runs[index]
        if main and _is_mark(run, main[-1]):
            strays.append(run)
            index += 1
            continue
        if not main or not _is_above(run, main[-1]):
            main.append(run)
            index += 1
            continue
        end = index
        while end < len(runs) and _is_short(runs[end]) and _is_above(runs[end], main[-1]):
            end += 1
        if end > index and (end == len(runs) or _are_strays(runs[index:end], main[-1], runs[end])):
            strays += runs[index:end]
            index = end
        else:  # a new column or cell begins
            main.append(run)
            index += 1
    top = min((run.box[1] for run in main), default=0.0)
    while len(main) > 1 and main[-1].box[3] <= top + 0.1 + (main[-1].box[3] - main[-1].box[1]):
        if not _is_above(main[-1], main[-2]):
            break
        strays.append(main.pop())  # a header of any length that was written last
    return main, strays


def place_strays(lines: list[Line], strays: list[Run]) -> list[Line]:
    """Add each stray to the line beside or around it, or insert it as a separate line if there is no such line."""
    placed = list(lines)
    for run in strays:
        best, most = -1, 0.0
        figures = not any(len(word) > 2 and word.isalpha() for word in run.words) and run.size > 7
        for number, line in enumerate(placed):
            shared = min(line.box[3], run.box[3]) - max(line.box[1], run.box[1])
            near = figures or (line.box[0] - 3 * line.size < run.box[2] and run.box[0] < line.box[2] + 3 * line.size)
            if near and shared >= max(most, 0.5 * (run.box[3] - run.box[1])) and _fits_row(line.runs, run):
                best, most = number, shared
        if best >= 0:
            placed[best] = _build_line([*placed[best].runs, run])
            continue
        below = (number for number, line in enumerate(placed) if (line.box[1] + line.box[3]) / 2 > run.middle)
        placed.insert(next(below, len(placed)), Line([run]))
    return placed


def _is_above(run: Run, last: Run) -> bool:
    return run.box[3] < last.box[1] - _ABOVE * max(run.size, 4.0)


def _is_mark(run: Run, last: Run) -> bool:
    """Return whether a run is small and overlaps the run before it, as a footnote mark or a raised "rd"."""
    is_beside = last.box[1] < run.middle < last.box[3] and run.box[0] < last.box[2] - 1.0
    return is_beside and run.box[2] > last.box[0] and run.size < _SMALL * last.size and _is_short(run)


def _are_strays(group: list[Run], last: Run, following: Run) -> bool:
    """Return whether runs between ``last`` and ``following`` are strays: small runs, or runs far up the page.

    The runs are not strays if ``following`` is also above ``last``: the text continues there, as in the next cell of a
    table head.
    """
    if _is_above(following, last):
        return False
    is_far = all(run.box[3] < last.box[1] - _FAR_ABOVE * max(run.size, 4.0) for run in group)
    return is_far or all(run.size < _SMALL * last.size for run in group)


def _is_short(run: Run) -> bool:
    if not any(char.isalnum() for word in run.words for char in word):
        return True
    return len(run.words) <= _MAX_SHORT_WORDS and sum(map(len, run.words)) <= _MAX_SHORT_CHARACTERS


def _fits_row(row: list[Run], run: Run) -> bool:
    """Return whether a run is at the height of a row and does not overlap another run of the row."""
    tall = max(row, key=lambda item: item.size)
    shared = min(tall.box[3], run.box[3]) - max(tall.box[1], run.box[1])
    height = min(tall.box[3] - tall.box[1], run.box[3] - run.box[1])
    if shared < 0.5 * height or height <= 0:
        return False
    for other in row:
        across = min(other.box[2], run.box[2]) - max(other.box[0], run.box[0])
        narrow = min(other.box[2] - other.box[0], run.box[2] - run.box[0])
        similar = min(other.size, run.size) > 0.8 * max(other.size, run.size)
        if across > 0.5 * narrow and (similar or across > 3 * run.size):
            return False
    return True


def _build_line(row: list[Run]) -> Line:
    """Return the runs of a row as a line in reading order."""
    letters = "".join(run.text for run in row)
    if len(RIGHT_TO_LEFT.findall(letters)) > 0.5 * len(letters):
        return Line(sorted(row, key=lambda run: -run.box[2]))
    placed: list[Run] = []
    for run in sorted(row, key=lambda item: -item.size):
        # A footnote mark may be drawn over a run; it then belongs between two words of this run.
        for index, other in enumerate(placed):
            if other.box[0] < run.box[0] < other.box[2] and len(other.words) > 1:
                first, second = split_run(other, (run.box[0] + run.box[2]) / 2)
                placed[index : index + 1] = [part for part in (first, second) if part]
                break
        placed.append(run)
    placed.sort(key=lambda run: run.box[0])
    # Only the last run of the row is at the line end, so only its hyphen divides a word.
    return Line([replace(run, hyphen=False) if run is not placed[-1] else run for run in placed])
