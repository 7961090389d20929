"""Put form fields into the text of a page: typed values next to their labels, and ticks as characters.

Pdfium puts all typed values after the printed text. A tick is drawn with lines, or with a letter of a symbol font, and
an empty box has no character in the text layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rag_core.parsing.pdf.page import PdfPage
from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import BoolArray, FloatArray, IntArray

_TICKED, _NOT_TICKED = 0x2612, 0x2610
_BLANK, _LINE_END, _COLON = 0x20, 0x0A, 0x3A
# A tick has at most this many characters. More characters in a box are its label.
_MAX_TICK_CHARACTERS = 2
# Maximum distance between a field and a label above, in points.
_MAX_DISTANCE = 40.0


@dataclass(frozen=True, slots=True)
class _Piece:
    """Characters of a form field, and their place in the text.

    Attributes
    ----------
    numbers : IntArray
        Numbers of the characters.
    place : int
        Number of the character before which they are inserted.
    rank : tuple of float
        Order of pieces with the same place.
    is_separate : bool
        Whether the piece is on a separate line.
    is_value : bool
        Whether the piece is a typed value after its label.
    """

    numbers: IntArray
    place: int
    rank: tuple[float, float]
    is_separate: bool = False
    is_value: bool = False


def insert_form_fields(reader: PdfPage, characters: Characters) -> tuple[Characters, IntArray]:
    """Return the characters with field values next to their labels, and ☒ or ☐ for each field that can be ticked.

    Returns
    -------
    characters : Characters
    numbers : IntArray, shape (n,)
        Number of each character before the insertion; -1 for an added character.
    """
    rects, ticks, printed = reader.read_form_fields()
    count = len(characters.codes)
    if not ticks:
        return characters, np.arange(count, dtype=np.int32)
    codes = characters.codes.copy()
    typed = np.arange(count) >= printed
    unplaced = typed.copy()
    heights = (characters.boxes[:, 3] - characters.boxes[:, 1])[~np.isnan(characters.boxes[:, 0])]
    height = float(np.median(heights)) if len(heights) else 1.0
    # Added characters have the numbers from ``count`` on.
    added = [_BLANK, _LINE_END, _COLON]
    added_boxes = [np.full(4, np.nan, np.float32)] * 3
    pieces = []
    for rect, ticked in zip(rects, ticks, strict=True):
        inside = is_inside(characters.boxes, rect)
        if ticked is not None:
            if inside.sum() <= _MAX_TICK_CHARACTERS:
                codes[inside] = _BLANK
            numbers = np.array([count + len(added)])
            added.append(_TICKED if ticked else _NOT_TICKED)
            # The tick is as high as a letter, because a larger character would look like a heading.
            middle, half = (rect[1] + rect[3]) / 2, min(height, rect[3] - rect[1]) / 2
            added_boxes.append(np.array([rect[0], middle - half, rect[2], middle + half], np.float32))
        else:
            typed_inside = np.flatnonzero(inside & unplaced)
            if not len(typed_inside):
                continue
            # Include the blanks between the typed characters, which have no position.
            numbers = np.flatnonzero(unplaced[: typed_inside[-1] + 1])
            numbers = numbers[numbers >= typed_inside[0]]
            unplaced[numbers] = False
        pieces.append(_place_field(characters, numbers, ~typed & ~inside, rect, is_tick=ticked is not None))
    order = _order_characters(pieces, characters.codes)
    codes, boxes = np.append(codes, added).astype(np.int32), np.concatenate([characters.boxes, np.stack(added_boxes)])
    return replace(characters, codes=codes[order], boxes=boxes[order]), np.where(order < count, order, -1)


def is_inside(boxes: FloatArray, rect: FloatArray) -> BoolArray:
    """Return which characters have their middle in the rectangle."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    return np.asarray(((middles >= rect[:2]) & (middles <= rect[2:])).all(axis=1))


def _place_field(
    characters: Characters, numbers: IntArray, others: BoolArray, rect: FloatArray, *, is_tick: bool
) -> _Piece:
    """Return the characters of a field with their place.

    A field is placed after the label to its left, or else below the label above, or else at the end of the page. A tick
    is placed before the label to its right if this label is nearer.

    Parameters
    ----------
    characters : Characters
    numbers : IntArray
        Numbers of the characters of the field.
    others : BoolArray
        Which characters may be labels.
    rect : FloatArray, shape (4,)
        Box of the field as fractions of the page.
    is_tick : bool
    """
    scale = np.array((characters.width, characters.height) * 2, np.float32)
    boxes = characters.boxes * scale
    x0, y0, x1, y1 = (rect * scale).tolist()
    across, down = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    middle = (y0 + y1) / 2
    beside = ((down > y0) & (down < y1)) | ((boxes[:, 1] < middle) & (boxes[:, 3] > middle))
    row = np.logical_and(others, beside)
    left, right = np.flatnonzero(row & (across < x0)), np.flatnonzero(row & (across > x1))
    last = int(left[boxes[left, 2].argmax()]) if len(left) else -1
    first = int(right[boxes[right, 0].argmin()]) if len(right) else -1
    if is_tick and first >= 0 and (last < 0 or boxes[first, 0] - x1 < x0 - boxes[last, 2]):
        return _Piece(numbers, first, (0.0, x0))
    if last >= 0:
        return _Piece(numbers, last + 1, (0.0, x0), is_value=not is_tick)
    near = (boxes[:, 3] <= middle) & (boxes[:, 3] > y0 - _MAX_DISTANCE)
    above = np.flatnonzero(others & near & (across > x0) & (across < x1))
    if len(above):
        label = int(above[boxes[above, 3].argmax()])
        ends = np.flatnonzero(np.isin(characters.codes[label:], (0x0D, _LINE_END)))
        end = label + int(ends[0]) if len(ends) else len(characters.codes)
        return _Piece(numbers, end, (y0, x0), is_separate=True)
    return _Piece(numbers, len(characters.codes), (y0, x0), is_separate=True)


def _order_characters(pieces: list[_Piece], codes: IntArray) -> IntArray:
    """Return the character numbers in their new order, with a blank or a line end before and after each piece.

    A colon is inserted before a value, so that the line is a pair of label and value. The numbers ``len(codes)`` and
    the next two stand for the inserted blank, line end and colon.
    """
    count = len(codes)
    blank, line_end, colon = count, count + 1, count + 2
    stay = np.ones(count, bool)
    for piece in pieces:
        stay[piece.numbers[piece.numbers < count]] = False
    parts: list[Any] = []
    done = 0
    for piece in sorted(pieces, key=lambda entry: (entry.place, entry.rank)):
        edge = [line_end if piece.is_separate else blank]
        needs_colon = piece.is_value and chr(codes[piece.place - 1]).isalnum() and piece.place != done
        parts += [_list_remaining(stay, done, piece.place), [colon] * needs_colon, edge, piece.numbers, edge]
        done = piece.place
    return np.concatenate([*parts, _list_remaining(stay, done, count)]).astype(np.int32)


def _list_remaining(stay: BoolArray, start: int, end: int) -> IntArray:
    return (np.flatnonzero(stay[start:end]) + start).astype(np.int32)
