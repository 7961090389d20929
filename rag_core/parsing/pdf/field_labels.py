"""Pair the typed values of form fields with their labels, so that each pair is one line of the page's text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rag_core.parsing.characters import clean_line
from rag_core.parsing.pdf.form_fields import is_inside
from rag_core.parsing.pdf.page import PdfPage
from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import BoolArray, FloatArray, IntArray
from rag_core.types.documents import WordBoxes

# Maximum distance between a field and a label above or below, in heights of the characters.
_MAX_DISTANCE = 4.0
# Minimum gaps between two texts in a row and between two words, in heights of the characters.
_TEXT_GAP = 1.5
_WORD_GAP = 0.15


@dataclass(frozen=True, slots=True)
class FieldPair:
    """The label and the typed value of a form field, and the rectangle of the field in fractions of the page."""

    label: str
    value: str
    rect: FloatArray

    @property
    def line(self) -> str:
        return f"{self.label.rstrip(':')}: {self.value}"


def find_field_pairs(reader: PdfPage, characters: Characters) -> list[FieldPair]:
    """Return a pair for each form field with a label and typed text, in the order of the fields.

    The label is the nearest printed text to the left of the field, or else the nearest text above or below it.
    """
    rects, ticks, printed = reader.read_form_fields()
    if all(tick is not None for tick in ticks):
        return []
    scale = np.array((characters.width, characters.height) * 2, np.float32)
    boxes = characters.boxes * scale
    is_printed = (np.arange(len(boxes)) < printed) & ~np.isnan(boxes[:, 0]) & ~_are_blank(characters.codes)
    for rect in rects:
        is_printed &= ~is_inside(characters.boxes, rect)
    pairs = []
    for rect, tick in zip(rects, ticks, strict=True):
        typed = np.flatnonzero(is_inside(characters.boxes, rect) & (np.arange(len(boxes)) >= printed))
        if tick is None and len(typed):
            label = _find_label(characters.codes, boxes, is_printed, rect * scale)
            value = clean_line("".join(map(chr, characters.codes[typed[0] : typed[-1] + 1])))
            pairs += [FieldPair(label, value, rect)] if label else []
    return pairs


def append_missing_pairs(text: str, boxes: WordBoxes, pairs: list[FieldPair]) -> tuple[str, WordBoxes]:
    """Return the text with a paragraph for each pair that is not yet a line, and the boxes with those of added values.

    Lines are compared without blanks, because the text may lack the blanks between the letters of a value.
    """
    lines = {"".join(line.split()) for line in text.split("\n")}
    missing = [pair for pair in pairs if "".join(pair.line.split()) not in lines]
    starts, ends = [], []
    for pair in missing:
        text = f"{text}\n\n{pair.line}"
        starts.append(len(text) - len(pair.value))
        ends.append(len(text))
    if not missing:
        return text, boxes
    rects = np.stack([pair.rect for pair in missing]).astype(np.float32)
    return text, WordBoxes(
        np.append(boxes.starts, starts).astype(np.int32),
        np.append(boxes.ends, ends).astype(np.int32),
        np.concatenate([boxes.rects, np.clip(rects, 0.0, 1.0)]),
    )


def _find_label(codes: IntArray, boxes: FloatArray, is_printed: BoolArray, rect: FloatArray) -> str:
    """Return the printed text to the left of a field, or else above or below; empty if there is none."""
    x0, y0, x1, y1 = rect.tolist()
    heights = (boxes[:, 3] - boxes[:, 1])[is_printed]
    height = float(np.median(heights)) if len(heights) else 1.0
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    beside = np.flatnonzero(is_printed & (middles > y0) & (middles < y1) & (boxes[:, 2] <= x0 + height))
    if len(beside):
        nearest = int(beside[boxes[beside, 2].argmax()])
        return _read_text_at(codes, boxes, is_printed, nearest)
    across = (boxes[:, 0] < x1) & (boxes[:, 2] > x0)
    above, below = y0 - boxes[:, 3], boxes[:, 1] - y1
    distances = np.where(middles < (y0 + y1) / 2, above, below)
    near = np.flatnonzero(is_printed & across & (distances < _MAX_DISTANCE * height))
    if not len(near):
        return ""
    # Take the first character of the nearest row.
    closest = near[distances[near] <= distances[near].min() + height / 2]
    return _read_text_at(codes, boxes, is_printed, int(closest[boxes[closest, 0].argmin()]))


def _read_text_at(codes: IntArray, boxes: FloatArray, is_printed: BoolArray, at: int) -> str:
    """Return the printed text around the character with number ``at``, up to the nearest wide gaps in its row."""
    middle, size = (boxes[at, 1] + boxes[at, 3]) / 2, boxes[at, 3] - boxes[at, 1]
    row = np.flatnonzero(is_printed & (boxes[:, 1] < middle) & (boxes[:, 3] > middle))
    row = row[boxes[row, 0].argsort()]
    gaps = boxes[row[1:], 0] - boxes[row[:-1], 2]
    place = int(np.flatnonzero(row == at)[0])
    wide = np.flatnonzero(gaps > _TEXT_GAP * size) + 1
    first = max((edge for edge in wide if edge <= place), default=0)
    last = min((edge for edge in wide if edge > place), default=len(row))
    parts = [chr(codes[row[first]])]
    for number in range(first + 1, last):
        parts += [" "] * bool(gaps[number - 1] > _WORD_GAP * size) + [chr(codes[row[number]])]
    return clean_line("".join(parts))


def _are_blank(codes: IntArray) -> BoolArray:
    return np.isin(codes, (0x20, 0x0A, 0x0D, 0xA0))
