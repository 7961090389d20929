"""Group the characters of a text layer into runs of words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from rag_core.parsing.characters import RIGHT_TO_LEFT, UNSPACED, UNSPACED_SCRIPTS, clean_word, needs_cleaning
from rag_core.parsing.layout.runs import CELL_GAP, Run, rotate_boxes
from rag_core.parsing.pdf.bidi import reorder_bidi
from rag_core.parsing.pdf.text_page import Characters
from rag_core.text.normalize import SUPERSCRIPT_DIGITS, replace_look_alikes
from rag_core.types.arrays import BoolArray, FloatArray

# The character for a hyphen that divides a word at a line end; see `Characters`.
_HYPHEN = "\x02"
_DIVIDED = re.compile("[^\\W\\d_][-\u2010\u00ad]\\s*\\r?\\n\\s*[^\\W\\d_]")
_LINE = re.compile(f"[^\r\n{_HYPHEN}]+")
_WORD = re.compile(f"[{UNSPACED_SCRIPTS}]|[^\\s{UNSPACED_SCRIPTS}\x00-\x1f]+")
_LETTER = re.compile(r"[^\W_]")
# Rules drawn with characters, which are removed because they have no meaning and would be many tokens.
_RULE = re.compile(r"^(?:[_=*~∼]{3,}|[-–—.·…]{4,})$|_{6,}")
_PERHAPS_RULE = re.compile(r"[_=*~∼]{3}|[-–—.·…]{4}")
# Dot leaders between a label and a page number or figure, as in "....." or ". . . .". If blanks divide the dots, a dot
# directly before a digit may be a decimal point.
_LEADER = re.compile(r"[.·…]{6,}|[.·…]{4,}(?=\d)|[.·…](?:[ \u00a0]+[.·…]){3,}(?!\d)(?:[ \u00a0]*[.·…]+(?!\d))?")
_PERHAPS_LEADER = re.compile(r"[.·…][ \u00a0]*[.·…][ \u00a0]*[.·…][ \u00a0]*[.·…]")
_RAISED = re.compile(f"[{SUPERSCRIPT_DIGITS}]")
# A word is outside the page if its middle is further from the page than this share of the side of the page.
_OUTSIDE = 0.02


def build_runs(characters: Characters, is_bold: Callable[[int], bool]) -> list[Run]:
    """Return the characters grouped into words and runs, in the order of the content stream.

    Right-to-left lines are put into reading order first. Dot leaders, rules drawn with characters, and words outside
    the page are left out.

    Parameters
    ----------
    characters : Characters
    is_bold : callable
        Returns whether the character with a given number is bold. This is slow, so only the first and the last
        character of each run are tested.
    """
    characters = reorder_bidi(characters)
    text = replace_look_alikes(characters.text)
    if _PERHAPS_LEADER.search(text):
        text = _LEADER.sub(lambda dots: " " * len(dots[0]), text)
    spans, lines = _split_words(text)
    if not spans:
        return []
    rects = _find_word_rects(characters.boxes, spans)
    direction = _find_direction(characters, spans, text)
    turned = rotate_boxes(rects, direction, characters.width, characters.height)
    words = [text[start:end] for start, end in spans]
    has_rules = _PERHAPS_RULE.search(text) is not None
    if needs_cleaning("".join(words)):
        words, has_rules = [clean_word(word) for word in words], True
    if has_rules:
        words = [_RULE.sub("", word) for word in words]
    heights = _measure_heights(words, spans, turned, characters, direction)
    # Drop text outside the displayed page, because a person who reads the page cannot check it.
    kept = _is_displayed(rects) & np.array([bool(word) for word in words])
    numbers, before = np.flatnonzero(kept).tolist(), [0, *np.cumsum(kept).tolist()]
    spaced = _find_spaces(text, spans, turned)
    apart = np.maximum(turned[1:, 1], turned[:-1, 1]) > np.minimum(turned[1:, 3], turned[:-1, 3])
    steps = np.flatnonzero(apart | (turned[1:, 0] < turned[:-1, 0])) + 1
    jumps, strays = steps.tolist(), set(steps[apart[steps - 1]].tolist())
    parts = []
    for begin, end, divided in lines:
        for part in _split_at_jumps(begin, end, jumps, strays, text, spans):
            first, last = before[part[0]], before[part[1]]
            if first < last:
                # A line may begin in bold and continue in normal type.
                bold = is_bold(spans[numbers[first]][0]) and is_bold(spans[numbers[last - 1]][1] - 1)
                parts.append((first, last, bold, divided))
    words, spaced = [words[number] for number in numbers], [spaced[number] for number in numbers]
    heights = [heights[number] for number in numbers]
    runs = _assemble_runs(words, spaced, rects[kept], turned[kept], heights, parts)
    # The direction of words matters only where a line continues to the left.
    if any(
        run.box[2] <= before.box[0] and run.box[1] < before.box[3] <= run.box[3] + 1 for before, run in pairwise(runs)
    ):
        backwards = _find_backward_words(characters, spans, direction)[kept]
        for run, (first, last, *_) in zip(runs, parts, strict=True):
            run.backward = bool(backwards[first:last].any())
    return runs


def _split_words(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int, bool]]]:
    """Return the span of each word, and the first word, the end word and the hyphen of each line.

    The end word is exclusive. The hyphen says whether the line ends in a hyphen that divides a word; this hyphen is not
    part of the word.
    """
    spans: list[tuple[int, int]] = []
    lines: list[tuple[int, int, bool]] = []
    for line in _LINE.finditer(text):
        first = len(spans)
        spans.extend(word.span() for word in _WORD.finditer(text, line.start(), line.end()))
        if len(spans) == first:
            continue
        hyphen = text[line.end() : line.end() + 1] == _HYPHEN
        if not hyphen and _DIVIDED.match(text, spans[-1][1] - 2):
            # Pdfium does not mark every hyphen that divides a word, so find the unmarked hyphens.
            hyphen = True
            spans[-1] = (spans[-1][0], spans[-1][1] - 1)
        lines.append((first, len(spans), hyphen))
    return spans, lines


def _split_at_jumps(
    first: int, last: int, jumps: list[int], strays: set[int], text: str, spans: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Split a line where it jumps to the left, up or down; yield the first and the end word (exclusive) of each part.

    Such jumps occur because pdfium puts a footnote mark that was written last at the end of the line with the same
    height, and puts the values of form fields one after another. A line with words of a right-to-left script is not
    split where it continues to the left.

    Parameters
    ----------
    first, last : int
        First and end word (exclusive) of the line.
    jumps : list of int
        The words that are further left than the word before, or entirely above or below it, in ascending order.
    strays : set of int
        The words that are entirely above or below the word before.
    text : str
    spans : list of tuple of int
        Span of each word in the text.
    """
    begin = first
    runs_left = RIGHT_TO_LEFT.search(text, spans[first][0], spans[last - 1][1]) is not None
    for number in jumps[bisect_right(jumps, first) : bisect_left(jumps, last)]:
        if number in strays:
            # Split only between words with letters or digits: in a font with tight boxes, a full stop is entirely below
            # a quotation mark.
            if not all(_LETTER.search(text, *span) for span in spans[number - 1 : number + 1]):
                continue
        elif runs_left:
            continue
        yield begin, number
        begin = number
    yield begin, last


