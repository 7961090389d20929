"""Find the tables of a page from the positions of its words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import zip_longest

from rag_core.parsing.layout.columns import find_columns
from rag_core.parsing.layout.lines import Line
from rag_core.parsing.tables.bands import Band, find_bands
from rag_core.parsing.tables.checks import is_table
from rag_core.parsing.tables.continuation import inherit_headers
from rag_core.parsing.tables.grid import ColumnKind, Grid, GridRow, build_grid
from rag_core.parsing.tables.headers import HeaderCell, build_headers
from rag_core.parsing.tables.row_spans import TOTAL, HorizontalRules, carry_cells
from rag_core.parsing.tables.segments import Segment, TextLine, build_text_lines
from rag_core.text.units import find_stated_unit, is_unit_cut
from rag_core.types.arrays import FloatArray
from rag_core.types.documents import WordBoxes
from rag_core.types.tables import Table, TableCell, TableRow

_CAPTION_WORDS = 18
# A table has at least this many rows.
_MIN_ROWS = 2
# A page may have columns of prose if this many segments with so many words are in each half.
_MIN_LONG, _LONG_SEGMENT = 4, 4
_BRACKETS = re.compile(r"\([^()]*\)")
_SPACE_AFTER_SIGN = re.compile(r"(?<=[$€£¥(]) (?=[(\d.,—–-])|(?<=[\d—–)]) (?=[%)])")
_INDENT = 0.45


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
    long = [segment for row in rows for segment in row.segments if len(segment.words) >= _LONG_SEGMENT]
    if not long:
        return False
    middle = (min(segment.x0 for segment in long) + max(segment.x1 for segment in long)) / 2
    left, right = (sum(segment.x1 < middle for segment in long), sum(segment.x0 > middle for segment in long))
    return left >= _MIN_LONG and right >= _MIN_LONG


def _split_regions(lines: Sequence[Line], rows: list[TextLine]) -> list[list[TextLine]]:
    """Return the lines of the page, divided at the gutter if the page has two columns of prose."""
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


class _TableBuilder:
    """Convert bands to tables of one page."""

    def __init__(self, spans: list[tuple[int, int]], text: str, rules: HorizontalRules) -> None:
        self._spans = spans
        self._text = text
        self._rules = rules

    def build(self, band: Band) -> Table | None:
        """Return the table of a band; ``None`` if the band is no table."""
        if not band.lines:
            return None
        grid = carry_cells(build_grid(band), self._rules)
        if not is_table(grid):
            return None
        units: list[str] = []
        if not grid.head and _begins_with_header(grid):
            first = grid.rows.pop(0)
            headers = [
                [HeaderCell(first.cells[column], column, 1) for column in sorted(first.cells)],
            ]
        else:
            units = [line.text for line in grid.head if _is_unit_line(line)]
            head = [line for line in grid.head if not _is_unit_line(line)]
            headers = build_headers(head, grid.columns)
        caption = _find_caption(band, grid)
        rows = [
            *(TableRow(tuple(self._header(cell) for cell in row)) for row in headers if row),
            *self._rows(grid),
        ]
        count = sum(bool(row) for row in headers)
        stub = [cell for row in rows[:count] for cell in row.cells]
        return Table(
            rows=tuple(rows),
            header_rows=count,
            columns=tuple((round(column.x0, 1), round(column.x1, 1)) for column in grid.columns),
            caption=caption,
            unit=find_unit([*units, *caption[::-1]], stub),
        )

    def _header(self, cell: HeaderCell) -> TableCell:
        text, spans = self._read(cell.segments)
        return TableCell(text, spans, cell.column, cell.column_span, is_header=True)

    def _rows(self, grid: Grid) -> list[TableRow]:
        levels = _find_indents(grid.rows)
        owners = self._find_owners(grid.rows)
        rows: list[TableRow] = []
        # The open sections: indentation, label, and whether rows below are known to be deeper.
        open_sections: list[tuple[int, str, bool]] = []
        for number, (row, level) in enumerate(zip(grid.rows, levels, strict=True)):
            cells = []
            for column in sorted(row.cells):
                text, spans = self._read(row.cells[column])
                is_carried = column in row.shared and owners[id(row.cells[column])] is not row
                cells.append(TableCell(text, () if is_carried else spans, column))
            following = levels[number + 1] if number + 1 < len(grid.rows) else -1
            is_section = len(cells) == 1 and following >= 0 and number + 1 < len(grid.rows)
            is_section = is_section and not grid.rows[number].cells.get(cells[0].column, [])[0].is_figure
            if row.label or is_section:
                while open_sections and _closes(open_sections[-1], level, is_section):
                    open_sections.pop()
            rows.append(TableRow(tuple(cells), tuple(label for _, label, _ in open_sections), level, is_section))
            if row.label and TOTAL.match(row.label[0].text):
                while open_sections and open_sections[-1][0] >= level:
                    open_sections.pop()
                    if open_sections and open_sections[-1][0] == level:
                        break
            deeper = following > level
            if is_section or (deeper and row.label and not TOTAL.match(grid.rows[number + 1].label[0].text)):
                open_sections.append((level, cells[0].text.rstrip(":"), deeper))
        return rows

    def _find_owners(self, rows: Sequence[GridRow]) -> dict[int, GridRow]:
        """Return, by the identity of each cell over several rows, the row whose text follows it on the page."""
        sharing: dict[int, list[tuple[int, GridRow]]] = defaultdict(list)
        starts: dict[int, int] = {}
        for row in rows:
            own = (cell for column, cell in row.cells.items() if column not in row.shared)
            start = min(self._spans[word][0] for cell in own for one in cell for word in one.words)
            for column in row.shared:
                cell = row.cells[column]
                starts[id(cell)] = self._spans[cell[0].words[0]][0]
                sharing[id(cell)].append((start, row))
        return {
            key: min(places, key=lambda place: (place[0] < starts[key], abs(place[0] - starts[key])))[1]
            for key, places in sharing.items()
        }

    def _read(self, segments: Sequence[Segment]) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the text of a cell, and its spans in the text of the page."""
        words = [word for segment in segments for word in segment.words]
        spans: list[tuple[int, int]] = []
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
        return _SPACE_AFTER_SIGN.sub("", text), tuple(spans)


