"""Separate text that a page contains but does not show, so that it can be reported.

Text that a reader cannot see could instruct a language model without the reader's knowledge. Text is hidden if it is
outside the page, if it is smaller than a point, or if the page looks the same without it, for example because the text

- is white on white, or has the colour of the area under it,
- is painted over or clipped,
- is in a layer that is switched off, or
- is not painted (render mode 3; ISO 32000-1, table 106).

Invisible letters over the picture of a scan are the text layer of the scan and are kept.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rag_core.parsing.pdf.page_objects import Covers, find_objects_in_layers, read_styles
from rag_core.parsing.pdf.text_page import Characters, decode_characters
from rag_core.types.arrays import FloatArray, Int16Array, Int64Array, IntArray

if TYPE_CHECKING:
    from rag_core.parsing.pdf.page import PdfPage

Mask = npt.NDArray[np.bool_]

# A character is outside the page if its middle is further from the page than this share of the side of the page.
_OUTSIDE = 0.02
_TINY_POINTS = 1.0
# A first test reads the style of every n-th character only, because this takes several calls of pdfium. A hidden
# sentence is longer than n characters.
_SAMPLED = 24
# Render modes that paint characters, and the mode that only clips.
_PAINTED = (0, 2, 4, 6)
_CLIPS = 7
# Letters may be invisible if no colour is below ``_LIGHT``, if their opacity is below ``_SHEER``, or if their colour
# differs from that of the area by less than ``_ALIKE``.
_LIGHT = 192
_SHEER = 26
_ALIKE = 32
# Scale of the compared pictures in pixels per point, and minimum difference of a colour of a pixel that counts.
_SCALE = 1.5
_MIN_CHANGE = 16
# A larger image, as a share of the page, may be the picture of a scan.
_SCAN_SHARE = 0.3
# Invisible letters are recognized handwriting if at least this share of them is over strokes.
_INKED_SHARE = 0.7
_MAX_CHARACTERS = 2000
_WORD, _RUN = re.compile(r"\S+"), re.compile("h+")
# Minimum length of a hidden part of a visible word, and maximum number of visible characters in a hidden word.
_MIN_HIDDEN = 4
_MAX_VISIBLE = 2
# First Unicode tag character, and end (exclusive). Tag characters encode ASCII and are never drawn.
_TAGS = (0xE0020, 0xE007F)


def remove_hidden_text(reader: PdfPage, characters: Characters) -> tuple[Characters, str]:
    """Return the characters with blanks in place of hidden characters, and the hidden text.

    The hidden text has at most 2,000 characters. White space in it is reduced to single blanks, and Unicode tag
    characters are decoded to the letters that they encode. In the returned characters, tag characters stay; they are
    dropped later, with all characters that draw nothing.
    """
    codes = characters.codes
    mask = _adjust_to_words(codes, _find_undisplayed(characters) | _find_unpainted(reader, characters))
    tags = (codes >= _TAGS[0]) & (codes < _TAGS[1])
    if not (mask | tags).any():
        return characters, ""
    hidden = _extract_text(np.where(tags, codes - 0xE0000, codes), mask | tags)
    return replace(characters, codes=np.where(mask, 0x20, codes).astype(np.int32)), hidden


def _find_undisplayed(characters: Characters) -> Mask:
    """Return which characters are smaller than a point or have their middle outside the displayed page."""
    x0, y0, x1, y1 = characters.boxes.T  # an unknown position is NaN, and every comparison with NaN is false
    across, down = x0 + x1, y0 + y1
    low, high = 2 * -_OUTSIDE, 2 * (1 + _OUTSIDE)
    tiny = ((x1 - x0) * characters.width < _TINY_POINTS) & ((y1 - y0) * characters.height < _TINY_POINTS)
    mask: Mask = tiny | (across < low) | (across > high) | (down < low) | (down > high)
    return mask


def _find_unpainted(reader: PdfPage, characters: Characters) -> Mask:
    """Return which characters do not change the picture of the page when they are drawn."""
    boxes, count = characters.boxes, len(characters.codes)
    nothing = np.zeros(count, bool)
    rects, fills = reader.find_filled_areas()
    covers = reader.find_covering_areas()
    under = _find_covers(reader, boxes, covers)
    sample = np.array(reader.find_text_objects(range(0, count, _SAMPLED)), np.int64)
    objects = [item for item in set(sample.tolist()) if item]
    layered = covers.layered | find_objects_in_layers(objects)
    clipped = _is_clipped(reader, boxes[::_SAMPLED], sample).any()
    if not (layered or clipped or (under >= 0).any() or _has_doubtful_style(read_styles(objects), fills)):
        return nothing
    styles = reader.read_character_styles(range(count))
    items = styles[:, 0]
    suspect = _find_suspects(styles, boxes, rects, fills)
    if layered:
        suspect |= np.isin(items, list(covers.layered | find_objects_in_layers(np.unique(items[items != 0]).tolist())))
    if clipped:
        suspect |= _is_clipped(reader, boxes, items)
    # Keep the invisible letters of a scan, whose picture may be under or over the letters.
    unpainted = styles[:, 1] == 3
    suspect &= ~(unpainted & _is_inside(boxes, reader.find_images()))
    suspect |= (under >= 0) & ~(unpainted & np.append(covers.clear, False)[under])
    suspect &= items != 0
    if not suspect.any():
        return nothing
    whole, rest = reader.render_without(set(items[suspect].tolist()), _SCALE)
    unchanged = ~_contains_marked(_measure_difference(whole, rest) >= _MIN_CHANGE, boxes)
    # Keep invisible letters over drawn strokes, as recognized words over handwriting.
    unchanged &= ~_select_inked_letters(reader, boxes, suspect & unpainted & unchanged, items)
    # Letters that clip later drawings, and letters of a scan, may be visible although the page looks the same without
    # them. They count as visible if the page picture has edges inside their boxes.
    perhaps = (styles[:, 1] == _CLIPS) | ((under >= 0) & (unpainted | np.append(covers.pictures, False)[under]))
    if perhaps.any():
        unchanged &= ~(perhaps & _contains_marked(_find_edges(whole), boxes))
    return suspect & unchanged


def _select_inked_letters(reader: PdfPage, boxes: FloatArray, letters: Mask, items: Int64Array) -> Mask:
    """Return ``letters`` if most of them are over strokes in the picture of the page, else a mask that is all false.

    The picture is drawn without text, because letters over other text stay hidden. ``items`` contains the text object
    of each character.
    """
    if not letters.any():
        return letters
    _, drawing = reader.render_without(set(items[items != 0].tolist()), _SCALE)
    is_inked = _contains_marked(_find_edges(drawing), boxes)[letters].mean() >= _INKED_SHARE
    return letters if is_inked else np.zeros_like(letters)


def _find_covers(reader: PdfPage, boxes: FloatArray, covers: Covers) -> IntArray:
    """Return for each character the index of the last area that is painted over its middle; -1 if there is none."""
    under = np.full(len(boxes), -1, np.int32)
    if not len(covers.rects):
        return under
    sizes = (covers.rects[:, 2:] - covers.rects[:, :2]).prod(axis=1)
    across, down = np.ascontiguousarray(((boxes[:, :2] + boxes[:, 2:]) / 2).T)
    for number, (x0, y0, x1, y1) in enumerate(covers.rects):
        # Ignore a large image, which may be the picture of a scan that is painted after the letters of the scan.
        if not (covers.pictures[number] and sizes[number] >= _SCAN_SHARE):
            under[(across >= x0) & (across <= x1) & (down >= y0) & (down <= y1)] = number
    over = np.flatnonzero(under >= 0)
    before = [covers.before.get(item, 0) for item in reader.find_text_objects(over.tolist())]
    under[over[under[over] < before]] = -1
    return under


def _is_clipped(reader: PdfPage, boxes: FloatArray, items: Int64Array) -> Mask:
    """Return which characters have their middle outside the clip of their text object."""
    objects, places = np.unique(items, return_inverse=True)
    clips = reader.read_clips(objects.tolist())[places]
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    return np.asarray(((middles < clips[:, :2]) | (middles > clips[:, 2:])).any(axis=1))


def _find_edges(picture: Int16Array) -> Mask:
    """Return which pixels differ from their left neighbour."""
    edges: Mask = _measure_difference(picture, np.concatenate([picture[:, :1], picture[:, :-1]], axis=1)) >= _MIN_CHANGE
    return edges


def _measure_difference(first: Int16Array, second: Int16Array) -> Int16Array:
    """Return the largest difference of the three colours at each pixel of two pictures."""
    steps = np.abs(first - second)
    # `steps.max(axis=2)` takes ten times as long, because the axis is short.
    largest: Int16Array = np.maximum(np.maximum(steps[:, :, 0], steps[:, :, 1]), steps[:, :, 2])
    return largest


def _has_doubtful_style(styles: Int64Array, fills: Int64Array) -> bool:
    """Return whether any text style is unpainted, nearly transparent, nearly white, or of the colour of a filled area.

    ``styles`` is the result of `read_styles`, and ``fills`` contains the colours of the filled areas.
    """
    modes, colours, opacities = styles[:, 0], styles[:, 1:4], styles[:, 4]
    pale = (opacities < _SHEER) | (colours.min(axis=1, initial=255) >= _LIGHT)
    if (pale | ~np.isin(modes, _PAINTED)).any():
        return True
    return any((np.abs(colours - fill).max(axis=1) < _ALIKE).any() for fill in {tuple(fill) for fill in fills.tolist()})


def _find_suspects(styles: Int64Array, boxes: FloatArray, rects: FloatArray, fills: Int64Array) -> Mask:
    """Return which characters may be invisible: pale, unpainted, or on an area of about the same colour.

    ``styles`` is the result of `PdfPage.read_character_styles`; ``rects`` and ``fills`` are the filled areas.
    """
    colours = styles[:, 2:5]
    suspect: Mask = ~np.isin(styles[:, 1], _PAINTED) | (styles[:, 5] < _SHEER) | (colours.min(axis=1) >= _LIGHT)
    for rect, fill in zip(rects, fills, strict=True):
        alike = np.abs(colours - fill).max(axis=1) < _ALIKE
        if alike.any():
            suspect |= alike & _is_inside(boxes, rect[None])
    suspect &= styles[:, 0] != 0
    return suspect


def _is_inside(boxes: FloatArray, rects: FloatArray) -> Mask:
    """Return which characters have their middle in one of the rectangles."""
    middles = ((boxes[:, :2] + boxes[:, 2:]) / 2)[:, None]
    over: Mask = np.all((middles >= rects[None, :, :2]) & (middles <= rects[None, :, 2:]), axis=2).any(axis=1)
    return over


def _contains_marked(marked: Mask, boxes: FloatArray) -> Mask:
    """Return whether each box contains a marked pixel; false for a box without a position."""
    height, width = marked.shape
    rows, columns = (np.flatnonzero(marked.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return np.zeros(len(boxes), bool)
    # Sum only over the part with marked pixels, which is small on most pages.
    left, top, right, bottom = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    part = marked[top:bottom, left:right]
    sums = np.pad(part.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32), ((1, 0), (1, 0)))
    places = np.clip(np.nan_to_num(boxes), 0, 1) * (width, height, width, height)
    x0, y0 = np.floor(places[:, :2]).astype(int).clip((left, top), (right, bottom)).T - ((left,), (top,))
    x1, y1 = np.ceil(places[:, 2:]).astype(int).clip((left, top), (right, bottom)).T - ((left,), (top,))
    within: Mask = (sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]) > 0
    return within


def _adjust_to_words(codes: IntArray, hidden: Mask) -> Mask:
    """Return which characters are hidden, with ``hidden`` changed so that most words are hidden or shown as a whole.

    - If one or two characters of a word are visible, and more are hidden, the whole word is hidden. So "1,200" does not
      become "1" if most of it is painted over.
    - In any other word, hidden characters next to each other are shown if they are fewer than four and at most half of
      the word. So a faint full stop stays in its number.
    """
    if not hidden.any():
        return hidden
    pairs = zip(decode_characters(codes), hidden.tolist(), strict=True)
    signs = "".join(" " if char.isspace() else "h" if is_hidden else "." for char, is_hidden in pairs)
    words = np.zeros_like(hidden)
    for word in _WORD.finditer(signs):
        if 0 < word[0].count(".") <= min(_MAX_VISIBLE, word[0].count("h") - 1):
            words[slice(*word.span())] = True
            continue
        for run in _RUN.finditer(signs, *word.span()):
            length = run.end() - run.start()
            if length >= _MIN_HIDDEN or 2 * length > word.end() - word.start():
                words[slice(*run.span())] = True
    return words


def _extract_text(codes: IntArray, mask: Mask) -> str:
    """Return the text of the selected characters, with a blank between characters that are not neighbours."""
    pairs = zip(decode_characters(codes), mask.tolist(), strict=True)
    return " ".join("".join(char if selected else " " for char, selected in pairs).split())[:_MAX_CHARACTERS]
