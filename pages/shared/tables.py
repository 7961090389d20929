"""Convert tables of documents to trees of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pages.shared.nodes import Node, build_text_node
from rag_core.types.answers import Answer
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.cited_tables import CitedTable
from rag_core.types.tables import Table, TableCell, TableRow

IsMarked = Callable[[TableCell], bool]
# Maximum number of letters in a cell that counts as a figure.
_MAX_LETTERS = 3
_MAX_INDENT = 6
_DASHES = frozenset("-–—−")


def build_cited_tables(answer: Answer, sources: Mapping[int, str]) -> list[Node]:
    """Return the table rows that an answer cites, each table below its source and its citation.

    The list is empty for an answer that consists of excerpts or whose text contains a table.
    """
    if answer.consists_of_excerpts or any(line.startswith("|") for line in answer.text.splitlines()):
        return []
    nodes: list[Node] = []
    for cited in answer.tables:
        title = " · ".join(filter(None, (sources.get(cited.marker), cited.table.unit_above)))
        nodes.append({"t": "caption", "c": [build_text_node(f"{title} "), {"t": "cite", "n": cited.marker}]})
        nodes.append(build_cited_table(cited, title))
    return nodes


def build_cited_table(cited: CitedTable, name: str) -> Node:
    """Return the cited rows of a table below its header, with the cited cells marked."""
    body = [(cited.table.row_label(row), row) for row in cited.table.body]
    return _build_table(cited.table, body, cited.is_cited, name)


def build_table_part(table: Table, start: int, end: int, is_marked: IsMarked) -> list[Node]:
    """Return the header of a table, and those of its rows that lie within a span of the page's text.

    If the table begins before the span, its caption and its unit are added above it. If the first rows are left out,
    the section of the first remaining row is added below the header.
    """
    rows = find_rows(table, start, end)
    body = [(row.label, row) for row in rows]
    title = " ".join(dict.fromkeys([*table.caption, table.unit_above])).strip()
    shown_above: list[Node] = []
    if table.start < start and title:
        shown_above.append({"t": "caption", "c": [build_text_node(title)]})
    above = rows[0].section if rows[0] is not table.body[0] else ()
    return [*shown_above, _build_table(table, body, is_marked, title, above)]


def find_rows(table: Table, start: int, end: int) -> list[TableRow]:
    """Return the rows below the header that have a cell in a span of the page's text."""
    return [row for row in table.body if any(cell.start < end and cell.end > start for cell in row.cells)]


def is_figure(text: str) -> bool:
    """Return whether the text of a cell is a dash, or a figure with at most `_MAX_LETTERS` letters, such as a unit."""
    letters = sum(map(str.isalpha, text))
    return letters <= _MAX_LETTERS and (any(map(str.isdecimal, text)) or text.strip() in _DASHES)


def find_figure_columns(rows: Sequence[Sequence[str]]) -> set[int]:
    """Return the indices of the columns in which most cells with text are figures.

    ``rows`` are the texts of the cells of each row below the header.
    """
    columns = zip(*rows, strict=True)
    found = set()
    for number, texts in enumerate(columns):
        filled = [text for text in texts if text.strip()]
        if filled and 2 * sum(map(is_figure, filled)) > len(filled):
            found.add(number)
    return found


def align_figures(rows: Sequence[Node]) -> list[Node]:
    """Return the rows of a table node, with the cells in columns of figures aligned on the right.

    The first row is the header.
    """
    right = find_figure_columns([[_join_text(cell) for cell in row["c"]] for row in rows[1:]])
    return [{**row, "c": [{**cell, "right": column in right} for column, cell in enumerate(row["c"])]} for row in rows]


def _join_text(node: Node) -> str:
    return str(node.get("s", "")) + "".join(map(_join_text, node.get("c", ())))


def _build_table(
    table: Table, body: Sequence[tuple[str, TableRow]], is_marked: IsMarked, name: str, above: Sequence[str] = ()
) -> Node:
    width = len(table.columns)
    right = find_figure_columns([[cell.text if cell else "" for cell in _list_cells(row, width)] for _, row in body])
    rows = [_build_row(row.label, row, width, right, is_marked) for row in table.headers]
    if above:
        rows.append({"t": "row", "c": [_build_section(HEADING_SEPARATOR.join(above), width, 0)]})
    for label, row in body:
        if row.is_section:
            rows.append({"t": "row", "c": [_build_section(label, width, row.indent)]})
        else:
            rows.append(_build_row(label, row, width, right, is_marked))
    return {"t": "table", "s": name, "c": rows}


def _list_cells(row: TableRow, width: int) -> list[TableCell | None]:
    return [row.cell(column) for column in range(width)]


def _build_section(label: str, width: int, indent: int) -> Node:
    return {
        "t": "td",
        "span": width,
        "indent": min(indent, _MAX_INDENT),
        "c": [{"t": "b", "c": [build_text_node(label)]}],
    }


def _build_row(label: str, row: TableRow, width: int, right: set[int], is_marked: IsMarked) -> Node:
    kind = "th" if any(cell.is_header for cell in row.cells) else "td"
    nodes: list[Node] = []
    before: TableCell | None = None
    for column, cell in enumerate(_list_cells(row, width)):
        if cell is not None and cell is before:
            nodes[-1]["span"] += 1
            continue
        before = cell
        is_label = column == 0 and kind == "td"
        text = label if is_label else cell.text if cell else ""
        nodes.append(
            {
                "t": kind,
                "span": 1,
                "right": column in right,
                "marked": cell is not None and is_marked(cell),
                "indent": min(row.indent, _MAX_INDENT) if is_label else 0,
                "c": [build_text_node(text)] if text else [],
            }
        )
    return {"t": "row", "c": nodes}