def _find_word_rects(boxes: FloatArray, spans: list[tuple[int, int]]) -> FloatArray:
    # `reduceat` gets the start and the end of every word, so its results are words and gaps in turn, and the gaps are
    # dropped. The extra row is for a word that ends at the end of the page.
    bounds = np.array(spans, np.int64).ravel()
    padded = np.concatenate([boxes, np.full((1, 4), np.nan, np.float32)])
    low = np.fmin.reduceat(padded[:, :2], bounds, axis=0)[::2]
    high = np.fmax.reduceat(padded[:, 2:], bounds, axis=0)[::2]
    return np.concatenate([low, high], axis=1)


def _measure_heights(
    words: list[str], spans: list[tuple[int, int]], turned: FloatArray, characters: Characters, direction: str
) -> list[float]:
    """Return the height of each word in points: of a word with a raised figure, the height of its tallest character."""
    heights: list[float] = (turned[:, 3] - turned[:, 1]).tolist()
    if _RAISED.search("".join(words)):
        for number in (number for number, word in enumerate(words) if _RAISED.search(word)):
            boxes = rotate_boxes(
                characters.boxes[slice(*spans[number])], direction, characters.width, characters.height
            )
            heights[number] = float(np.fmax.reduce(boxes[:, 3] - boxes[:, 1]))
    return heights


