"""Mark the words of a page through which a line is drawn; see `rag_core.text.struck`."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from rag_core.parsing.layout.runs import Run
from rag_core.parsing.pdf.page import PdfPage
from rag_core.parsing.pdf.superscripts import find_line_axis
from rag_core.parsing.pdf.text_page import Characters
from rag_core.text.struck import LITERAL_MARK, MARK, TILDE
from rag_core.types.arrays import BoolArray, FloatArray, IntArray

# A line strikes out a character if it is in this part of the height, measured from the lower end of the character.
_MIDDLE = (0.3, 0.66)
# The line covers at least this share of the width of a character.
_MIN_COVERED = 0.6
# Maximum thickness of the line, and maximum overhang beyond the characters, as shares of their height. A longer line is
# a rule of a table or of a chart.
_MAX_THICKNESS = 0.22
_MAX_OVERHANG = 0.8
# If other characters are at the same height, at least this share of the line is over characters. A line through a row
# of a table also covers the gaps between cells.
_MIN_FILLED = 0.7
# Other characters are at the same height if they are nearer to the line than this share of the height of the
# characters.
_MAX_DISTANCE = 0.9
# Two words with a smaller gap, as a share of their height, are in the same cell.
_MAX_WORD_GAP = 0.5
# Struck characters of a word ("s"). One or two other characters ("w") between them may be covered less.
_STRETCH = re.compile("s+(?:w{1,2}s+)*")


def mark_struck(reader: PdfPage, characters: Characters, numbers: IntArray) -> tuple[Characters, IntArray]:
    """Return the characters with a mark before and after the struck part of each word, and their numbers.

    The marks have the boxes and the numbers of the neighbouring characters. Literal tildes that could be read as a mark
    are replaced.
    """
    struck = _find_struck(characters, reader.find_strokes())
    text = characters.text
    literal = MARK[0] if struck.any() else LITERAL_MARK.pattern
    if re.search(literal, text):
        text = re.sub(literal, lambda match: TILDE * len(match[0]), text)
        codes = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int32)
        characters = replace(characters, codes=codes)
    if not struck.any():
        return characters, numbers
    signs = "".join(
        "." if char <= " " else "s" if is_struck else "w" for is_struck, char in zip(struck, text, strict=True)
    )
    spans = [m.span() for m in _STRETCH.finditer(signs) if any(map(str.isalnum, text[m.start() : m.end()]))]
    if not spans:
        return characters, numbers
    places = [place for start, end in spans for place in (start, start, end, end)]
    beside = [place for start, end in spans for place in (start, start, end - 1, end - 1)]
    codes = np.insert(characters.codes, places, ord(MARK[0])).astype(np.int32)
    boxes = np.insert(characters.boxes, places, characters.boxes[beside], axis=0)
    return replace(characters, codes=codes, boxes=boxes), np.insert(numbers, places, numbers[beside]).astype(np.int32)


def join_marks(runs: list[Run]) -> None:
    """Replace the pairs of marks around neighbouring struck words by one pair, in the runs themselves.

    Runs with several cells stay the same.
    """
    for run in runs:
        if run.cells > 1 or MARK not in "".join(run.words):
            continue
        for number in range(len(run.words) - 1):
            before, after = run.words[number : number + 2]
            gap = run.line_boxes[number + 1, 0] - run.line_boxes[number, 2]
            if gap < _MAX_WORD_GAP * run.size and _has_mark_at(before, -1) and _has_mark_at(after, 0):
                run.words[number : number + 2] = before[: -len(MARK)], after[len(MARK) :]


def _has_mark_at(word: str, end: int) -> bool:
    return len(word) > 2 and (word.startswith(MARK) if end == 0 else word.endswith(MARK))


def _find_struck(characters: Characters, strokes: FloatArray) -> BoolArray:
    """Return which characters a line strikes out."""
    struck = np.zeros(len(characters.codes), bool)
    if not len(strokes):
        return struck
    boxes = characters.boxes
    axis = find_line_axis(boxes)[1]
    # Positions along the lines of text and across them, in points. The direction of most text counts for all lines.
    sizes = (characters.width, characters.height)
    low, high = boxes[:, 1 - axis] * sizes[1 - axis], boxes[:, 3 - axis] * sizes[1 - axis]
    top, bottom = boxes[:, axis] * sizes[axis], boxes[:, axis + 2] * sizes[axis]
    visible = (characters.codes > 0x20) & ~np.isnan(top) & (high > low) & (bottom > top)
    drawn = np.flatnonzero(visible)
    order = drawn[np.argsort(top[drawn] + bottom[drawn], kind="stable")]
    middles = (top[order] + bottom[order]) / 2
    # The line is at most this far from the middle of a character.
    reach = max(0.5 - _MIDDLE[0], _MIDDLE[1] - 0.5) * float((bottom[order] - top[order]).max(initial=0.0))
    begins, ends = (strokes[:, 1 - axis] * sizes[1 - axis], strokes[:, 3 - axis] * sizes[1 - axis])
    across_all, thick_all = (strokes[:, axis] + strokes[:, axis + 2]) / 2, strokes[:, axis + 2] - strokes[:, axis]
    across_all, thick_all = across_all * sizes[axis], thick_all * sizes[axis]
    firsts, lasts = np.searchsorted(middles, across_all - reach), np.searchsorted(middles, across_all + reach)
    for number in np.flatnonzero((ends - begins > thick_all) & (firsts < lasts)):
        near, begin, end = order[firsts[number] : lasts[number]], begins[number], ends[number]
        across, thick = across_all[number], thick_all[number]
        heights = bottom[near] - top[near]
        rise = (bottom[near] - across) / heights
        shared = np.minimum(high[near], end) - np.maximum(low[near], begin)
        hit = (shared >= _MIN_COVERED * (high[near] - low[near])) & (thick <= _MAX_THICKNESS * heights)
        hit &= np.abs(rise - sum(_MIDDLE) / 2) <= (_MIDDLE[1] - _MIDDLE[0]) / 2
        if not hit.any():
            continue
        height = float(np.median(heights[hit]))
        covered = float(np.minimum(shared[hit], end - begin).sum())
        overhang = max(low[near][hit].min() - begin, end - high[near][hit].max())
        if overhang > _MAX_OVERHANG * height:
            continue
        first, last = np.searchsorted(middles, (across - _MAX_DISTANCE * height, across + _MAX_DISTANCE * height))
        beside = order[first:last]
        beside = beside[(low[beside] < end + height / 2) & (high[beside] > begin - height / 2)]
        is_row = len(beside) == hit.sum()
        if is_row or covered >= _MIN_FILLED * (end - begin - 2 * max(0.0, overhang)):
            struck[near[hit]] = True
    return struck
