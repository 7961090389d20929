"""Find the tables of a page from the positions of its words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rag_core.parsing.layout.columns import find_columns
from rag_core.parsing.layout.lines import Line
from rag_core.parsing.tables.bands import Band, find_bands
from rag_core.parsing.tables.checks import is_table
from rag_core.parsing.tables.continuation import inherit_headers
from rag_core.parsing.tables.grid import ColumnKind, Grid, GridRow, build_grid
from rag_core.parsing.tables.headers import HeaderCell, build_headers
from rag_core.parsing.tables.row_spans import HorizontalRules, carry_cells
from rag_core.parsing.tables.segments import Segment, TextLine, build_text_lines
from rag_core.text.units import find_stated_unit, is_unit_cut
from rag_core.types.arrays import FloatArray
from rag_core.types.documents import WordBoxes
from rag_core.types.tables import Span, Table, TableCell, TableRow

TOTAL = re.compile(r"\W*(?:sub)?totals?\b", re.IGNORECASE)
# Longer lines above a table are sentences, not its title.
_MAX_CAPTION_WORDS = 18
_MIN_ROWS = 2
# A page may have columns of prose if each half has at least this many segments with at least this many words.
_MIN_LONG_SEGMENTS = 4
_MIN_LONG_WORDS = 4
_BRACKETS = re.compile(r"\([^()]*\)")
# The space between a sign, such as "$" or "%", and its figure.
_SPACE_BESIDE_SIGN = re.compile(r"(?<=[$€£¥(]) (?=[(\d.,—–-])|(?<=[\d—–)]) (?=[%)])")
# Minimum step between two levels of indentation, as a share of the height of the characters.
_MIN_INDENT = 0.45
_MAX_LEVELS = 5


def find_tables(
    lines: Sequence[Line], text: str, boxes: WordBoxes, find_rules: Callable[[], FloatArray]
) -> tuple[Table, ...]:
    """Return the tables of a page, from the top down.

    Parameters
    ----------
    lines : sequence of Line
        Lines of the page in reading order.
    text : str
        Text of the page, which begins with these lines.
    boxes : WordBoxes
        Boxes of the words of the lines.
    find_rules : callable
        Returns the boxes of the rules of the page in the coordinates of the lines, shape (n, 4).
    """
    if not lines:
        return ()
    rows = build_text_lines(lines)
    if sum(len(row.segments) > 1 for row in rows) < _MIN_ROWS:
        return ()
    spans = list(zip(boxes.starts.tolist(), boxes.ends.tolist(), strict=True))
    builder = _TableBuilder(spans, text, HorizontalRules(find_rules))
    tables: list[Table] = []
    for region in _split_regions(lines, rows):
        for band in find_bands(region):
            tables += [table] if (table := builder.build(band)) else []
    tables.sort(key=lambda table: table.start)
    for number in range(1, len(tables)):
        tables[number] = inherit_headers(tables[number - 1], tables[number])
    return tuple(tables)


def _may_have_columns(rows: Sequence[TextLine]) -> bool:
    """Return whether several long segments are in the left half of the text, and several in its right half."""
    long = [segment for row in rows for segment in row.segments if len(segment.words) >= _MIN_LONG_WORDS]
    if not long:
        return False
    middle = (min(segment.x0 for segment in long) + max(segment.x1 for segment in long)) / 2
    left, right = (sum(segment.x1 < middle for segment in long), sum(segment.x0 > middle for segment in long))
    return left >= _MIN_LONG_SEGMENTS and right >= _MIN_LONG_SEGMENTS


def _split_regions(lines: Sequence[Line], rows: list[TextLine]) -> list[list[TextLine]]:
    """Return the rows of the page, divided at the gutter if the page has two columns of prose."""
    columns = find_columns([run for line in lines for run in line.runs]) if _may_have_columns(rows) else None
    if columns is None:
        return [rows]
    above: list[TextLine] = []
    left: list[TextLine] = []
    right: list[TextLine] = []
    below: list[TextLine] = []
    for row in rows:
        if row.bottom <= columns.top:
            above.append(row)
        elif row.top >= columns.bottom:
            below.append(row)
        else:
            for side, segments in (
                (left, [segment for segment in row.segments if segment.middle < columns.gutter]),
                (right, [segment for segment in row.segments if segment.middle >= columns.gutter]),
            ):
                if segments:
                    side.append(TextLine(segments))
    return [above, left, right, below]


@dataclass(frozen=True, slots=True)
class _OpenSection:
    """A section to which the next rows may belong.

    ``level`` is the indentation of its label, and ``has_deeper`` says whether the row below the label is indented more.
    """

    level: int
    label: str
    has_deeper: bool

    def is_ended_by(self, level: int, is_section: bool) -> bool:
        """Return whether a row at a level of indentation ends the section."""
        return level < self.level or (level == self.level and (self.has_deeper or is_section))


class _TableBuilder:
    """Convert the bands of one page to tables."""

    def __init__(self, spans: list[Span], text: str, rules: HorizontalRules) -> None:
        self._spans = spans
        self._text = text
        self._rules = rules

    def build(self, band: Band) -> Table | None:
        """Return the table of a band; ``None`` if the band is no table."""
        grid = carry_cells(build_grid(band), self._rules)
        if not is_table(grid):
            return None
        units: list[str] = []
        if not grid.head and _begins_with_header(grid):
            first = grid.rows.pop(0)
            headers = [[HeaderCell(first.cells[column], column, 1) for column in sorted(first.cells)]]
        else:
            units = [line.text for line in grid.head if _is_unit_line(line)]
            head = [line for line in grid.head if not _is_unit_line(line)]
            headers = build_headers(head, grid.columns)
        caption = _find_caption(band, grid)
        header_rows = [TableRow(tuple(map(self._build_header_cell, row))) for row in headers]
        header_cells = [cell for row in header_rows for cell in row.cells]
        return Table(
            rows=(*header_rows, *self._build_rows(grid)),
            header_rows=len(header_rows),
            columns=tuple((round(column.x0, 1), round(column.x1, 1)) for column in grid.columns),
            caption=caption,
            unit=find_unit([*units, *caption[::-1]], header_cells),
        )

    def _build_header_cell(self, cell: HeaderCell) -> TableCell:
        text, spans = self._read_cell(cell.segments)
        return TableCell(text, spans, cell.column, cell.column_span, is_header=True)

    def _build_rows(self, grid: Grid) -> list[TableRow]:
        """Return the rows below the headers, each with the sections that contain it."""
        levels = _find_levels(grid.rows)
        owners = self._find_owners(grid.rows)
        rows: list[TableRow] = []
        sections: list[_OpenSection] = []
        for number, (row, level) in enumerate(zip(grid.rows, levels, strict=True)):
            cells = []
            for column in sorted(row.cells):
                text, spans = self._read_cell(row.cells[column])
                is_carried = column in row.shared and owners[id(row.cells[column])] is not row
                cells.append(TableCell(text, () if is_carried else spans, column))
            is_last = number + 1 == len(grid.rows)
            is_section = len(cells) == 1 and not is_last and not row.cells[cells[0].column][0].is_figure
            if row.label or is_section:
                while sections and sections[-1].is_ended_by(level, is_section):
                    sections.pop()
            rows.append(TableRow(tuple(cells), tuple(section.label for section in sections), level, is_section))
            if row.label and TOTAL.match(row.label[0].text):
                while sections and sections[-1].level >= level:
                    sections.pop()
                    if sections and sections[-1].level == level:
                        break
            has_deeper = not is_last and levels[number + 1] > level
            if is_section or (has_deeper and row.label and not TOTAL.match(grid.rows[number + 1].label[0].text)):
                sections.append(_OpenSection(level, cells[0].text.rstrip(":"), has_deeper))
        return rows

    def _find_owners(self, rows: Sequence[GridRow]) -> dict[int, GridRow]:
        """Return the row that owns the text of each cell over several rows, by the identity of the cell.

        The owner is the first of the cell's rows whose other cells follow the cell in the text of the page, or else the
        row whose other cells are nearest there.
        """
        sharing: dict[int, list[tuple[int, GridRow]]] = defaultdict(list)
        cell_starts: dict[int, int] = {}
        for row in rows:
            own = (cell for column, cell in row.cells.items() if column not in row.shared)
            row_start = min(self._spans[word][0] for cell in own for segment in cell for word in segment.words)
            for column in row.shared:
                cell = row.cells[column]
                cell_starts[id(cell)] = self._spans[cell[0].words[0]][0]
                sharing[id(cell)].append((row_start, row))
        return {
            key: min(starts, key=lambda start: (start[0] < cell_starts[key], abs(start[0] - cell_starts[key])))[1]
            for key, starts in sharing.items()
        }

    def _read_cell(self, segments: Sequence[Segment]) -> tuple[str, tuple[Span, ...]]:
        """Return the text of a cell, and its spans in the text of the page."""
        words = [word for segment in segments for word in segment.words]
        spans: list[Span] = []
        for word in words:
            start, end = self._spans[word]
            end_before = spans[-1][1] if spans else start
            gap = self._text[end_before:start].strip()
            # The page text keeps the hyphen at the end of a line. After a figure, it may be the sign of another cell.
            is_hyphen = gap == "-" and self._text[end_before - 1].isalpha()
            if spans and start >= end_before and (not gap or is_hyphen):
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        text = " ".join(segment.text for segment in segments)
        return _SPACE_BESIDE_SIGN.sub("", text), tuple(spans)


def _begins_with_header(grid: Grid) -> bool:
    """Return whether the first row of a table without figures contains headers."""
    if len(grid.rows) < 3 or any(kind is not ColumnKind.TEXT for kind in grid.kinds[1:]):
        return False
    first, others = grid.rows[0], grid.rows[1:]
    if len(first.cells) < len(grid.columns) - 1:
        return False
    if first.bold and not all(row.bold for row in others):
        return True
    if len(grid.columns) == 2:
        return False
    return not any(char.isdigit() for cell in first.cells.values() for segment in cell for char in segment.text)


def _find_levels(rows: Sequence[GridRow]) -> list[int]:
    """Return the level of indentation of each row; a row without a label has the level of the row above it."""
    unindented = [0] * len(rows)
    if any(row.shared for row in rows):
        return unindented  # the rows below a label repeat it instead of being indented
    indents = sorted({round(row.label[0].x0, 1) for row in rows if row.label and not row.is_label_only})
    if not indents:
        return unindented
    size = next(row.label[0].size for row in rows if row.label)
    level_of_indent: dict[float, int] = {}
    level, last = 0, indents[0]
    for indent in indents:
        if indent - last > _MIN_INDENT * size:
            level, last = level + 1, indent
        level_of_indent[indent] = level
    if level > _MAX_LEVELS:  # the labels are centred or right-aligned
        return unindented
    levels: list[int] = []
    for row in rows:
        if not row.label:
            levels.append(levels[-1] if levels else 0)
            continue
        left = row.label[0].x0
        nearest = min(indents, key=lambda indent: abs(indent - left))
        # A label without figures far to the right of the other labels is the centred title of a part of the table.
        levels.append(level_of_indent[nearest] if left - nearest < 2 * size else 0)
    return levels


def _find_caption(band: Band, grid: Grid) -> tuple[str, ...]:
    """Return the short lines directly above a table, and a sentence that states its unit."""
    left, right = grid.columns[0].x0, grid.columns[-1].x1
    caption: list[str] = []
    below = (band.head or band.lines)[0]
    for line, above in zip_longest(band.above[::-1], band.above[-2::-1]):
        segments = [segment for segment in line.segments if segment.x1 > left and segment.x0 < right]
        is_end = above is not None and is_unit_cut(above.text, line.text)
        if not segments and len(line.segments) == 1 and (is_end or find_stated_unit(line.text)):
            segments = line.segments  # the table is centred, and the line above it begins at the margin
        is_row = sum(segment.is_figure for segment in segments) > 1
        if not segments or is_row or below.top - line.bottom > 2.6 * line.size:
            break
        text = " ".join(segment.text for segment in segments)
        if len(text.split()) > _MAX_CAPTION_WORDS or text.endswith((".", ";")):
            text = f"{above.text} {text}" if above and is_end else text
            caption = [text, *caption] if find_stated_unit(text) else caption
            break
        if caption and is_unit_cut(text, caption[0]):
            text = f"{text} {caption.pop(0)}"
        caption.insert(0, text)
        below = line
    return tuple(caption)


def _is_unit_line(line: TextLine) -> bool:
    """Return whether a line contains only a unit in brackets, such as "(in thousands)"."""
    return len(line.segments) == 1 and _BRACKETS.fullmatch(line.text) is not None and bool(find_stated_unit(line.text))


def find_unit(lines: Sequence[str], headers: Sequence[TableCell]) -> str:
    """Return the unit of a table; empty if it is not stated.

    The unit is stated by the first of ``lines`` with a unit, or else by the header of the labels, or else by the other
    headers if they agree.
    """
    if unit := next(filter(None, map(find_stated_unit, lines)), ""):
        return unit
    units = {cell.column: unit for cell in headers if (unit := find_stated_unit(cell.text))}
    return units.get(0) or (next(iter(units.values())) if len(set(units.values())) == 1 else "")
