"""Separate watermarks, such as DRAFT across a page, from the text that they are drawn over or under.

A watermark would interrupt the sentences of the page. Its text follows the text of the page, after a sign that
keeps it out of excerpts.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import BoolArray, FloatArray, Int64Array, IntArray

if TYPE_CHECKING:
    from rag_core.parsing.pdf.page import PdfPage

# Least height of the characters of a watermark in usual heights of the page.
_LARGE = 1.8
# Text is slanted if its angle differs by at least this much from upright and sideways text, in radians.
_SLANTED = np.radians(8)
# Light text has no colour below this value, or at most this opacity.
_LIGHT, _SHEER = 100, 160
# Least number of other letters under or over light upright text, and of repetitions of a small slanted text, which is
# longer than `_SHORTEST`.
_LEAST_COVERED, _LEAST_REPEATED, _SHORTEST = 3, 4, 3
_BLANK = 0x20
_LINE = re.compile(r"[^\n]+")


def separate_watermarks(reader: PdfPage, characters: Characters) -> tuple[Characters, list[str]]:
    """Return the characters with blanks in place of watermarks, and the different texts of the watermarks.

    A watermark is large and slanted, or large, light and over or under other text, or small, slanted and repeated.
    """
    codes, boxes = characters.codes, characters.boxes
    heights = (boxes[:, 3] - boxes[:, 1]) * characters.height
    drawn = (codes > _BLANK) & (heights > 0)
    numbers = np.flatnonzero(drawn)
    if not len(numbers):
        return characters, []
    items = np.array(reader.text_objects(range(len(codes))), np.int64)
    objects, firsts = np.unique(items[numbers], return_index=True)
    turns = np.array([reader.angle(number) for number in numbers[firsts].tolist()]) % (np.pi / 2)
    slanted = drawn & np.isin(items, objects[np.minimum(turns, np.pi / 2 - turns) > _SLANTED])
    large = drawn & (heights >= _LARGE * np.median(heights[drawn]))
    marked = slanted & large
    marked |= _find_repeated(codes, slanted & ~large)
    marked |= _find_light(reader, items, boxes, large & ~slanted, drawn & ~large)
    if not marked.any() or 2 * marked.sum() > drawn.sum():
        return characters, []
    texts = list(dict.fromkeys(_split_texts(codes, marked)))
    return replace(characters, codes=np.where(marked, _BLANK, codes).astype(np.int32)), texts


def _find_repeated(codes: IntArray, mask: BoolArray) -> BoolArray:
    """Return which of the characters that ``mask`` selects are part of a text that the page repeats."""
    kept = np.where(mask | (codes == _BLANK), codes, ord("\n")).astype("<u4").tobytes().decode("utf-32-le")
    counts = Counter(_split_texts(codes, mask))
    repeated = np.zeros_like(mask)
    for match in _LINE.finditer(kept):
        text = " ".join(match[0].split())
        repeated[slice(*match.span())] = counts[text] >= _LEAST_REPEATED and len(text) > _SHORTEST
    return repeated & mask


def _find_light(
    reader: PdfPage, items: Int64Array, boxes: FloatArray, large: BoolArray, others: BoolArray
) -> BoolArray:
    """Return which of the large characters are light and over or under other text."""
    objects = np.unique(items[large & (items != 0)])
    styles = reader.object_styles(objects.tolist())
    is_light = (styles[:, 1:4].min(axis=1, initial=255) >= _LIGHT) | (styles[:, 4] <= _SHEER)
    light: BoolArray = large & np.isin(items, objects[is_light])
    middles = (boxes[others, :2] + boxes[others, 2:]) / 2
    inside = [((box[:2] < middles) & (middles < box[2:])).all(axis=1).sum() for box in boxes[light]]
    return light if sum(inside) >= _LEAST_COVERED else np.zeros_like(light)


def _split_texts(codes: IntArray, mask: BoolArray) -> list[str]:
    """Return the texts of the characters that ``mask`` selects; other characters separate them, except blanks."""
    kept = np.where(mask | (codes == _BLANK), codes, ord("\n"))
    lines = kept.astype("<u4").tobytes().decode("utf-32-le").split("\n")
    return [text for line in lines if (text := " ".join(line.split()))]
