"""Break texts into lines, and find the place of each word on its line."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from rag_core.parsing.characters import UNSPACED_SCRIPTS
from rag_core.parsing.flow.typefaces import measure
from rag_core.text.struck import MARK

# Each character of scripts without spaces is a word.
_WORD = re.compile(rf"[{UNSPACED_SCRIPTS}]|[^\s{UNSPACED_SCRIPTS}]+")


class PlacedWord(NamedTuple):
    """A word, or a part of a word that is too long for a line.

    ``start`` and ``end`` are offsets in the text; ``x`` is the left end on the line. ``x`` and ``width`` are in points.
    """

    start: int
    end: int
    x: float
    width: float


TextLine = list[PlacedWord]


def break_lines(text: str, width: float, size: float, bold: bool = False) -> list[TextLine]:
    """Return the lines of a text, each at most ``width`` points wide, without empty lines.

    A line begins at 0, but a line of right-to-left text ends at ``width``. ``size`` is the font size in points.
    """
    lines: list[TextLine] = []
    offset = 0
    for paragraph in text.split("\n"):
        lines += _break_paragraph(paragraph, offset, width, size, bold)
        offset += len(paragraph) + 1
    return lines


def _break_paragraph(text: str, offset: int, width: float, size: float, bold: bool) -> list[TextLine]:
    """Return the lines of a paragraph that begins at ``offset`` of the whole text."""
    lines: list[TextLine] = []
    line: TextLine = []
    end, x = 0, 0.0
    for match in _WORD.finditer(text):
        x += measure(text[end : match.start()], size, bold) if line else 0.0
        end = match.end()
        word = measure(match[0].replace(MARK, ""), size, bold)
        if line and x + word > width:
            lines.append(line)
            line, x = [], 0.0
        if word <= width:
            line.append(PlacedWord(offset + match.start(), offset + end, x, word))
            x += word
            continue
        for start, stop in _divide_word(match[0], width, size, bold):
            if line:
                lines.append(line)
            part = measure(match[0][start:stop], size, bold)
            line, x = [PlacedWord(offset + match.start() + start, offset + match.start() + stop, 0.0, part)], part
    if line:
        lines.append(line)
    return [_reorder_line(one, text, offset, width) for one in lines] if _is_right_to_left(text) else lines


def _divide_word(word: str, width: float, size: float, bold: bool) -> list[tuple[int, int]]:
    """Return the spans of the parts of a word that is wider than a line."""
    parts: list[tuple[int, int]] = []
    start, length = 0, 0.0
    for place, char in enumerate(word):
        step = measure(char, size, bold)
        if place > start and length + step > width:
            parts.append((start, place))
            start, length = place, 0.0
        length += step
    return [*parts, (start, len(word))]


def _find_direction(text: str) -> str:
    """Return the bidirectional class of the first letter, "L", "R" or "AL"; "L" without letters."""
    return next((kind for kind in map(unicodedata.bidirectional, text) if kind in ("L", "R", "AL")), "L")


def _is_right_to_left(text: str) -> bool:
    return not text.isascii() and _find_direction(text) != "L"


def _reorder_line(line: TextLine, text: str, offset: int, width: float) -> TextLine:
    """Return a line of a right-to-left text in visual order; adjacent left-to-right words keep their order."""
    runs: list[tuple[bool, TextLine]] = []
    for word in line:
        is_turned = _find_direction(text[word.start - offset : word.end - offset]) != "L"
        if runs and runs[-1][0] == is_turned and not is_turned:
            runs[-1][1].append(word)
        else:
            runs.append((is_turned, [word]))
    turned: TextLine = []
    for _, words in runs:
        first, last = words[0].x, words[-1].x + words[-1].width
        turned += [one._replace(x=width - last + one.x - first) for one in words]
    return sorted(turned)
