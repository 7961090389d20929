"""Convert the excerpts of an answer to trees of nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pages.shared.evidence import name_place
from pages.shared.nodes import Node, build_marked_text, build_text_node
from pages.shared.page_text import Tables, find_surroundings
from pages.shared.tables import build_cited_table, build_table_part
from pages.shared.text import truncate
from pages.shared.translation import _, ngettext
from rag_core.engine import Engine
from rag_core.types.answers import Answer, Citation
from rag_core.types.cited_tables import CitedTable
from rag_core.types.documents import PageKey
from rag_core.types.tables import Table, TableRow

# Maximum width of a section's heading, in columns of text, and of a quote that is not shortened, in characters.
_HEADING_WIDTH, _LONGEST_QUOTE = 70, 600
_GAP = " … "
# In pixels: the height of the rows of a table that are shown at first, of a line, and of the padding of a row. In
# characters: the width of a table, and of its narrowest column.
_TABLE_HEIGHT, _LINE, _PADDING, _TABLE_WIDTH, _NARROWEST = 250, 22, 10, 80, 12


def load_whole_tables(engine: Engine, answer: Answer) -> Tables:
    """Return the stored tables of the pages from which the excerpts of an answer show rows.

    The result is empty for an answer that does not consist of excerpts.
    """
    pages: set[PageKey] = {(one.version_id, one.page_index) for one in answer.tables}
    return engine.documents.tables(pages) if pages and answer.consists_of_excerpts else {}


def build_excerpts(
    answer: Answer, citations: Sequence[Citation], tables: Tables | None = None, opened: Collection[int] = ()
) -> list[Node]:
    """Return each excerpt below its document, page and section: marked sentences in a quote, or rows of a table.

    Parameters
    ----------
    answer : Answer
    citations : sequence of Citation
    tables : mapping, optional
        The result of `load_whole_tables`. A table of which the answer shows only some rows gets a button.
    opened : collection of int
        Places in ``answer.tables`` of the tables that the reader wants to see whole.
    """
    headings = {one.chunk_id: one.heading for one in answer.passages}
    nodes: list[Node] = []
    shown: list[CitedTable] = []
    for citation in citations:
        table = _find_table(answer, citation)
        if table in shown or _states_unit_of_table(answer, citation):
            continue
        section = truncate(headings.get(citation.chunk_id, ""), _HEADING_WIDTH)
        unit = table.table.unit_line if table else ""
        # A line with the unit above a table is often the heading of its section too.
        parts = (citation.document, name_place(answer, citation), section, unit)
        source = " · ".join(dict.fromkeys(filter(None, parts)))
        nodes.append({"t": "caption", "c": [build_text_node(f"{source} "), {"t": "cite", "n": citation.marker}]})
        if table is None:
            nodes.append(_build_quote(citation))
        else:
            shown.append(table)
            number = answer.tables.index(table)
            whole = _find_whole_table(table, tables or {})
            if whole and number in opened:
                nodes += build_table_part(whole, whole.start, whole.end, table.is_cited)
            else:
                rows = _keep_near_rows(table) if whole else table
                nodes.append(build_cited_table(rows, f"{citation.document}, {name_place(answer, citation)}"))
            if whole:
                many = ngettext(
                    "Show the whole table ({number} row)", "Show the whole table ({number} rows)", len(whole.body)
                )
                label = _("Show fewer rows") if number in opened else many
                nodes.append({"t": "toggle", "n": number, "s": label})
    return nodes


def _find_table(answer: Answer, citation: Citation) -> CitedTable | None:
    """Return the table in which the quote of a citation begins a row; if there is none, the citation's first table."""
    found = answer.find_cited_tables(citation)
    begins = (one for one in found if any(cell.start == citation.start for row in one.table.body for cell in row.cells))
    return next(begins, found[0] if found else None)


def _states_unit_of_table(answer: Answer, citation: Citation) -> bool:
    """Return whether a quote is only the line with the unit of a table, which the answer shows with the table."""
    words = citation.quote.split()
    # The unit of a table over several pages stands on the first of them.
    tables = (one.table for one in answer.tables if one.version_id == citation.version_id)
    return any(one.unit_line.split() == words for one in tables)


def _find_whole_table(cited: CitedTable, tables: Tables) -> Table | None:
    """Return the stored table that contains the cited rows and further ones; ``None`` if there is none."""
    on_page = tables.get((cited.version_id, cited.page_index), ())
    found = (one for one in on_page if one.columns == cited.table.columns and set(cited.table.rows) <= set(one.rows))
    return next((one for one in found if len(one.rows) > len(cited.table.rows)), None)


def _keep_near_rows(cited: CitedTable) -> CitedTable:
    """Return the table with only the rows near the cited cells that fit on the screen; all rows if no cell is cited."""
    body, table = cited.table.body, cited.table
    marked = [number for number, row in enumerate(body) if any(map(cited.is_cited, row.cells))]
    if not marked:
        return cited
    room = _TABLE_HEIGHT - sum(_estimate_height(table, row) for row in table.headers)
    kept: set[int] = set()
    for number in sorted(range(len(body)), key=lambda one: min(abs(one - other) for other in marked)):
        room -= _estimate_height(table, body[number])
        if kept and room < 0:
            break
        kept.add(number)
    return replace(cited, table=replace(table, rows=(*table.headers, *(body[one] for one in sorted(kept)))))


def _estimate_height(table: Table, row: TableRow) -> int:
    """Return the estimated height of a row in pixels, on a wide screen with columns of about equal width."""
    width = max(_NARROWEST, _TABLE_WIDTH // len(table.columns))
    texts = [table.row_label(row), *(cell.text for cell in row.cells if cell.column_span == 1)]
    return _PADDING + _LINE * max(-(-len(text) // width) for text in texts)


def _build_quote(citation: Citation) -> Node:
    """Return a quote with its marks. A long quote is shortened to the text around its first mark until it is opened."""
    # Remove the line breaks of the page, because lines on the screen have another length.
    text = citation.quote.replace("\n", " ")
    marks = [(start - citation.start, end - citation.start) for start, end in citation.marks]
    whole: Node = {"t": "quote", "c": build_marked_text(text, marks)}
    if len(text) <= _LONGEST_QUOTE:
        return whole
    # Search the quote with its line breaks, because blank lines separate paragraphs.
    (low, high), *_others = find_surroundings(citation.quote, marks[:1])
    high = min(high, low + _LONGEST_QUOTE)
    before, after = _GAP.lstrip() if low else "", _GAP.rstrip() if high < len(text) else ""
    moved = [(start - low + len(before), min(end, high) - low + len(before)) for start, end in marks if start < high]
    short: Node = {"t": "quote", "c": build_marked_text(f"{before}{text[low:high]}{after}", moved)}
    return {"t": "fold", "s": _("Show the whole excerpt"), "c": [short, whole]}