def _closes(section: tuple[int, str, bool], level: int, is_section: bool) -> bool:
    """Return whether a row that is not deeper than an open section ends it."""
    indent, _, has_deeper = section
    return level < indent or (level == indent and (has_deeper or is_section))


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


def _find_indents(rows: Sequence[GridRow]) -> list[int]:
    """Return the level of indentation of each row; a row without a label has the level of the row above it."""
    if any(row.shared for row in rows):
        return [0] * len(rows)  # the rows below a label repeat it instead of being indented
    places = sorted({round(row.label[0].x0, 1) for row in rows if row.label and not row.is_label_only})
    if not places:
        return [0] * len(rows)
    size = next(row.label[0].size for row in rows if row.label)
    levels: dict[float, int] = {}
    level, last = 0, places[0]
    for place in places:
        if place - last > _INDENT * size:
            level, last = level + 1, place
        levels[place] = level
    if level > 5:  # the labels are centred or right-aligned
        return [0] * len(rows)
    found: list[int] = []
    for row in rows:
        if not row.label:
            found.append(found[-1] if found else 0)
            continue
        place = row.label[0].x0
        nearest = min(places, key=lambda other: abs(other - place))
        # A label without figures that is further right than others is a centred title of a part of the table.
        found.append(levels[nearest] if place - nearest < 2 * size else 0)
    return found


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
        if len(text.split()) > _CAPTION_WORDS or text.endswith((".", ";")):
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
    """Return what states the unit of a table: a line, or a header that is the only one with a unit or heads the labels.

    It may be empty.
    """
    of_lines = (find_stated_unit(line) for line in lines)
    if unit := next(filter(None, of_lines), ""):
        return unit
    stated = {cell.column: unit for cell in headers if (unit := find_stated_unit(cell.text))}
    return stated.get(0) or (next(iter(stated.values())) if len(set(stated.values())) == 1 else "")
