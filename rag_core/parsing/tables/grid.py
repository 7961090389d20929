"""Assign the segments of a band to columns, and join the lines of a row whose cells have several lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate, pairwise
from statistics import median

from rag_core.parsing.tables.bands import Band, Column
from rag_core.parsing.tables.segments import Segment, TextLine

# In a column of figures or periods, at least this share of the cells are figures or periods.
_FIGURE_SHARE = 0.6
# Maximum distance between the lines of a cell, as a share of the distance between rows.
_CLOSE = 0.88
# Maximum distance between lines of different cells of one row, as a share of the height of the characters.
_INTERLEAVED = 0.9
# A line belongs to the row below if the distance to that row is below this share of the distance to the row above.
_NEARER = 0.85
# Number of blocks of a header and one row; the row may be a whole table that is written column by column.
_HEADER_AND_ROW = 2
# The distance between rows is at least this multiple of the distance between the lines of a row.
_SPREAD = 1.25

Cells = dict[int, list[Segment]]


class ColumnKind(Enum):
    """Kind of the contents of most cells of a column."""

    TEXT = "text"
    FIGURE = "figure"
    PERIOD = "period"


@dataclass(slots=True)
class GridRow:
    """The cells of a row by column; ``shared`` contains the columns whose cells also cover other rows."""

    cells: Cells
    top: float
    bottom: float
    shared: set[int] = field(default_factory=set)

    @property
    def label(self) -> list[Segment]:
        return self.cells.get(0, [])

    @property
    def is_label_only(self) -> bool:
        return len(self.cells) == 1 and 0 in self.cells

    @property
    def bold(self) -> bool:
        return all(segment.bold for cell in self.cells.values() for segment in cell)


@dataclass(slots=True)
class Grid:
    """The header lines, rows and columns of a band.

    ``kinds`` contains the kind of each column, and ``lines`` the cells of each line below the header lines, before
    lines are joined to rows. ``is_ruled`` says whether rules separate all rows.
    """

    head: list[TextLine]
    rows: list[GridRow]
    columns: list[Column]
    kinds: list[ColumnKind]
    lines: list[Cells]
    is_ruled: bool = False


def build_grid(band: Band) -> Grid:
    """Divide the lines of a band into header lines and rows.

    The header of a table without figures is found later, because only complete rows show whether the first is a header.
    """
    columns = band.columns
    cells = [_assign_cells(line, columns) for line in band.lines]
    kinds = _find_kinds(cells, len(columns))
    count = _count_header_lines(band.lines, cells, kinds)
    lines, body = band.lines[count:], cells[count:]
    joined = _join_lines(lines, body, columns, kinds, has_header=count == 0)
    return Grid([*band.head, *band.lines[:count]], joined, columns, kinds, body)


def _find_column(segment: Segment, columns: Sequence[Column]) -> int:
    """Return the index of the first column that a segment overlaps, or else of the nearest column."""
    for number, column in enumerate(columns):
        if column.overlaps(segment):
            return number
    distances = [max(column.x0 - segment.x1, segment.x0 - column.x1) for column in columns]
    return distances.index(min(distances))


def _assign_cells(line: TextLine, columns: Sequence[Column]) -> Cells:
    """Return the segments of a line by column."""
    cells: Cells = {}
    for segment in line.segments:
        cells.setdefault(_find_column(segment, columns), []).append(segment)
    return cells


def _find_kinds(lines: Sequence[Cells], count: int) -> list[ColumnKind]:
    """Return the kind of each of ``count`` columns, from the cells of each line."""
    kinds = []
    for number in range(count):
        cells = [cells[number][0] for cells in lines if number in cells and len(cells) > 1]
        # The first cells may be headers.
        cells = cells[1:] if len(cells) > 2 else cells
        figures = [cell for cell in cells if cell.is_figure or cell.is_period]
        if not cells or len(figures) < _FIGURE_SHARE * len(cells):
            kinds.append(ColumnKind.TEXT)
        elif sum(cell.is_period for cell in figures) > 0.5 * len(figures):
            kinds.append(ColumnKind.PERIOD)
        else:
            kinds.append(ColumnKind.FIGURE)
    return kinds


def _count_header_lines(lines: Sequence[TextLine], rows: Sequence[Cells], kinds: Sequence[ColumnKind]) -> int:
    """Return the number of header lines, which are above the first row with figures.

    Return 0 if the table has no figures, or none in the first six lines. ``rows`` contains the cells of each line.
    """
    if all(kind is ColumnKind.TEXT for kind in kinds):
        return 0
    count = 0
    for number, cells in enumerate(rows[:6]):
        if any(_is_body_cell(cells[column][0], kind) for column, kind in enumerate(kinds) if column in cells):
            return count
        above_figures = any(column and kinds[column] is not ColumnKind.TEXT for column in cells)
        if count == number > 0 and 0 not in cells and number + 1 < len(lines):
            # A second line of a header is not nearer to the row below it.
            above, below = (lines[place + 1].bottom - lines[place].bottom for place in (number - 1, number))
            above_figures |= below >= _NEARER * above
        if above_figures or (kinds[0] is not ColumnKind.TEXT and len(cells) > 1):
            count = number + 1
    return 0


def _is_body_cell(cell: Segment, kind: ColumnKind) -> bool:
    """Return whether a cell is no header: a figure, or a period in a column of periods."""
    if kind is ColumnKind.TEXT:
        return False
    return (cell.is_figure and not cell.is_period) or (kind is ColumnKind.PERIOD and cell.is_period)


def _join_lines(
    lines: Sequence[TextLine],
    cells: Sequence[Cells],
    columns: Sequence[Column],
    kinds: Sequence[ColumnKind],
    *,
    has_header: bool,
) -> list[GridRow]:
    """Return the rows, each joined from one or more lines. If ``has_header``, the first lines may be a header."""
    joiner = _LineJoiner(lines, cells, columns, kinds)
    groups = [[0]]
    written = _find_rows_written_by_cell(lines, cells, has_header=has_header)
    for number in range(1, len(lines)):
        is_first = written.get(number) == number
        if written.get(number, number) < number or (
            # Only a label of several lines begins above a row that is written cell by cell.
            joiner.continues(groups[-1], number)
            and not (is_first and any(set(cells[place]) != {0} for place in groups[-1]))
        ):
            groups[-1].append(number)
        else:
            groups.append([number])
    rows = []
    for group in groups:
        joined: Cells = {}
        for number in group:
            for column, segments in cells[number].items():
                joined.setdefault(column, []).extend(segments)
        rows.append(GridRow(joined, lines[group[0]].top, lines[group[-1]].bottom))
    return rows


def _find_rows_written_by_cell(
    lines: Sequence[TextLine], cells: Sequence[Cells], *, has_header: bool
) -> dict[int, int]:
    """Return the number of its row's first line, for the number of each line in a row that is written cell by cell.

    The text of such a row goes back up from the lines of one cell to those of the next cell. The text of a table that
    is written column by column does so too. Therefore, there must be two blocks of lines; if one of them can be a
    header, both must have several lines, or there must be three. A row must have a cell with a single line, and only
    one figure in each column.
    """
    lasts = accumulate((max(one.words[-1] for one in line.segments) for line in lines), max)
    firsts = accumulate((min(one.words[0] for one in line.segments) for line in reversed(lines)), min)
    # Numbers of lines before which a row can end, because no later word stands above them.
    ends = [
        number for number, (last, first) in enumerate(zip(lasts, [*firsts][-2::-1], strict=False), 1) if last < first
    ]
    spans = list(pairwise([0, *ends, len(lines)]))
    rows: dict[int, int] = {}
    has_rows = not has_header or len(spans) > _HEADER_AND_ROW or all(end - start > 1 for start, end in spans)
    for start, end in spans if len(spans) > 1 and has_rows else []:
        if end - start > 1 and _is_written_by_cell(cells[start:end]):
            rows |= dict.fromkeys(range(start, end), start)
    return rows


def _is_written_by_cell(lines: Sequence[Cells]) -> bool:
    """Return whether lines can be one row whose cells are written one after another; ``lines`` contains their cells."""
    segments = [(segment, column) for cells in lines for column, cell in cells.items() for segment in cell]
    segments.sort(key=lambda placed: placed[0].words[0])
    columns = [column for _, column in segments]
    single = {column for column in columns if columns.count(column) == 1}
    figures = {column for segment, column in segments if segment.is_figure}
    word_count = sum(len(segment.words) for segment, _ in segments)
    last_word = max(segment.words[-1] for segment, _ in segments)
    is_contiguous = last_word - segments[0][0].words[0] + 1 == word_count
    return bool(single) and figures <= single and columns == sorted(columns) and is_contiguous


class _LineJoiner:
    """Decide which lines continue the row above them."""

    def __init__(
        self, lines: Sequence[TextLine], cells: Sequence[Cells], columns: Sequence[Column], kinds: Sequence[ColumnKind]
    ) -> None:
        self._lines = lines
        self._cells = cells
        self._column_count = len(columns)
        self._figures = {number for number, kind in enumerate(kinds) if number and kind is not ColumnKind.TEXT}
        label_ends = [row[0][-1].x1 for row in cells if 0 in row and len(row) > 1]
        self._label_end = max(label_ends, default=columns[0].x1)
        self._size = median(line.size for line in lines)
        self._pitches = [0.0, *(lower.bottom - upper.bottom for upper, lower in pairwise(lines))]
        between = [
            pitch
            for number, pitch in enumerate(self._pitches)
            if number and self._has_label_and_cell(number) and self._has_label_and_cell(number - 1)
        ]
        self._row_pitch = median(between) if between else 1.4 * self._size
        self._close = self._find_close_pitch()

    def _has_label_and_cell(self, number: int) -> bool:
        """Return whether a line has a label and at least one other cell."""
        return 0 in self._cells[number] and len(self._cells[number]) > 1

    def _find_close_pitch(self) -> float:
        """Return the distance below which a line belongs to the row above it; 0 if distances do not show rows.

        If rows have several lines, the distances within rows are small, and those between rows are large. If many of
        the lines at a small distance have a cell in every column, or figures, these lines are rows themselves.
        """
        pitches = [(pitch, number) for number, pitch in enumerate(self._pitches) if number and pitch > 0]
        ordered = sorted(pitch for pitch, _ in pitches)
        spread, middle = max(
            ((high / low, (low + high) / 2) for low, high in pairwise(ordered) if low < 2 * self._size),
            default=(1.0, 0.0),
        )
        if spread < _SPREAD:
            return 0.0
        close = [number for pitch, number in pitches if pitch < middle]
        most = max(len(cells) for cells in self._cells)
        complete = sum(len(self._cells[number]) == most for number in close)
        with_figures = sum(
            (bool(self._figures & set(self._cells[number])) and self._has_label_and_cell(number))
            or self._repeats_figures(number)
            for number in close
        )
        far = len(pitches) - len(close)
        if not close or far < 1 or complete > 0.3 * len(close) or with_figures > 0.3 * len(close):
            return 0.0
        return middle

    def _repeats_figures(self, number: int) -> bool:
        """Return whether a line begins a new row, because the row above has a figure in the same column.

        The line must have a cell in every column except perhaps the first.
        """
        cells = self._cells[number]
        if len({0, *cells}) < max(len(other) for other in self._cells):
            return False
        above = next((other for other in reversed(self._cells[:number]) if set(other) != {0}), {})
        shared = self._figures & set(cells) & set(above)
        return any(cells[column][0].is_figure and above[column][0].is_figure for column in shared)

    def continues(self, group: Sequence[int], number: int) -> bool:
        """Return whether a line belongs to the row that consists of the lines ``group`` directly above it."""
        cells = self._cells[number]
        above: Cells = {}
        for place in group:
            above |= self._cells[place]
        line, upper = self._lines[number], self._lines[group[-1]]
        pitch = self._pitches[number]
        if line.top - upper.bottom > 0.9 * self._size:
            return False
        if pitch < self._close:
            return True
        figures = any(column in self._figures and cell[0].is_figure for column, cell in cells.items())
        label_only, above_label_only = set(cells) == {0}, set(above) == {0}
        if 0 not in cells:
            if not figures and self._is_nearer_below(number):
                return False
            if figures:
                return pitch < 0.8 * self._size and not set(above) & set(cells)
            return len(cells) < self._column_count - 1 or self._column_count == 2 or pitch < 0.8 * self._size
        if label_only and not above_label_only:
            return 0 in above and self._continues_label(above[0], cells[0], pitch)
        if not any(0 in self._cells[place] for place in group) and pitch < _INTERLEAVED * self._size:
            return True  # the lines above belong to a cell that is higher than the label beside it
        if above_label_only:
            return self._begins_label(above[0], cells[0], pitch)
        return False

    def _is_nearer_below(self, number: int) -> bool:
        """Return whether a line without label is nearer to the complete row below it than to the line above it."""
        below = number + 1
        if below == len(self._lines) or not self._has_label_and_cell(below):
            return False
        return self._pitches[below] < min(_NEARER * self._pitches[number], _INTERLEAVED * self._size)

    def _continues_label(self, above: Sequence[Segment], label: Sequence[Segment], pitch: float) -> bool:
        """Return whether a label without other cells continues the label of the row above."""
        first, second = above[-1], label[0]
        if second.bold != first.bold:
            return False
        return pitch < _CLOSE * self._row_pitch and self._lacks_room(first, second)

    def _begins_label(self, above: Sequence[Segment], label: Sequence[Segment], pitch: float) -> bool:
        """Return whether a line without other cells above a row is the first line of the row's label."""
        first, second = above[-1], label[0]
        if first.text.endswith(":") or second.bold != first.bold:
            return False
        deeper = second.x0 > first.x0 + 0.3 * second.size
        return self._lacks_room(first, second) and (pitch < _CLOSE * self._row_pitch or deeper)

    def _lacks_room(self, first: Segment, second: Segment) -> bool:
        """Return whether the column of labels has no room for the first word of ``second`` after ``first``."""
        head = second.text.split(" ", 1)[0]
        width = (second.x1 - second.x0) * len(head) / max(len(second.text), 1)
        return first.x1 + width > self._label_end - 0.5 * first.size
