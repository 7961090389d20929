"""Convert pieces of a page's text to trees of nodes, in which tables are tables."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pages.shared.nodes import Node, build_marked_text
from pages.shared.tables import build_table_part, find_rows
from rag_core.engine import Engine
from rag_core.types import PAGE_BREAK, ChunkSpan, PageKey, Passage, Span, Table, TableCell

# The tables of pages.
Tables = Mapping[PageKey, Sequence[Table]]
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def load_tables(engine: Engine, passages: Iterable[Passage]) -> Tables:
    """Return the stored tables of the first pages of passages."""
    return engine.documents.tables({passage.page_key for passage in passages})


def build_passage(passage: Passage, tables: Tables, marks: Iterable[Span]) -> list[Node]:
    """Return the text of a passage; ``marks`` are offsets in it."""
    on_page = tables.get(passage.page_key, ())
    return build_page_text(passage.text, passage.start, len(passage.first_page_text), on_page, marks)


def build_chunk(chunk: ChunkSpan, tables: Sequence[Table]) -> list[Node]:
    """Return the text of a chunk, given the tables of its first page."""
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
    """Return the spans of cells in each line as (begin, end, number of the table), without lines that have none."""
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
    """Yield the spans of the prose, and the number of each table at its first line."""
    begin = end = 0
    seen: set[int] = set()
    for line, spans in cells.items():
        if not spans:
            end = line[1]
            continue
        yield from _trim(text, begin, end)
        for number in sorted({number for *_, number in spans} - seen):
            seen.add(number)
            yield number
        # Words of the line that are in no cell follow the table; signs, such as dots between cells, are left out.
        position = line[0]
        for low, high, _ in [*sorted(spans), (line[1], line[1], -1)]:
            if any(map(str.isalnum, text[position:low])):
                yield from _trim(text, position, low)
            position = max(position, high)
        begin = end = line[1]
    yield from _trim(text, begin, end)


def _trim(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield a span without the blank lines around it; nothing if it is blank."""
    piece = text[begin:end]
    if piece.strip():
        low = begin + len(piece) - len(piece.lstrip("\n"))
        yield low, low + len(piece.strip("\n"))