def _find_direction(characters: Characters, spans: list[tuple[int, int]], text: str) -> str:
    """Return the direction, as in `rotate_boxes`, in which most words run, weighted by their length.

    Lines do not count, because pdfium may end a line with a page number at the foot of the page. In scripts without
    spaces, words are single characters, so the steps between them count.
    """
    ends = np.array(spans) - (0, 1)
    centres = (characters.boxes[:, :2] + characters.boxes[:, 2:]) / 2
    moves = np.nan_to_num((centres[ends[:, 1]] - centres[ends[:, 0]]) * (characters.width, characters.height))
    if UNSPACED.search(text):
        unspaced = np.array([UNSPACED.match(text, start) is not None for start, _ in spans])
        steps = np.nan_to_num(np.diff(centres[ends[:, 0]], axis=0) * (characters.width, characters.height))
        sizes = (characters.boxes[ends[1:, 0], 3] - characters.boxes[ends[1:, 0], 1]) * characters.height
        moves = np.concatenate([moves, steps[unspaced[1:] & unspaced[:-1] & (np.abs(steps).max(axis=1) < 2 * sizes)]])
    is_upright = np.abs(moves[:, 1]) > 2 * np.abs(moves[:, 0])
    across, down = moves[~is_upright, 0], moves[is_upright, 1]
    votes = {"right": 1e-6 + across[across > 0].sum(), "left": -across[across < 0].sum()}
    votes |= {"down": down[down > 0].sum(), "up": -down[down < 0].sum()}
    best = max(votes, key=lambda name: votes[name])
    # Lines of right-to-left scripts run to the left as well, but are not upside down.
    if best == "left" and np.any((characters.codes >= 0x590) & (characters.codes < 0x8FF)):
        return "right"
    return best


def _find_backward_words(characters: Characters, spans: list[tuple[int, int]], direction: str) -> BoolArray:
    """Return which words run against the direction of the page, as in right-to-left scripts and upside-down text."""
    ends = np.array(spans) - (0, 1)
    first, last = (
        rotate_boxes(characters.boxes[ends[:, side]], direction, characters.width, characters.height) for side in (0, 1)
    )
    backwards: BoolArray = last[:, 2] < first[:, 0] + 0.5 * (first[:, 2] - first[:, 0])
    return backwards & (ends[:, 1] > ends[:, 0])


def _is_displayed(rects: FloatArray) -> BoolArray:
    x0, y0, x1, y1 = rects.T.astype(np.float64)
    across, down = (x0 + x1) / 2, (y0 + y1) / 2
    within = (np.abs(across - 0.5) <= 0.5 + _OUTSIDE) & (np.abs(down - 0.5) <= 0.5 + _OUTSIDE)
    # Words with unknown positions, which are NaN, must not be lost.
    displayed: BoolArray = np.isnan(x0) | within
    return displayed


def _find_spaces(text: str, spans: list[tuple[int, int]], turned: FloatArray) -> list[bool]:
    """Return for each word whether there is a space before it; false for the first word.

    Between two characters of a script without spaces, only a wide gap, as between two cells of a table, is a space.
    """
    spaced = [False, *(before[1] != here[0] for before, here in pairwise(spans))]
    if not UNSPACED.search(text):
        return spaced
    wide = (turned[1:, 0] - turned[:-1, 2] > turned[1:, 3] - turned[1:, 1]).tolist()
    for number in range(1, len(spans)):
        joined = UNSPACED.match(text[spans[number - 1][1] - 1]) and UNSPACED.match(text[spans[number][0]])
        spaced[number] &= not joined or wide[number - 1]
    return spaced


def _assemble_runs(
    words: list[str],
    spaced: list[bool],
    rects: FloatArray,
    turned: FloatArray,
    heights: list[float],
    parts: list[tuple[int, int, bool, bool]],
) -> list[Run]:
    """Return the runs of a page.

    ``parts`` contains for each run the first word, the end word (exclusive), and whether the run is bold and ends in a
    hyphen. The boxes of all runs are computed at once, because NumPy calls are slow for small arrays.
    """
    if not parts:
        return []
    starts = np.array([first for first, *_ in parts])
    lows = np.fmin.reduceat(turned[:, :2], starts, axis=0).tolist()
    highs = np.fmax.reduceat(turned[:, 2:], starts, axis=0).tolist()
    gaps = (turned[1:, 0] - turned[:-1, 2]).tolist()
    runs = []
    for (first, last, bold, hyphen), low, high in zip(parts, lows, highs, strict=True):
        box = (low[0], low[1], high[0], high[1])
        if box[0] != box[0]:
            box = (0.0, 0.0, 0.0, 0.0)
        size = sorted(heights[first:last])[(last - first) // 2]
        size = size if size == size else 0.0
        widest = float(np.float32(CELL_GAP * max(size, 1.0)))
        cells = 1 + sum(gap > widest for gap in gaps[first : last - 1])
        place = slice(first, last)
        runs.append(Run(words[place], spaced[place], rects[place], turned[place], box, size, bold, cells, hyphen))
    return runs
