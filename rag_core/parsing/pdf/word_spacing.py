"""Insert the blanks between words that the text layer lacks.

Some typesetters, such as troff, position each word and draw no blanks. Pdfium inserts a blank in most gaps between
words, but not in all. Without a blank, two words would be joined: "invokedwith".
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from rag_core.parsing.characters import UNSPACED_SCRIPTS
from rag_core.parsing.pdf.text_page import Characters
from rag_core.types import FloatArray, Int64Array, IntArray

_BLANK = 0x20
# Least gap between words, and least gap between the letters of a letter-spaced word, both in line heights.
_GAP, _TRACKED = 0.2, 0.1
_LEAST_SHARED = 0.5
# Scripts without blanks, and right-to-left scripts, in which no blanks are inserted.
_OTHER_SCRIPTS = re.compile(f"[{UNSPACED_SCRIPTS}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def insert_word_spaces(characters: Characters, numbers: IntArray) -> tuple[Characters, IntArray]:
    """Return the characters with a blank in each gap between words, and their numbers; new blanks have number -1."""
    codes = characters.codes
    gaps = _gaps(characters.boxes * np.array((characters.width, characters.height) * 2, np.float32))
    wide = np.flatnonzero((gaps > _GAP) & (codes[:-1] > _BLANK) & (codes[1:] > _BLANK))
    ends = np.flatnonzero(codes <= _BLANK) if len(wide) else wide
    places = [place + 1 for place in wide.tolist() if _separates_words(codes, gaps, ends, place)]
    if not places:
        return characters, numbers
    spaced = replace(
        characters,
        codes=np.insert(codes, places, _BLANK),
        boxes=np.insert(characters.boxes, places, np.nan, axis=0),
    )
    return spaced, np.insert(numbers, places, -1)


def _gaps(boxes: FloatArray) -> FloatArray:
    """Return the gap between each character and the next, in line heights; 0 if they are on different lines."""
    before, after = boxes[:-1], boxes[1:]
    shared = np.minimum(before[:, 3], after[:, 3]) - np.maximum(before[:, 1], after[:, 1])
    heights = np.maximum(before[:, 3] - before[:, 1], after[:, 3] - after[:, 1])
    same_line = (heights > 0) & (shared > _LEAST_SHARED * heights)
    gaps = np.where(same_line, after[:, 0] - before[:, 2], 0) / np.where(same_line, heights, 1)
    return gaps.astype(np.float32)


def _separates_words(codes: IntArray, gaps: FloatArray, ends: Int64Array, place: int) -> bool:
    """Return whether a gap is between two words, and not between the letters of a letter-spaced word."""
    if _OTHER_SCRIPTS.search("".join(map(chr, codes[place : place + 2].tolist()))):
        return False
    after = int(np.searchsorted(ends, place))
    first = int(ends[after - 1]) + 1 if after else 0
    last = int(ends[after]) - 1 if after < len(ends) else len(codes) - 1
    return bool(np.median(gaps[first:last]) < _TRACKED)
