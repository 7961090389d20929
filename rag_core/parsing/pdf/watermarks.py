"""Separate watermarks, such as DRAFT across a page, from the other text of the page.

A watermark would interrupt the sentences of the page. Its text is written after the text of the page, with a sign that
keeps it out of excerpts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag_core.parsing.pdf.page_objects import read_styles
from rag_core.parsing.pdf.text_page import Characters, decode_characters
from rag_core.types.arrays import BoolArray, FloatArray, Int64Array, IntArray

if TYPE_CHECKING:
    from rag_core.parsing.pdf.page import PdfPage

# Minimum heights of large and of huge characters, as multiples of the usual height of the page.
_LARGE = 1.8
_HUGE = 4
# Text is slanted if its angle to upright and sideways text is at least this, in radians. The first test is less strict.
_SLANTED = np.radians(8)
_PERHAPS_SLANTED = np.radians(7.9)
# Light text has no colour below this value, or at most this opacity.
_LIGHT = 100
_SHEER = 160
# Minimum number of other letters over or under a watermark, and of repetitions of a small watermark.
_MIN_COVERED = 3
_MIN_REPEATED = 4
_BLANK = 0x20
_LINE = re.compile(r"[^\n]+")


def separate_watermarks(reader: PdfPage, characters: Characters) -> tuple[Characters, list[str]]:
    """Return the characters with blanks in place of watermarks, and the different texts of the watermarks.

    Slanted text is a watermark if it is huge. If it is over or under other text, slanted text is also a watermark if it
    is large or repeated, and level text if it is large and light. So slanted labels and headers are no watermarks. If
    more than half of the drawn characters would be watermarks, none is.
    """
    codes, boxes = characters.codes, characters.boxes
    heights = (boxes[:, 3] - boxes[:, 1]) * characters.height
    drawn = (codes > _BLANK) & (heights > 0)
    numbers = np.flatnonzero(drawn)
    if not len(numbers):
        return characters, []
    heights = heights / np.median(heights[drawn])
    large = drawn & (heights >= _LARGE)
    items, slanted, marked = np.zeros(len(codes), np.int64), np.zeros_like(drawn), np.zeros_like(drawn)
    # Most pages have no slanted text, and finding the object of every character takes long.
    may_be_slanted = reader.may_have_slanted_text(_PERHAPS_SLANTED)
    needed = numbers if may_be_slanted else np.flatnonzero(large)
    items[needed] = reader.find_text_objects(needed.tolist())
    if may_be_slanted:
        slanted = drawn & np.isin(items, _find_slanted_objects(reader, items, numbers))
        marked = _find_slanted_watermarks(codes, boxes, heights, slanted, drawn & ~slanted)
    marked |= _find_light_watermarks(items, boxes, large & ~slanted, drawn & ~large)
    if not marked.any() or 2 * marked.sum() > drawn.sum():
        return characters, []
    lines = (" ".join(line.split()) for line in _select_text(codes, marked).split("\n"))
    texts = list(dict.fromkeys(filter(None, lines)))
    return replace(characters, codes=np.where(marked, _BLANK, codes).astype(np.int32)), texts


def _find_slanted_objects(reader: PdfPage, items: Int64Array, numbers: Int64Array) -> Int64Array:
    """Return the slanted text objects among those of the characters ``numbers``.

    ``items`` contains the object of each character of the page.
    """
    objects, firsts = np.unique(items[numbers], return_index=True)
    turns = np.array([reader.read_angle(number) for number in numbers[firsts].tolist()]) % (np.pi / 2)
    slanted: Int64Array = objects[np.minimum(turns, np.pi / 2 - turns) > _SLANTED]
    return slanted


def _find_slanted_watermarks(
    codes: IntArray, boxes: FloatArray, heights: FloatArray, slanted: BoolArray, others: BoolArray
) -> BoolArray:
    """Return which of the slanted characters belong to watermarks.

    ``heights`` are multiples of the usual height of the page, and ``others`` are the other drawn characters.
    """
    texts = defaultdict(list)
    for match in _LINE.finditer(_select_text(codes, slanted)):
        texts[" ".join(match[0].split())].append(slice(*match.span()))
    marked = np.zeros_like(slanted)
    for spans in texts.values():
        same = np.zeros_like(slanted)
        for span in spans:
            same[span] = slanted[span]
        height = np.median(heights[same]) if same.any() else 0
        is_usual = height < _LARGE and len(spans) < _MIN_REPEATED
        if height >= _HUGE or (not is_usual and _count_covered(boxes, same, others) >= _MIN_COVERED):
            marked |= same
    return marked


def _find_light_watermarks(items: Int64Array, boxes: FloatArray, large: BoolArray, others: BoolArray) -> BoolArray:
    """Return which of the large characters are light; none if they are together over or under hardly any other text."""
    objects = np.unique(items[large & (items != 0)])
    styles = read_styles(objects.tolist())
    is_light = (styles[:, 1:4].min(axis=1, initial=255) >= _LIGHT) | (styles[:, 4] <= _SHEER)
    light: BoolArray = large & np.isin(items, objects[is_light])
    return light if _count_covered(boxes, light, others) >= _MIN_COVERED else np.zeros_like(light)


def _count_covered(boxes: FloatArray, chosen: BoolArray, others: BoolArray) -> int:
    """Return how many of the other characters are over or under the chosen characters."""
    middles = (boxes[others, :2] + boxes[others, 2:]) / 2
    return sum(int(((box[:2] < middles) & (middles < box[2:])).all(axis=1).sum()) for box in boxes[chosen])


def _select_text(codes: IntArray, mask: BoolArray) -> str:
    """Return the selected characters and blanks as text, with a line end in place of each other character."""
    return decode_characters(np.where(mask | (codes == _BLANK), codes, ord("\n")))
