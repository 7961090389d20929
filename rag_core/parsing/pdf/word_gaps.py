"""Correct the blanks between characters where unusual gaps mislead pdfium.

The gaps are too wide in letterspaced words, as in "N O T I C E", and in forms with a box for each letter. They are too
narrow where the text of a table cell overlaps the next cell.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from rag_core.parsing.pdf.page import PdfPage
from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import BoolArray, FloatArray, IntArray

_MIN_LETTERS = 4
_SPACED = re.compile(rf"(?<!\S)\w(?: \w){{{_MIN_LETTERS - 1},}}(?!\S)")
_VOWEL = re.compile("[aeiouyäöüáéíóúàèåæø]", re.IGNORECASE)
# Maximum gap in a letterspaced word, as a share of the height of the letters.
_MAX_GAP = 0.75
# The gaps between letterspaced words are larger than the gaps between letters by at least this factor.
_BETWEEN_WORDS = 1.5
# Gaps and distances inside a word differ by less than this share.
_EVEN = 0.25
# Maximum width and height of the box of a letter, and minimum height of its sides, as shares of the height of letters.
_MAX_BOX_WIDTH = 1.7
_MAX_BOX_HEIGHT = 2.5
_MIN_SIDE = 0.3
# Minimum share of boxed letters at equal distances.
_MIN_BOXED = 0.6
# A character is in another cell if it overlaps the character before by more than this share of its width, and by more
# than this multiple of the overlaps beside. A smaller overlap may be kerning.
_MIN_OVERLAP = 0.05
_MIN_RATIO = 2.0


def join_spaced_letters(reader: PdfPage, characters: Characters, numbers: IntArray) -> tuple[Characters, IntArray]:
    """Return the characters and their numbers without the blanks inside letterspaced words and boxed letters.

    ``numbers`` contains the number of each character in the text layer.
    """
    text = characters.text
    scale = np.array([characters.width, characters.height] * 2, np.float32)
    places = characters.boxes * scale
    found = [(match, places[match.start() : match.end() : 2]) for match in _SPACED.finditer(text)]
    blanks: list[int] = []
    for match, boxes in found:
        if np.isnan(boxes).any() or np.ptp(boxes[:, 3]) > 0.5 * (boxes[:, 3] - boxes[:, 1]).max():
            continue
        joined = _find_letterspacing(match[0][::2], boxes)
        if joined.any():
            joined &= _is_apart(text, match.span(), places)
        elif not any(other is not boxes and _is_next_row(boxes, other) for _, other in found):
            joined = _find_boxed_letters(reader, match[0][::2], boxes)
        blanks += (match.start() + 1 + 2 * np.flatnonzero(joined)).tolist()
    if not blanks:
        return characters, numbers
    codes, boxes = np.delete(characters.codes, blanks), np.delete(characters.boxes, blanks, axis=0)
    return Characters(codes, boxes, characters.width, characters.height), np.delete(numbers, blanks)


def _find_letterspacing(letters: str, boxes: FloatArray) -> BoolArray:
    """Return which gaps between letters are inside a letterspaced word; none if the letters form no words."""
    gaps = boxes[1:, 0] - boxes[:-1, 2]
    usual = float(np.median(gaps))
    inside: BoolArray = np.abs(gaps) < _BETWEEN_WORDS * usual
    words = "".join(letter + ("" if joined else " ") for letter, joined in zip(letters, [*inside, True], strict=True))
    is_even = usual > 0 and np.ptp(gaps[inside]) < 2 * _EVEN * usual
    is_near = usual < _MAX_GAP * float((boxes[:, 3] - boxes[:, 1]).max())
    if letters.isalpha() and is_even and is_near and all(map(_is_word, words.split())):
        return inside
    return np.zeros(len(gaps), np.bool_)


def _is_apart(text: str, span: tuple[int, int], boxes: FloatArray) -> bool:
    """Return whether the gaps before and after spaced letters are larger than between them, unlike in a sentence."""
    start, end = span
    usual = float(np.median(boxes[start + 2 : end : 2, 0] - boxes[start : end - 2 : 2, 2]))
    before = boxes[start, 0] - boxes[start - 2, 2] if start > 1 and text[start - 1] == " " else np.inf
    after = boxes[end + 1, 0] - boxes[end - 1, 2] if end + 1 < len(text) and text[end] == " " else np.inf
    return bool(min(before, after) >= _BETWEEN_WORDS * usual)


def _is_next_row(boxes: FloatArray, other: FloatArray) -> bool:
    """Return whether other single letters are directly above or below in the same columns, as in a table."""
    height = float((boxes[:, 3] - boxes[:, 1]).max())
    middles, others = (boxes[:, 0] + boxes[:, 2]) / 2, (other[:, 0] + other[:, 2]) / 2
    is_near = 0.5 * height < abs(float(boxes[0, 3] - other[0, 3])) < _MAX_BOX_HEIGHT * height
    return is_near and len(boxes) == len(other) and bool(np.abs(middles - others).max() < 0.5 * height)


def _is_word(word: str) -> bool:
    """Return whether letters may be a word, unlike the names of points or answers, as in "A B C D"."""
    if len(word) == 1:
        return True
    is_cased = word.isupper() or word[1:].islower()
    has_vowel = len(word) < _MIN_LETTERS or bool(_VOWEL.search(word))
    return is_cased and has_vowel and not _is_series(word) and len(set(word)) > 1


def _is_series(letters: str) -> bool:
    """Return whether each character follows the character before in the alphabet or in numbers."""
    return all(ord(after) == ord(before) + 1 for before, after in pairwise(letters))


def _find_boxed_letters(reader: PdfPage, letters: str, boxes: FloatArray) -> BoolArray:
    """Return which gaps are between letters of one value: at equal distances in a form field, or in adjacent boxes.

    Unlike boxes, narrow columns of a table have longer rules, or contain the numbers 1, 2, 3 and so on.
    """
    middles = (boxes[:, 0] + boxes[:, 2]) / 2
    steps = np.diff(middles)
    usual, height = float(np.median(steps)), float((boxes[:, 3] - boxes[:, 1]).max())
    joined: BoolArray = np.abs(steps - usual) < _EVEN * usual
    top, bottom = boxes[:, 1].min(), boxes[:, 3].max()
    sides = np.array([reader.width, reader.height] * 2, np.float32)
    x0, y0, x1, y1 = (reader.read_form_fields()[0] * sides).T
    if ((x0 < middles[0]) & (x1 > middles[-1]) & (y0 < (top + bottom) / 2) & (y1 > (top + bottom) / 2)).any():
        return joined
    if joined.mean() < _MIN_BOXED or not 0 < usual < _MAX_BOX_WIDTH * height or _is_series(letters):
        return np.zeros(len(steps), np.bool_)
    x0, y0, x1, y1 = (reader.find_rules() * sides).T
    rules = (x1 - x0 < _MIN_SIDE * height) & (y1 - y0 > _MIN_SIDE * height) & (y1 - y0 < _MAX_BOX_HEIGHT * height)
    places = ((x0 + x1) / 2)[rules & (y0 < bottom) & (y1 > top)]
    return joined & (np.searchsorted(np.sort(places), middles[1:]) > np.searchsorted(np.sort(places), middles[:-1]))


def part_overlapping_cells(reader: PdfPage, characters: Characters, numbers: IntArray) -> tuple[Characters, IntArray]:
    """Return the characters and their numbers with a blank before each figure that overlaps the cell before it.

    Such a figure is drawn over the end of the text in that cell. The blank gets the number of the figure.
    """
    codes, boxes = characters.codes, characters.boxes
    figures = (codes >= 0x30) & (codes <= 0x39)
    letters = figures | ((codes | 0x20 >= 0x61) & (codes | 0x20 <= 0x7A))
    widths = (boxes[1:, 2] - boxes[1:, 0]) * -_MIN_OVERLAP
    shifts = boxes[1:, 0] - boxes[:-1, 2]
    forward = boxes[1:, 0] > boxes[:-1, 0]
    near = (shifts < widths) & forward & figures[1:] & letters[:-1]
    # Where the characters beside also overlap, the text is only set tightly.
    inside = np.pad(np.where(forward, shifts, 0.0), 1)
    near &= shifts < _MIN_RATIO * np.minimum(inside[:-2], inside[2:])
    # Of all pairs of figures, only two ones are often kerned.
    near &= ~((codes[1:] == 0x31) & (codes[:-1] == 0x31)) & (np.abs(boxes[1:, 3] - boxes[:-1, 3]) < 1e-4)
    places = [
        place + 1
        for place in np.flatnonzero(near).tolist()
        if len(set(reader.find_text_objects(numbers[place : place + 2].tolist()))) > 1
    ]
    if not places:
        return characters, numbers
    codes, boxes = np.insert(codes, places, 0x20), np.insert(boxes, places, np.nan, axis=0)
    return Characters(codes, boxes, characters.width, characters.height), np.insert(numbers, places, numbers[places])
