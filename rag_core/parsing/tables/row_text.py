"""Join the lines of table rows whose cells have several lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.page_text import LINE, PARAGRAPH
from rag_core.types.tables import Table, TableRow

# With fewer cells, a row may be two texts side by side.
_MIN_CELLS = 3


def join_row_lines(
    lines: Sequence[Line], spans: Sequence[tuple[int, int]], separators: list[str], tables: Sequence[Table], text: str
) -> list[str]:
    """Return the separators of lines, with a blank in place of each line end inside a row that is written cell by cell.

    Parameters
    ----------
    lines : sequence of Line
        Lines of the page in reading order.
    spans : sequence of tuple of int
        Start and end of each line in the text.
    separators : list of str
        Text before each line except the first.
    tables : sequence of Table
    text : str
    """
    joined = list(separators)
    for row in (row for table in tables for row in table.body):
        place = _find_place(row, text)
        if place is None or "\n" not in text[slice(*place)]:
            continue
        inside = [number for number, (start, end) in enumerate(spans) if place[0] < end and start < place[1]]
        if any(lines[second].box[3] < lines[first].box[1] for first, second in pairwise(inside)):
            for number in inside[1:]:
                if joined[number - 1] in (LINE, PARAGRAPH):
                    joined[number - 1] = " "
    return joined


def _find_place(row: TableRow, text: str) -> tuple[int, int] | None:
    """Return the start and end of a row in the text; ``None`` if its cells do not follow each other there."""
    places = [span for cell in row.cells for span in cell.spans]
    if len(row.cells) < _MIN_CELLS or not places:
        return None
    if any(second[0] < first[1] or text[first[1] : second[0]].strip() for first, second in pairwise(places)):
        return None
    return places[0][0], places[-1][1]
