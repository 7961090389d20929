"""Divide lines into segments: words with no wide gap between them. A table cell consists of one or more segments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress

import numpy as np

from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.runs import join_words
from rag_core.text.dates import MONTH, QUARTER, YEAR
from rag_core.text.units import read_unit

# Minimum gap between two segments, as a share of the height of the characters.
_MIN_GAP = 0.75
_CURRENCY = r"(?:US|C|A|HK)?[$€£¥]|USD|EUR|GBP|CHF"
_CURRENCY_SIGNS = frozenset("$€£¥")
_SIGN_BEFORE = re.compile(rf"(?:{_CURRENCY})?\(?|\(")
_BULLET = re.compile(r"[•◦‣▪●○■□☐☒✓►▶➢➤>*→–-]")
# Maximum distance between a bullet and its text, in heights of the characters.
_MAX_BULLET_GAP = 4.0
_CACHED_TEXTS = 4096
# Signs for an empty cell, such as "–" and "n/a".
_EMPTY = re.compile(rf"(?:{_CURRENCY})?\s?[—–−-]+\s?[%)]?|n/?[am]\.?|n\.[am]\.|nil", re.IGNORECASE)
_FIGURE = re.compile(
    rf"[(+−–—-]?\s?(?:{_CURRENCY})?\s?[(+−–—-]?\s?[.,]?\d[\d.,’'\u00a0\u202f]*\S*(?:\s\S{{1,8}}){{0,2}}", re.IGNORECASE
)
_PERIOD = re.compile(
    rf"(?:(?:FY|{QUARTER}|fiscal|year|as of|at|(?:{MONTH})\.?|\d{{1,2}}(?!\d),?|[HT][12]|"
    r"\d{1,2}[./-]\d{1,2}[./-])\s*)*"
    rf"(?:{YEAR}(?:\s*[/–-]\s*\d{{2,4}})?|FY\s?['’]?\d\d|{QUARTER})\s*(?:[A-Z]|(?:\s*\(\w\))+|\*)?"
    rf"(?:\s*(?:{_CURRENCY}|%|(?:m|b)illions?|thousands?|mn?|bn|[’']?000s?))*",
    re.IGNORECASE,
)


@lru_cache(maxsize=_CACHED_TEXTS)
def _is_figure(text: str) -> bool:
    return bool(_EMPTY.fullmatch(text) or _FIGURE.fullmatch(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def _is_period(text: str) -> bool:
    period, bracket, unit = text.partition(" (")
    is_with_unit = bracket and unit.endswith(")") and read_unit(unit[:-1], in_brackets=True) is not None
    return bool(_PERIOD.fullmatch(period if is_with_unit else text))


@dataclass(slots=True)
class Segment:
    """Words of one line with no wide gap between them.

    ``words`` contains indices into the list of those words of the page whose position is known, as in `WordBoxes`. The
    box is in points and rotated like `Run.box`.
    """

    words: list[int]
    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def is_figure(self) -> bool:
        """Whether the text is a figure, perhaps with a unit, or a sign for an empty cell."""
        return _is_figure(self.text)

    @property
    def is_period(self) -> bool:
        """Whether the text is a year, quarter or date, as in column headers."""
        return _is_period(self.text)


@dataclass(slots=True)
class TextLine:
    """Segments on one baseline, from left to right.

    ``top``, ``bottom`` and ``size`` are those of the segment with the largest characters.
    """

    segments: list[Segment]
    top: float = field(init=False)
    bottom: float = field(init=False)
    size: float = field(init=False)

    def __post_init__(self) -> None:
        tallest = max(self.segments, key=lambda segment: segment.size)
        self.top, self.bottom, self.size = tallest.top, tallest.bottom, tallest.size

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)

    @property
    def bold(self) -> bool:
        return all(segment.bold for segment in self.segments)


def build_text_lines(lines: Sequence[Line]) -> list[TextLine]:
    """Return the segments of a page grouped by baseline, from the top down."""
    runs = [run for line in lines for run in line.runs]
    boxes = np.concatenate([run.line_boxes for run in runs]).astype(np.float64)
    counts = np.array([len(run.words) for run in runs])
    owners = np.repeat(np.arange(len(runs)), counts)
    known = ~np.isnan(boxes[:, 0])
    boxes, owners = boxes[known], owners[known]
    texts = list(compress([word for run in runs for word in run.words], known))
    spaced = list(compress([flag for run in runs for flag in run.spaced], known))
    if not texts:
        return []
    sizes = np.array([run.size for run in runs])[owners]
    gaps = boxes[1:, 0] - boxes[:-1, 2]
    is_sign = np.array([text in _CURRENCY_SIGNS for text in texts[1:]], bool)
    wide = gaps > _MIN_GAP * sizes[1:]
    breaks = np.flatnonzero((owners[1:] != owners[:-1]) | wide | is_sign) + 1
    starts = np.concatenate([[0], breaks])
    lows = np.minimum.reduceat(boxes[:, :2], starts, axis=0).tolist()
    highs = np.maximum.reduceat(boxes[:, 2:], starts, axis=0).tolist()
    segments = []
    for start, end, low, high in zip(starts.tolist(), [*breaks.tolist(), len(texts)], lows, highs, strict=True):
        run = runs[owners[start]]
        text = join_words(texts[start:end], spaced[start:end])
        segments.append(Segment(list(range(start, end)), text, low[0], low[1], high[0], high[1], run.size, run.bold))
    return [TextLine(_join_neighbours(row) if len(row) > 1 else row) for row in _group_by_baseline(segments)]


def _group_by_baseline(segments: list[Segment]) -> Iterator[list[Segment]]:
    """Yield the segments on each baseline, from left to right."""
    rows: list[list[Segment]] = []
    bounds: list[tuple[float, float]] = []
    for segment in sorted(segments, key=lambda segment: segment.top + segment.bottom):
        for number in range(len(rows) - 1, max(len(rows) - 4, -1), -1):
            top, bottom = bounds[number]
            shared = min(bottom, segment.bottom) - max(top, segment.top)
            if shared > 0.55 * min(bottom - top, segment.bottom - segment.top):
                rows[number].append(segment)
                break
        else:
            rows.append([segment])
            bounds.append((segment.top, segment.bottom))
    for row in rows:
        row.sort(key=lambda segment: segment.x0)
        yield row


def _join_neighbours(row: list[Segment]) -> list[Segment]:
    """Join segments without a wide gap, a bullet to its text, and a currency sign or bracket to its figure."""
    joined = [row[0]]
    for segment in row[1:]:
        last = joined[-1]
        gap = segment.x0 - last.x1
        small = min(segment.size, last.size) < 0.85 * max(segment.size, last.size)
        limit = (0.5 if small else _MIN_GAP) * max(segment.size, last.size)
        is_sign_before = _SIGN_BEFORE.fullmatch(last.text) and segment.is_figure
        is_bullet = segment is row[1] and _BULLET.fullmatch(last.text) and gap < _MAX_BULLET_GAP * segment.size
        is_item = is_bullet and segment.text[:1].isalpha()
        # A currency sign after a figure begins the next cell.
        is_near = gap <= limit and not (segment.text[0] in _CURRENCY_SIGNS and last.is_figure)
        if is_near or is_sign_before or is_item:
            joined[-1] = _join_segments(last, segment)
        else:
            joined.append(segment)
    return joined


def _join_segments(first: Segment, second: Segment) -> Segment:
    glue = "" if second.x0 - first.x1 < 0.1 * second.size else " "
    return Segment(
        [*first.words, *second.words],
        first.text + glue + second.text,
        first.x0,
        min(first.top, second.top),
        max(first.x1, second.x1),
        max(first.bottom, second.bottom),
        max(first.size, second.size),
        first.bold and second.bold,
    )
