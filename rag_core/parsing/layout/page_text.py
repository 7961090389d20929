"""Join lines in reading order to the text of a page, with the box of each word."""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median

import numpy as np

from rag_core.parsing.characters import UNSPACED
from rag_core.parsing.layout.lines import Line
from rag_core.text.words import HYPHENATED_WORD
from rag_core.types.arrays import FloatArray
from rag_core.types.documents import WordBoxes

LINE, PARAGRAPH = "\n", "\n\n"
# Separator inside a word that a line end divides. Whether this hyphen stays is decided when the words of the document
# are known.
DIVIDED = "-"
# Lines with a larger distance are different paragraphs, as a multiple of the usual distance.
_PARAGRAPH_DISTANCE = 1.3
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")
# The halves of a divided word. One or two letters beside a digit are part of a code.
_LAST_PART = re.compile(rf"(?<![^\W_])({HYPHENATED_WORD})$")
_FIRST_PART = re.compile(rf"((?>{HYPHENATED_WORD}))(?!(?<!\w\w\w)\d)")
_LIST_NUMBER = re.compile(r"\d{1,2}[.:)]\s")
# Conjunctions after a hyphen that stands for a part of a word, as in "pre- and post-war".
_AND_OR = re.compile(r"(?:and|bis|bzw|oder|or|und)\b")
# The two halves of a range that a line end divides after its dash.
_RANGE_END = re.compile(r"\s\S*\d[\u2013\u2014]$")
_RANGE_START = re.compile(r"\d+(?![\d\u2013\u2014])")
# The two halves of a web address that a line end divides after a slash. The second half is not a plain word, number or
# date, nor another web or mail address.
_ADDRESS_END = re.compile(r"(?:https?://|www\.)\S*/$")
_ADDRESS_START = re.compile(r"(?!https?:|www\.|[\d.,:/-]+(?:\s|$)|\S*@)\w+[-./_=?&\d]\w")


