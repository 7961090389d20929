"""Convert the excerpts of an answer to trees of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared.nodes import Node, build_marked_text, build_text_node
from pages.shared.tables import build_cited_table
from pages.shared.text import truncate
from pages.shared.translation import _
from rag_core.types.answers import Answer, Citation
from rag_core.types.cited_tables import CitedTable

# Widest heading of a section, in columns.
_HEADING_WIDTH = 70


def build_excerpts(answer: Answer, citations: Sequence[Citation]) -> list[Node]:
    """Return each excerpt below its document, page and section: marked sentences in a quote, or rows of a table."""
    headings = {one.chunk_id: one.heading for one in answer.passages}
    nodes: list[Node] = []
    shown: list[CitedTable] = []
    for citation in citations:
        table = next(iter(answer.find_cited_tables(citation)), None)
        if table in shown:
            continue
        section = truncate(headings.get(citation.chunk_id, ""), _HEADING_WIDTH)
        source = " · ".join(filter(None, (citation.document, _("page {page}", page=citation.page_label), section)))
        nodes.append({"t": "caption", "c": [build_text_node(f"{source} "), {"t": "cite", "n": citation.marker}]})
        if table is None:
            # The lines of a page end elsewhere than those of the screen.
            text = citation.quote.replace("\n", " ")
            marks = [(start - citation.start, end - citation.start) for start, end in citation.marks]
            nodes.append({"t": "quote", "c": build_marked_text(text, marks)})
        else:
            shown.append(table)
            nodes.append(
                build_cited_table(
                    table, _("{document}, page {page}", document=citation.document, page=citation.page_label)
                )
            )
    return nodes
