"""Put right-to-left lines into reading order if the text layer has parts of the lines in another order.

Pdfium returns Arabic presentation forms from left to right, and the words of a Latin phrase from right to left. It
returns brackets in the mirrored form in which they are drawn.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.arrays import FloatArray

# Letters and combining marks of right-to-left scripts. The digits of these scripts are excluded, because numbers run
# from left to right.
_LETTERS = "\u0591-\u05f2\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff\ufb1d-\ufdfd\ufe70-\ufefc"
_LETTER, _WORD = re.compile(f"[{_LETTERS}]"), re.compile(f"[{_LETTERS}]{{2,}}")
_LINE = re.compile("[^\r\n\x02]+")
_LATIN = re.compile(f"(?![{_LETTERS}])[^\\W\\d_]")
_PHRASE = re.compile(rf"{_LATIN.pattern}[^\s{_LETTERS}]*(?: {_LATIN.pattern}[^\s{_LETTERS}]*)+")
_STOPS = re.compile(r"[.,:;!?]*$")
_LAM, _ALEFS = "\u0644", frozenset("\u0622\u0623\u0625\u0627")
# Maximum share of steps to the right between the letters of a line that is drawn in pieces from right to left.
_MAX_JUMPS = 0.34
# Minimum gap between words, as a share of the width of the widest letter.
_MIN_GAP = 0.2
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_MIRRORED = _PAIRS | {right: left for left, right in _PAIRS.items()}


def reorder_bidi(characters: Characters) -> Characters:
    """Return the characters with right-to-left lines in reading order."""
    text = characters.text
    if not _LETTER.search(text):
        return characters
    codes, boxes = characters.codes.copy(), characters.boxes.copy()
    centres = ((boxes[:, 0] + boxes[:, 2]) / 2).tolist()
    order = list(range(len(text)))
    for line in _LINE.finditer(text):
        if not _LETTER.search(line[0]):
            continue
        if (pieces := _order_pieces(text, *line.span(), boxes)) != order[slice(*line.span())]:
            order[slice(*line.span())] = pieces
            continue
        for word in _WORD.finditer(text, *line.span()):
            order[slice(*word.span())] = _order_word(text, *word.span(), centres)
        if len(_LETTER.findall(line[0])) <= len(_LATIN.findall(line[0])):
            continue
        for phrase in _PHRASE.finditer(text, *line.span()):
            places, stops = _order_phrase(text, *phrase.span(), centres)
            order[slice(*phrase.span())] = places
            # The final punctuation is drawn at the other end of the phrase. If it kept its boxes, the box of the last
            # word would extend over the whole phrase.
            boxes[stops] = np.nan
        for place in _find_mirrored(text, *line.span()):
            codes[place] = ord(_MIRRORED[text[place]])
            if text[place] in _PAIRS.values() and text[place + 1 : place + 2] == " ":
                order[place : place + 2] = place + 1, place
    return replace(characters, codes=codes[order], boxes=boxes[order])


def _order_word(text: str, start: int, end: int, centres: list[float]) -> list[int]:
    """Return the character numbers of a right-to-left word in reading order, with marks after their letter."""
    places = list(range(start, end))
    letters = [place for place in places if not unicodedata.combining(text[place])]
    if not letters or not centres[letters[0]] < centres[letters[-1]]:
        return _exchange_lam_alef(text, places, centres)
    if letters[0] > start:  # the combining marks are before their letters
        return places[::-1]
    ends = [*letters[1:], end]
    groups = [range(first, last) for first, last in zip(letters, ends, strict=True)]
    return [place for group in reversed(groups) for place in group]


def _exchange_lam_alef(text: str, places: list[int], centres: list[float]) -> list[int]:
    """Return the character numbers ``places`` with alef and lam of each lam-alef glyph exchanged.

    If pdfium reverses a word, it also reverses the two letters of such a glyph.
    """
    turned = list(places)
    for first, second in pairwise(places):
        is_glyph = text[first] in _ALEFS and text[second] == _LAM and centres[first] == centres[second]
        if is_glyph:
            turned[first - places[0]], turned[second - places[0]] = second, first
    return turned


def _order_pieces(text: str, start: int, end: int, boxes: FloatArray) -> list[int]:
    """Return the character numbers of a line in reading order if its words are drawn in pieces in another order.

    Only a line that consists of right-to-left letters and blanks, with all letters at one height, is reordered, because
    digits and other scripts run to the right. For any other line, return the numbers in ascending order.
    """
    places = list(range(start, end))
    letters = [place for place in places if not text[place].isspace()]
    if not all(_LETTER.match(text[place]) and not unicodedata.combining(text[place]) for place in letters):
        return places
    right, low, high = boxes[letters, 2], boxes[letters, 1], boxes[letters, 3]
    steps = np.diff(right)
    # A line in reading order has no steps to the right, and a line of presentation forms has many.
    if not (steps < 0).any() or not (steps > 0).any() or (steps > 0).mean() > _MAX_JUMPS:
        return places
    if np.isnan(right).any() or low.max() > high.min():
        return places
    ordered = [letters[number] for number in np.argsort(-right, kind="stable")]
    blanks = [place for place in places if text[place].isspace()]
    gaps = boxes[ordered[:-1], 0] - boxes[ordered[1:], 2]
    widest = np.argsort(-gaps, kind="stable")
    least = _MIN_GAP * float((boxes[letters, 2] - boxes[letters, 0]).max())
    after = {int(number) for number in widest[: len(blanks)] if gaps[number] > least}
    result: list[int] = []
    for number, place in enumerate(ordered):
        result.append(place)
        if number in after:
            result.append(blanks.pop())
    return result + blanks


def _order_phrase(text: str, start: int, end: int, centres: list[float]) -> tuple[list[int], list[int]]:
    """Return the character numbers of a Latin phrase in reading order, and those of its final punctuation.

    The second list is empty if the punctuation is not drawn at the left end of the phrase. If the words do not run from
    right to left, their order stays the same, and the second list is empty, too.
    """
    words = [match.span() for match in re.finditer("[^ ]+", text[start:end])]
    spans = [(start + first, start + last) for first, last in words]
    starts = [centres[first] for first, _ in spans]
    if not all(start > following for start, following in pairwise(starts)):
        return list(range(start, end)), []
    final_stops = _STOPS.search(text, *spans[-1])
    cut = final_stops.start() if final_stops else end
    stops = list(range(cut, end)) if cut < end and centres[cut] < starts[-1] else []
    spans[-1] = (spans[-1][0], end - len(stops))
    places: list[int] = []
    for number, span in enumerate(reversed(spans)):
        # Only the words are reversed; the blanks between them keep their order.
        places += [spans[number][0] - 1] if number else []
        places += range(*span)
    return places + stops, stops


def _find_mirrored(text: str, start: int, end: int) -> list[int]:
    """Return the numbers of both brackets of each pair whose closing bracket comes before the opening bracket."""
    closing: list[int] = []
    opening: list[int] = []
    mirrored: list[int] = []
    for place in range(start, end):
        char = text[place]
        if char in _PAIRS:
            opening.append(place)
        elif char in _MIRRORED:
            if opening and _PAIRS[text[opening[-1]]] == char:
                opening.pop()
            elif place - start > 2:  # nearer to the line start, the bracket may end a list marker, as in "a)"
                closing.append(place)
    for place in opening:
        partner = next(
            (bracket for bracket in closing if bracket < place and _PAIRS[text[place]] == text[bracket]), None
        )
        if partner is not None:
            closing.remove(partner)
            mirrored += [partner, place]
    return mirrored