def join_lines(lines: list[Line], separators: list[str]) -> tuple[str, WordBoxes, list[tuple[int, int]]]:
    """Join lines to one text.

    Parameters
    ----------
    lines : list of Line
        Lines in reading order.
    separators : list of str
        Text before each line except the first.

    Returns
    -------
    text : str
    boxes : WordBoxes
        Boxes of the words with a known position. A word that a line end divides has one box for each half.
    spans : list of tuple of int
        Start and end of each line in ``text``.
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
            is_apart = order > 0 and line.has_space_before(order)
            for word, spaced in zip(run.words, [is_apart, *run.spaced[1:]], strict=True):
                if spaced:
                    parts.append(" ")
                    offset += 1
                starts.append(offset)
                offset += len(word)
                ends.append(offset)
                parts.append(word)
        spans.append((begin, offset))
    return "".join(parts), _build_word_boxes(starts, ends, rects), spans


def _build_word_boxes(starts: list[int], ends: list[int], rects: list[FloatArray]) -> WordBoxes:
    if not starts:
        return WordBoxes.empty()
    places = np.concatenate(rects).astype(np.float32)
    known = ~np.isnan(places).any(axis=1)
    places = np.clip(places[known], 0.0, 1.0)
    return WordBoxes(np.array(starts, np.int32)[known], np.array(ends, np.int32)[known], places)


def choose_separators(lines: list[Line]) -> list[str]:
    """Return the text before each line except the first, ``len(lines) - 1`` strings.

    - `PARAGRAPH` is before a new paragraph.
    - `DIVIDED`, a hyphen, is inside a word that the line end divides. A hyphen is also inside a code, number or name if
      the text of the upper line lacks the hyphen.
    - An empty text is after a hyphen that the text of the upper line contains, between characters of a script without
      spaces, and inside a range or a web address.
    - `LINE` is everywhere else. A hyphen precedes it if the upper line ends in a hyphen that its text lacks, but the
      lower line does not continue the word.
    """
    pitches = _measure_usual_pitches(lines)
    return [_choose_separator(lines, number, pitches) for number in range(1, len(lines))]


def find_hyphenated_words(
    lines: list[Line], separators: list[str], spans: list[tuple[int, int]]
) -> tuple[tuple[int, str, str], ...]:
    """Return the offset of each `DIVIDED` inside a word, and the halves of the word before and after the offset.

    ``spans`` contains the start and end of each line in the text.
    """
    return tuple(
        (spans[number][0] - len(DIVIDED), *halves)
        for number, separator in enumerate(separators, 1)
        if separator == DIVIDED and (halves := _find_halves(lines[number - 1], lines[number]))
    )


def _measure_pitch(upper: Line, lower: Line) -> float:
    """Return the distance between the lower ends of two lines."""
    return lower.box[3] - upper.box[3]


def _measure_usual_pitches(lines: list[Line]) -> dict[int, float]:
    """Return the usual distance between lines for each character size, which is rounded to points."""
    pitches: dict[int, list[float]] = {}
    for upper, lower in pairwise(lines):
        pitch = _measure_pitch(upper, lower)
        if 0 < pitch < 3 * max(lower.size, 1.0) and abs(upper.size - lower.size) < 1.0:
            pitches.setdefault(round(lower.size), []).append(pitch)
    return {size: median(values) for size, values in pitches.items()}


def _choose_separator(lines: list[Line], number: int, pitches: dict[int, float]) -> str:
    """Return the text before a line; ``pitches`` contains the usual distances between lines by character size."""
    upper, lower = lines[number - 1], lines[number]
    right = max(line.box[2] for line in lines[max(number - 3, 0) : number + 3])
    is_paragraph = _starts_paragraph(upper, lower, pitches)
    separator = _choose_word_separator(upper, lower, right, is_paragraph=is_paragraph)
    if separator is not None:
        return separator
    if is_paragraph:
        return PARAGRAPH
    is_full = upper.box[2] > right - 2 * upper.size
    return "" if is_full and not upper.tabular and _continues_without_blank(upper, lower) else LINE


def _continues_without_blank(upper: Line, lower: Line) -> bool:
    """Return whether a line end is inside a text in a script without spaces, a range or an address."""
    if UNSPACED.match(upper.text[-1]) and UNSPACED.match(lower.text):
        return True
    if _has_cells(upper, lower):
        return False
    ends = ((_RANGE_END, _RANGE_START), (_ADDRESS_END, _ADDRESS_START))
    return any(end.search(upper.text) and start.match(lower.text) for end, start in ends)


def _has_cells(*lines: Line) -> bool:
    """Return whether one of the lines has several cells."""
    return any(sum(run.cells for run in line.runs) > 1 for line in lines)


def _choose_word_separator(upper: Line, lower: Line, right: float, *, is_paragraph: bool) -> str | None:
    """Return the text between two lines if a hyphen at the end of the upper line decides it, otherwise `None`.

    ``right`` is the right end of the neighbouring lines.
    """
    # A hyphen that divides a word is not part of the text of a line, but other hyphens are.
    is_in_text = upper.text.endswith(("-", "\u2010")) and len(upper.text) > 1 and upper.text[-2].isalnum()
    if not (upper.hyphen or is_in_text) or abs(upper.size - lower.size) > 2.0:
        return None
    continues = lower.text[:1].isalnum() and not _AND_OR.match(lower.text)
    if continues and not is_in_text and _find_halves(upper, lower):
        return DIVIDED
    # Otherwise, the hyphen is part of a code, a number or a name, or it is a dash at the end of a short line.
    hyphen = "" if is_in_text else "-"
    first = lower.runs[0].line_boxes[0]
    fits = lower.text[:1].isupper() and upper.box[2] + float(first[2] - first[0]) < right
    has_cells = not is_in_text and _has_cells(upper, lower)
    if continues and not (upper.tabular or has_cells or is_paragraph or fits or _LIST_NUMBER.match(lower.text)):
        return hyphen
    return None if is_in_text else hyphen + LINE


def _find_halves(upper: Line, lower: Line) -> tuple[str, str] | None:
    """Return the halves of the word that a line end divides; `None` if the lower line does not continue the word."""
    first = _LAST_PART.search(upper.text.rstrip("-\u2010"))
    second = _FIRST_PART.match(lower.text)
    if not first or not second:
        return None
    is_continued = second[1][0].islower() or (first[1].isupper() and second[1].isupper())
    return (first[1], second[1]) if is_continued else None


def _starts_paragraph(upper: Line, lower: Line, pitches: dict[int, float]) -> bool:
    pitch = _measure_pitch(upper, lower)
    size = max(lower.size, upper.size, 1.0)
    if pitch < -0.5 * size:  # the second line is in the next column: a sentence may continue there
        return bool(_SENTENCE_END.search(upper.text)) or not lower.text[:1].islower()
    if upper.size and lower.size and max(upper.size, lower.size) / min(upper.size, lower.size) > 1.12:
        return len(upper.text) > 3 and len(lower.text) > 3
    usual = pitches.get(round(lower.size), 1.2 * size)
    if pitch > _PARAGRAPH_DISTANCE * usual:
        return True
    if upper.bold == lower.bold or upper.tabular or lower.tabular:
        return False
    return len(upper.runs) == 1 and (_is_short_bold(upper, lower) if upper.bold else _is_short_bold(lower, upper))


def _is_short_bold(bold: Line, other: Line) -> bool:
    """Return whether a bold line is short enough for a heading: it is shorter than its neighbour or a usual line."""
    return bold.box[2] < other.box[2] - 2 * bold.size or len(bold.text) < 60
