"""Remove text that a page contains but does not show, and return it separately so that it can be reported.

Text that a reader cannot see could instruct a language model without the reader's knowledge. Text is hidden if it is
outside the page, if it is smaller than a point, or if the page looks the same without it. The page looks the same if
the text is white on white, has the colour of the area under it, is painted over, is clipped, is in a layer that is
switched off, or is not painted (render mode 3; ISO 32000-1, table 106). The invisible letters over the picture of a
scan are the text layer of the scan and are kept.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rag_core.parsing.pdf.page_objects import Covers
from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import FloatArray, Int16Array, Int64Array, IntArray

if TYPE_CHECKING:
    from rag_core.parsing.pdf.page import PdfPage

Mask = npt.NDArray[np.bool_]

_OUTSIDE = 0.02
_TINY_POINTS = 1.0
# It takes several calls of pdfium to read how a character is painted, so a first test reads only every n-th character.
# A hidden sentence is longer than n characters.
_SAMPLED = 24
_PAINTED = (0, 2, 4, 6)
_CLIPS = 7
_LIGHT, _SHEER, _ALIKE = 192, 26, 32
_SCALE, _LEAST_CHANGE = 1.5, 16
_PAGE_SHARE = 0.3
_INKED_SHARE = 0.7
_MAX_CHARACTERS = 2000
_WORD, _RUN = re.compile(r"\S+"), re.compile("h+")
_RUN_STANDS, _MAX_LEFT = 4, 2
_TAGS = (0xE0020, 0xE007F)
_BREAK = "\x00"


def remove_hidden_text(reader: PdfPage, characters: Characters) -> tuple[Characters, str]:
    """Return the characters with blanks in place of hidden characters, and the hidden text.

    The hidden text has at most 2,000 characters. White space in it is reduced to single blanks, and Unicode tag
    characters are decoded to the letters that they encode.
    """
    codes = characters.codes
    mask = _extend_to_words(codes, _find_undisplayed(characters) | _find_unpainted(reader, characters))
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
    none = np.zeros(count, bool)
    rects, fills = reader.filled_areas()
    covers = reader.covering_areas()
    under = _find_covers(reader, boxes, covers)
    sample = np.array(reader.text_objects(range(0, count, _SAMPLED)), np.int64)
    objects = [item for item in set(sample.tolist()) if item]
    layered = covers.layered | reader.objects_in_layers(objects)
    clipped = _is_clipped(reader, boxes[::_SAMPLED], sample).any()
    if not (layered or clipped or (under >= 0).any() or _has_doubtful_style(reader.object_styles(objects), fills)):
        return none
    inks = reader.character_styles(range(count))
    items = inks[:, 0]
    suspect = _find_suspects(inks, boxes, rects, fills)
    if layered:
        suspect |= np.isin(
            items, list(covers.layered | reader.objects_in_layers(np.unique(items[items != 0]).tolist()))
        )
    if clipped:
        suspect |= _is_clipped(reader, boxes, items)
    # Keep the invisible letters of a scan. The picture of the scan may be under or over the letters.
    unpainted = inks[:, 1] == 3
    suspect &= ~(unpainted & _is_inside(boxes, reader.images()))
    suspect |= (under >= 0) & ~(unpainted & np.append(covers.clear, False)[under])
    suspect &= items != 0
    if not suspect.any():
        return none
    whole, rest = reader.render_without(set(items[suspect].tolist()), _SCALE)
    unchanged = ~_contains_marked(_largest_step(np.abs(whole - rest)) >= _LEAST_CHANGE, boxes)
    # Letters that clip later drawings, and letters of a scan, may be visible although the page looks the same without
    # them. They count as visible if the page picture has edges inside their boxes.
    # So are invisible letters over drawn strokes, as handwriting with its recognized words.
    unchanged &= ~_find_ink_words(reader, boxes, suspect & unpainted & unchanged, items)
    perhaps = (inks[:, 1] == _CLIPS) | ((under >= 0) & (unpainted | np.append(covers.pictures, False)[under]))
    if perhaps.any():
        steps = np.abs(np.diff(whole, axis=1, prepend=whole[:, :1]))
        unchanged &= ~(perhaps & _contains_marked(_largest_step(steps) >= _LEAST_CHANGE, boxes))
    return suspect & unchanged


def _find_ink_words(reader: PdfPage, boxes: FloatArray, letters: Mask, items: Int64Array) -> Mask:
    """Return ``letters`` if nearly all of them are over strokes of the page's drawing, otherwise an empty mask.

    The drawing is the picture of the page without any text, so letters that lie over other text stay hidden.
    """
    if not letters.any():
        return letters
    _, drawing = reader.render_without(set(items[items != 0].tolist()), _SCALE)
    edges = _largest_step(np.abs(np.diff(drawing, axis=1, prepend=drawing[:, :1]))) >= _LEAST_CHANGE
    inked = _contains_marked(edges, boxes)[letters].mean() >= _INKED_SHARE
    return letters if inked else np.zeros_like(letters)


def _find_covers(reader: PdfPage, boxes: FloatArray, covers: Covers) -> IntArray:
    """Return for each character the number of the last area that is painted over its middle; -1 if there is none."""
    under = np.full(len(boxes), -1, np.int32)
    if not len(covers.rects):
        return under
    sizes = (covers.rects[:, 2:] - covers.rects[:, :2]).prod(axis=1)
    across, down = np.ascontiguousarray(((boxes[:, :2] + boxes[:, 2:]) / 2).T)
    for number, (x0, y0, x1, y1) in enumerate(covers.rects):
        # Ignore a large image: it may be the picture of a scan that is painted after the invisible letters of the scan.
        if not (covers.pictures[number] and sizes[number] >= _PAGE_SHARE):
            under[(across >= x0) & (across <= x1) & (down >= y0) & (down <= y1)] = number
    over = np.flatnonzero(under >= 0)
    before = [covers.before.get(item, 0) for item in reader.text_objects(over.tolist())]
    under[over[under[over] < before]] = -1
    return under


def _is_clipped(reader: PdfPage, boxes: FloatArray, items: Int64Array) -> Mask:
    """Return which characters have their middle outside the clip of their text object."""
    objects, places = np.unique(items, return_inverse=True)
    clips = reader.clips(objects.tolist())[places]
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    return np.asarray(((middles < clips[:, :2]) | (middles > clips[:, 2:])).any(axis=1))


def _largest_step(steps: Int16Array) -> Int16Array:
    """Return the largest of the three colour differences at each pixel."""
    # `steps.max(axis=2)` takes ten times as long, because the axis is short.
    return np.maximum(np.maximum(steps[:, :, 0], steps[:, :, 1]), steps[:, :, 2])


def _has_doubtful_style(looks: Int64Array, fills: Int64Array) -> bool:
    """Return whether characters of these styles may be invisible on some part of the page."""
    modes, colours, opacities = looks[:, 0], looks[:, 1:4], looks[:, 4]
    pale = (opacities < _SHEER) | (colours.min(axis=1, initial=255) >= _LIGHT)
    if (pale | ~np.isin(modes, _PAINTED)).any():
        return True
    return any((np.abs(colours - fill).max(axis=1) < _ALIKE).any() for fill in {tuple(fill) for fill in fills.tolist()})


def _find_suspects(inks: Int64Array, boxes: FloatArray, rects: FloatArray, fills: Int64Array) -> Mask:
    """Return which characters may be invisible: pale, unpainted, or on an area of about the same colour."""
    colours = inks[:, 2:5]
    suspect: Mask = ~np.isin(inks[:, 1], _PAINTED) | (inks[:, 5] < _SHEER) | (colours.min(axis=1) >= _LIGHT)
    for rect, fill in zip(rects, fills, strict=True):
        alike = np.abs(colours - fill).max(axis=1) < _ALIKE
        if alike.any():
            suspect |= alike & _is_inside(boxes, rect[None])
    suspect &= inks[:, 0] != 0
    return suspect


def _is_inside(boxes: FloatArray, rects: FloatArray) -> Mask:
    """Return which characters have their middle in one of the rectangles."""
    middles = ((boxes[:, :2] + boxes[:, 2:]) / 2)[:, None]
    over: Mask = np.all((middles >= rects[None, :, :2]) & (middles <= rects[None, :, 2:]), axis=2).any(axis=1)
    return over


def _contains_marked(marked: Mask, boxes: FloatArray) -> Mask:
    """Return for each box whether it contains a pixel that ``marked`` selects; false for a box without a position."""
    height, width = marked.shape
    rows, columns = (np.flatnonzero(marked.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return np.zeros(len(boxes), bool)
    # Sum only over the part of the picture with marks, which is small on most pages.
    left, top, right, bottom = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    part = marked[top:bottom, left:right]
    sums = np.pad(part.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32), ((1, 0), (1, 0)))
    places = np.clip(np.nan_to_num(boxes), 0, 1) * (width, height, width, height)
    x0, y0 = np.floor(places[:, :2]).astype(int).clip((left, top), (right, bottom)).T - ((left,), (top,))
    x1, y1 = np.ceil(places[:, 2:]).astype(int).clip((left, top), (right, bottom)).T - ((left,), (top,))
    within: Mask = (sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]) > 0
    return within


def _extend_to_words(codes: IntArray, hidden: Mask) -> Mask:
    """Return the mask, adapted so that words are hidden or shown as a whole where possible.

    Hide all characters of a word with few visible characters, and show a few hidden characters of a longer word. So a
    faint full stop stays in its number, and "1,200" does not become "1" if most of it is painted over.
    """
    if not hidden.any():
        return hidden
    pairs = zip(_decode(codes), hidden.tolist(), strict=True)
    signs = "".join(" " if char.isspace() else "h" if is_hidden else "." for char, is_hidden in pairs)
    words = np.zeros_like(hidden)
    for word in _WORD.finditer(signs):
        if 0 < word[0].count(".") <= min(_MAX_LEFT, word[0].count("h") - 1):
            words[slice(*word.span())] = True
            continue
        for run in _RUN.finditer(signs, *word.span()):
            length = run.end() - run.start()
            if length >= _RUN_STANDS or 2 * length > word.end() - word.start():
                words[slice(*run.span())] = True
    return words


def _extract_text(codes: IntArray, mask: Mask) -> str:
    """Return the characters that ``mask`` selects as text, with a blank between characters that are not neighbours."""
    text = _decode(codes)
    characters = (char if shown or char.isspace() else _BREAK for char, shown in zip(text, mask.tolist(), strict=True))
    return " ".join("".join(characters).replace(_BREAK, " ").split())[:_MAX_CHARACTERS]


def _decode(codes: IntArray) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le")
