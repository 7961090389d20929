"""Write the tables of passages in Markdown for a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_core.llm.prompts import replace_instructions
from rag_core.types.chunks import PAGE_BREAK
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage
from rag_core.types.tables import Span, Table, TableRow

_WORD = re.compile(r"\w")
# Most lines of a caption above a table.
_MAX_CAPTION_LINES = 2


def write_tables(
    passages: Sequence[Passage],
    tables: Mapping[PageKey, Sequence[Table]],
    skipped: Mapping[PageKey, Sequence[Span]] | None = None,
) -> list[Passage]:
    """Return copies of passages in which tables with headers are written in Markdown.

    The headers of the columns and the unit of the table precede the rows. A row that is only partly in a passage is
    written in full. Use the copies only in prompts: their offsets do not fit their texts.

    Parameters
    ----------
    passages : sequence of Passage
    tables : mapping of PageKey to sequence of Table
        The tables of the pages of the passages.
    skipped : mapping of PageKey to sequence of Span, optional
        The spans of page headers and page footers, which are left out.
    """
    return [replace(passage, text=_write_passage(passage, tables, skipped or {})) for passage in passages]


def _write_passage(
    passage: Passage, tables: Mapping[PageKey, Sequence[Table]], skipped: Mapping[PageKey, Sequence[Span]]
) -> str:
    first, separator, second = passage.text.partition(PAGE_BREAK)
    left_out = skipped.get(passage.page_key, ())
    written = _write_text(first, passage.start, tables.get(passage.page_key, ()), left_out)
    if not separator:
        return written
    next_page = (passage.version_id, passage.page_index_end)
    return f"{written}{separator}{_write_text(second, passage.end - len(second), tables.get(next_page, ()))}"


def _write_text(text: str, shift: int, tables: Sequence[Table], left_out: Sequence[Span] = ()) -> str:
    """Return a part of a page, which starts at the offset ``shift``, with its tables in Markdown.

    The spans ``left_out``, given by offsets in the page like those of the tables, are omitted.
    """
    replaced: list[Span] = [(start - shift, end - shift) for start, end in left_out]
    blocks: list[tuple[int, str]] = []
    for table in tables:
        rows = [row for row in table.body if _find_spans_inside(row, shift, len(text))]
        # Without headers, Markdown adds nothing to the lines.
        if not rows or not any(cell.text for row in table.headers for cell in row.cells):
            continue
        spans = [span for row in (*table.headers, *rows) for span in _find_spans_inside(row, shift, len(text))]
        replaced += spans
        blocks.append((min(start for start, _ in spans), _write_table(table, rows, text)))
    if not replaced:
        return text
    blocks.sort()
    lines: list[str] = []
    start = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        while blocks and blocks[0][0] < end:
            lines.append(blocks.pop(0)[1])
        inside = sorted((max(first, start), min(last, end)) for first, last in replaced if first < end and last > start)
        rest = _remove_spans(text, start, end, inside) if inside else line.rstrip("\n")
        # A line of cells may also contain words beside the table.
        if not inside or _WORD.search(rest):
            lines.append(rest)
        start = end
    return "\n".join(lines)


def _find_spans_inside(row: TableRow, shift: int, length: int) -> list[Span]:
    """Return the spans of a row that overlap the ``length`` characters from ``shift`` on, relative to ``shift``."""
    spans = ((start - shift, end - shift) for cell in row.cells for start, end in cell.spans)
    return [(start, end) for start, end in spans if start < length and end > 0]


def _write_table(table: Table, rows: Sequence[TableRow], text: str) -> str:
    """Return rows in Markdown, together with the section rows to which they belong.

    Lines of the caption and of the unit precede the rows if ``text`` does not contain these lines.
    """
    above = dict.fromkeys((*table.caption[-_MAX_CAPTION_LINES:], table.unit_above))
    stated = " ".join(text.split())
    missing = [line for line in above if line and " ".join(line.split()) not in stated]
    sections = [row for row in table.body if row.is_section and row not in rows and row.label in rows[0].section]
    # Replace instructions cell by cell: they are recognized less reliably in a line with other cells.
    checked = replace(table, rows=tuple(_replace_in_cells(row) for row in table.rows))
    return "\n".join([*missing, checked.to_markdown([_replace_in_cells(row) for row in (*sections, *rows)])])


def _replace_in_cells(row: TableRow) -> TableRow:
    return replace(row, cells=tuple(replace(cell, text=replace_instructions(cell.text)) for cell in row.cells))


def _remove_spans(text: str, start: int, end: int, spans: Sequence[Span]) -> str:
    """Return the words of ``text[start:end]`` outside the spans, which are sorted."""
    pieces = []
    for first, last in spans:
        pieces.append(text[start:first])
        start = max(start, last)
    return " ".join(" ".join([*pieces, text[start:end]]).split())
