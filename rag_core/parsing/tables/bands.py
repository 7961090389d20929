"""Find bands: lines of a page whose segments are aligned in columns. A band may become a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.parsing.tables.segments import Segment, TextLine

# A segment overlaps a column if they share more than this many points, or more than half of the segment's width.
_MIN_SHARED = 1.0
# Maximum distance between lines of one band, in heights of the characters.
_MAX_DISTANCE = 2.6
# A segment that covers several columns and has at least this many words is prose.
_MIN_PROSE_WORDS = 10
# Maximum number of successive lines that have only a label or do not fit the columns; the latter count twice.
_MAX_PENDING = 5
_MAX_HEAD_LINES = 5
# Number of lines above a band that may be its caption.
_LINES_ABOVE = 3
# A line whose characters are larger than those below by this factor is a title, not a header.
_LARGER = 1.12
_NUMBERED_TITLE = re.compile(r"(?:table|tab\.|figure|fig\.|exhibit|tableau|tabelle)\s*\d", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[a-z\d)][.;:]$")


@dataclass(slots=True)
class Column:
    """The left and the right end of a column in points."""

    x0: float
    x1: float

    def overlaps(self, segment: Segment) -> bool:
        x0, x1 = segment.x0, segment.x1
        # Conditional expressions are faster than `min` and `max`, and most pairs are far from each other.
        if x1 <= self.x0 or x0 >= self.x1:
            return False
        shared = (x1 if x1 < self.x1 else self.x1) - (x0 if x0 > self.x0 else self.x0)
        return shared > _MIN_SHARED or shared > 0.5 * (x1 - x0)


@dataclass(slots=True)
class Band:
    """Lines with common columns.

    ``head`` contains the header lines above ``lines``, whose segments may span columns. ``above`` contains up to three
    lines above the head, which may be a caption.
    """

    lines: list[TextLine]
    columns: list[Column]
    head: list[TextLine]
    above: list[TextLine]


def find_bands(lines: Sequence[TextLine]) -> list[Band]:
    """Return the bands among ``lines``, which are in order from the top down."""
    bands: list[Band] = []
    number = free = 0
    while number < len(lines):
        grown = _grow_band(lines, number, free) if len(lines[number].segments) > 1 else None
        if grown is None:
            number += 1
            continue
        band, last, beside = grown
        bands.append(band)
        number = free = last + 1
        if len(beside) > 1:
            bands += find_bands(beside)
    return bands


def _grow_band(lines: Sequence[TextLine], first: int, free: int) -> tuple[Band, int, list[TextLine]] | None:
    """Return the band that begins at a line, the index of the band's last line, and the lines beside the band.

    Return ``None`` if the lines below have other columns. ``free`` is the index of the first line below the previous
    band.
    """
    columns = [Column(segment.x0, segment.x1) for segment in lines[first].segments]
    start, last, pending, fitting = first, first, 0, 1
    beside: list[int] = []
    number = first + 1
    while number < len(lines) and pending <= _MAX_PENDING:
        line = lines[number]
        if not _is_near(lines[number - 1], line):
            break
        if len(line.segments) > 1 and _is_beside(line, columns):
            beside.append(number)
            number += 1
            continue
        if len(line.segments) == 1:
            if _is_prose_line(line, columns):
                break
            pending += not _continues_cell(line, columns)
            number += 1
            continue
        fitted = _fit_columns(line, columns)
        if fitted is not None:
            columns, last, pending, fitting = fitted, number, 0, fitting + 1
        elif fitting <= 2 and number - start <= 3:
            # The lines so far may be headers over several columns of the lines below.
            columns = [Column(segment.x0, segment.x1) for segment in line.segments]
            start = last = number
            pending, fitting = 0, 1
        else:
            pending += 2
        number += 1
    if fitting < 2:
        return None
    while last + 1 in beside:
        last += 1
    last = max(end for end in range(last, max(number, last + 1)) if _are_written_by_cell(lines[last : end + 1]))
    if start - 1 > free and _is_section_line(lines[start - 1], columns):
        # The first section of a table is between its headers and its first figures.
        start -= _is_head_line(lines[start - 2], lines[start - 1], columns)
    top = start
    while top > free and start - top < _MAX_HEAD_LINES and _is_head_line(lines[top - 1], lines[top], columns):
        top -= 1
    own = [lines[number] for number in range(start, last + 1) if number not in beside]
    above = list(lines[max(top - _LINES_ABOVE, free) : top])
    band = Band(own, columns, list(lines[top:start]), above)
    return band, last, [lines[number] for number in beside if number <= last]


def _is_beside(line: TextLine, columns: Sequence[Column]) -> bool:
    """Return whether a line is entirely left or right of the columns, as in another table beside them."""
    return line.segments[0].x0 > columns[-1].x1 + line.size or line.segments[-1].x1 < columns[0].x0 - line.size


def _is_near(upper: TextLine, lower: TextLine) -> bool:
    return lower.top - upper.bottom < _MAX_DISTANCE * max(lower.size, upper.size)


def _is_prose_line(line: TextLine, columns: Sequence[Column]) -> bool:
    segment = line.segments[0]
    if sum(column.overlaps(segment) for column in columns) < 2:
        return False
    count = len(segment.words)
    return count >= _MIN_PROSE_WORDS or (count >= 6 and bool(_SENTENCE_END.search(segment.text)))


def _continues_cell(line: TextLine, columns: Sequence[Column]) -> bool:
    return any(column.overlaps(line.segments[0]) for column in columns[1:])


def _are_written_by_cell(lines: Sequence[TextLine]) -> bool:
    """Return whether the text continues from each segment below the first line to another segment of these lines.

    The lines are then one row that is written cell by cell. The result is true for a single line.
    """
    starts = {segment.words[0] for line in lines for segment in line.segments}
    return all(segment.words[-1] + 1 in starts for line in lines[1:] for segment in line.segments)


def _is_section_line(line: TextLine, columns: Sequence[Column]) -> bool:
    """Return whether a line has only a label, in the first column."""
    return len(line.segments) == 1 and line.segments[0].x1 < columns[1].x0 and columns[0].overlaps(line.segments[0])


def _is_head_line(line: TextLine, below: TextLine, columns: Sequence[Column]) -> bool:
    """Return whether a line above a band may be a header: it has short segments, not only over the first column."""
    if below.top - line.bottom > 1.6 * max(line.size, below.size) or line.size > _LARGER * below.size:
        return False
    if _NUMBERED_TITLE.match(line.text):
        return False
    left, right = columns[0].x1, columns[-1].x1
    if any(segment.x1 > right + 3 * line.size for segment in line.segments):
        return False
    beside = [
        segment for segment in line.segments if segment.x1 > left and segment.middle > columns[1].x0 - 3 * line.size
    ]
    if not beside:
        return False
    if len(line.segments) == 1:
        segment = line.segments[0]
        # A line that is centred over all columns is a title.
        over_all = abs(segment.middle - (columns[0].x0 + right) / 2)
        over_figures = abs(segment.middle - (columns[1].x0 + right) / 2)
        is_title = over_all < over_figures and (segment.x0 < left or over_all < 2 * line.size)
        indented = segment.x0 > columns[0].x0 + 0.2 * (right - columns[0].x0)
        return indented and not is_title and len(segment.words) < _MIN_PROSE_WORDS
    return all(len(segment.words) < _MIN_PROSE_WORDS for segment in line.segments)


def _fit_columns(line: TextLine, columns: Sequence[Column]) -> list[Column] | None:
    """Return the columns widened by the segments of a line, with a new column for each segment between them.

    Return ``None`` if the line does not fit the columns.
    """
    segments = line.segments
    extended = [Column(column.x0, column.x1) for column in columns]
    used: set[int] = set()
    added: list[Column] = []
    for place, segment in enumerate(segments):
        overlapped = [number for number, column in enumerate(columns) if column.overlaps(segment)]
        if len(overlapped) > 1:
            # A long label may cover columns that are empty in this row.
            if place == 0 and overlapped[0] == 0 and len(segments) > 1 and not segment.is_figure:
                free = columns[overlapped[-1] + 1 :]
                if any(column.overlaps(other) for column in free for other in segments[1:]):
                    used.update(overlapped)
                    continue
            return None
        if not overlapped:
            added.append(Column(segment.x0, segment.x1))
        elif overlapped[0] in used:
            return None
        else:
            used.add(overlapped[0])
            column = extended[overlapped[0]]
            column.x0, column.x1 = min(column.x0, segment.x0), max(column.x1, segment.x1)
    if len(used) < 2 and not (used and added and len(columns) < 3):
        return None
    return sorted([*extended, *added], key=lambda column: column.x0)
