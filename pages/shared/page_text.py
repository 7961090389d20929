"""Convert pieces of a page's text to trees of nodes, in which tables are tables."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pages.shared.nodes import Node, build_marked_text
from pages.shared.tables import build_table_part, find_rows
from rag_core.engine import Engine
from rag_core.types.chunks import PAGE_BREAK, ChunkSpan
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage
from rag_core.types.tables import Span, Table, TableCell

# The tables of each page.
Tables = Mapping[PageKey, Sequence[Table]]
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# Between sentences, and between paragraphs.
_GAP = re.compile(r"(?<=[.!?])\s+|\s*\n\s*\n\s*")
# The end of a line that its paragraph continues: no blank line and no item of a list follows.
_LINE_END = re.compile(r"(?<!\n)\n(?![\n•▪◦‣·∙–*-]|\(?\w{1,3}[.)])")
# Maximum number of characters of the sentences on each side of a quote, and of a text without quotes.
_AROUND, _BEGINNING = 240, 480


def load_tables(engine: Engine, passages: Iterable[Passage]) -> Tables:
    """Return the stored tables of the first pages of passages."""
    return engine.documents.tables({passage.page_key for passage in passages})


def build_passage(passage: Passage, tables: Tables, marks: Iterable[Span]) -> list[Node]:
    """Return the nodes of a passage's text; ``marks`` are offsets in that text."""
    on_page = tables.get(passage.page_key, ())
    return build_page_text(passage.text, passage.start, len(passage.first_page_text), on_page, marks)


def build_quote_excerpts(passage: Passage, tables: Tables, marks: Iterable[Span]) -> list[Node]:
    """Return the marked parts of a passage, each with the sentences around it; the beginning if nothing is marked."""
    marks = list(marks)
    on_page, length = tables.get(passage.page_key, ()), len(passage.first_page_text)
    nodes: list[Node] = []
    for low, high in find_surroundings(passage.text, marks):
        moved = [(start - low, end - low) for start, end in marks]
        blocks = build_page_text(passage.text[low:high], passage.start + low, min(high, length) - low, on_page, moved)
        nodes.append({"t": "quote", "c": [_join_lines(one) if one["t"] == "p" else one for one in blocks]})
    return nodes


def _join_lines(node: Node) -> Node:
    """Return a paragraph without the line breaks of the page."""
    return {**node, "c": [{**one, "s": _LINE_END.sub(" ", one["s"])} if "s" in one else one for one in node["c"]]}


def find_surroundings(text: str, marks: Sequence[Span]) -> list[Span]:
    """Return the span of each mark, extended by the sentences before and after it, in ascending order.

    On each side, a span adds about `_AROUND` characters at most. Spans that touch are merged. Without marks, return the
    span of the beginning of the text.
    """
    if not marks:
        return [(0, _move_to_blank(text, _BEGINNING))] if text.strip() else []
    gaps = [match.span() for match in _GAP.finditer(text)]
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)]
    spans: list[Span] = []
    for start, end in sorted(marks):
        low = max(starts[max(0, bisect_right(starts, start) - 2)], _move_to_blank(text, start - _AROUND))
        high = min(ends[min(len(ends) - 1, bisect_left(ends, end) + 1)], _move_to_blank(text, end + _AROUND))
        if spans and low <= spans[-1][1]:
            low, high = spans[-1][0], max(high, spans.pop()[1])
        spans.append((low, high))
    return spans


def _move_to_blank(text: str, position: int) -> int:
    """Return the position of the first blank at or after a position, or the end of the text without a blank.

    A position that is not positive becomes 0.
    """
    if position <= 0:
        return 0
    return next((place for place in range(position, len(text)) if text[place].isspace()), len(text))


def build_chunk(chunk: ChunkSpan, tables: Sequence[Table]) -> list[Node]:
    """Return the nodes of a chunk's text, given the tables of its first page."""
    return build_page_text(chunk.text, chunk.start, len(chunk.text.partition(PAGE_BREAK)[0]), tables)


def build_page_text(
    text: str, start: int, length: int, tables: Sequence[Table], marks: Iterable[Span] = ()
) -> list[Node]:
    """Return a piece of a page's text as paragraphs and tables.

    Parameters
    ----------
    text : str
    start : int
        Offset of the text in the text of the page.
    length : int
        Number of characters that are on the page; the rest is on the next page.
    tables : sequence of Table
        The tables of the page.
    marks : iterable of Span
        Offsets in ``text``.
    """
    marks = list(marks)
    shown = [table for table in tables if not table.is_list and find_rows(table, start, start + length)]
    if not shown:
        return build_marked_text(text, marks)

    def is_marked(cell: TableCell) -> bool:
        return any(low < end - start and high > begin - start for begin, end in cell.spans for low, high in marks)

    nodes: list[Node] = []
    for piece in _split_text(text, _find_cells_by_line(text, start, length, shown)):
        if isinstance(piece, int):
            nodes += build_table_part(shown[piece], start, start + length, is_marked)
        else:
            low, high = piece
            nodes += build_marked_text(text[low:high], [(one - low, other - low) for one, other in marks])
    return nodes


def _find_cells_by_line(
    text: str, start: int, length: int, tables: Sequence[Table]
) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """Map the span of each line to the spans of its cells as (begin, end, number of the table), all in ``text``."""
    lines = [match.span() for match in _LINE.finditer(text)]
    starts = [begin for begin, _ in lines]
    found: dict[tuple[int, int], list[tuple[int, int, int]]] = {line: [] for line in lines}
    for number, table in enumerate(tables):
        for begin, end in (span for row in table.rows for cell in row.cells for span in cell.spans):
            if begin - start < length and end > start:
                line = lines[bisect_right(starts, max(0, begin - start)) - 1]
                found[line].append((max(line[0], begin - start), end - start, number))
    return found


def _split_text(text: str, cells: Mapping[tuple[int, int], Sequence[tuple[int, int, int]]]) -> Iterator[int | Span]:
    """Yield the spans of prose and the numbers of tables, in order; a table takes the place of its first line."""
    begin = end = 0
    seen: set[int] = set()
    for line, spans in cells.items():
        if not spans:
            end = line[1]
            continue
        yield from _trim_span(text, begin, end)
        for number in sorted({number for *_, number in spans} - seen):
            seen.add(number)
            yield number
        # Words of the line that are in no cell follow the table; signs, such as dots between cells, are left out.
        position = line[0]
        for low, high, _ in [*sorted(spans), (line[1], line[1], -1)]:
            if any(map(str.isalnum, text[position:low])):
                yield from _trim_span(text, position, low)
            position = max(position, high)
        begin = end = line[1]
    yield from _trim_span(text, begin, end)


def _trim_span(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield a span without the blank lines around it; nothing if it is blank."""
    piece = text[begin:end]
    if piece.strip():
        low = begin + len(piece) - len(piece.lstrip("\n"))
        yield low, low + len(piece.strip("\n"))
