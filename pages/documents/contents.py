"""What was found in a document: its tables, its chunks, and the pages with problems."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.documents.statuses import describe_status_with_reason
from pages.shared.nodes import build_marked_text
from pages.shared.richtext import show_richtext
from pages.shared.tables import build_table_part
from pages.shared.text import escape_markdown
from pages.shared.translation import N_, _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo, Page, PageState

CHUNKS_SHOWN, _TABLES_SHOWN = 20, 5
_READ_AS = {PageState.OCR: N_("image (OCR)"), PageState.MIXED: N_("text and image")}


def show_problems(engine: Engine, document: DocumentInfo) -> None:
    """Show what is wrong with a document, and a table with one row for each page; pages with a problem come first."""
    if document.reason:
        st.warning(escape_markdown(describe_status_with_reason(document)), icon=":material/info:")
    pages = engine.documents.pages(document.document_id)
    if not pages:
        st.caption(_("No page was read."))
        return
    noted = [one for one in pages if _describe_problem(one) or one.state in (PageState.FAILED, PageState.EMPTY)]
    if noted:
        st.caption(
            ngettext(
                "{number} page with a problem: see the column Note.",
                "{number} pages with a problem: see the column Note.",
                len(noted),
            )
        )
    elif not document.reason:
        st.caption(_("All pages were read without problems."))
    st.dataframe(
        _build_frame([*noted, *(one for one in pages if one not in noted)]),
        hide_index=True,
        key="document_pages",
        alt=_("Pages of {name}", name=document.name),
        column_config={
            "Page": st.column_config.NumberColumn(_("Page"), format="localized", width="small"),
            "Label": st.column_config.TextColumn(_("Label"), width="small"),
            "Note": st.column_config.TextColumn(_("Note")),
            "Read as": st.column_config.TextColumn(_("Read as"), width="small"),
            "Confidence": st.column_config.NumberColumn(_("Confidence"), format="%.2f", width="small"),
            "Characters": st.column_config.NumberColumn(_("Characters"), format="localized", width="small"),
        },
    )


def _build_frame(pages: Sequence[Page]) -> pd.DataFrame:
    """Return a table with one row per page, without columns that are empty."""
    rows = [
        (
            one.page_index + 1,
            one.page_label,
            _describe_problem(one),
            _describe_state(one),
            one.confidence,
            len(one.text),
        )
        for one in pages
    ]
    frame = pd.DataFrame(rows, columns=["Page", "Label", "Note", "Read as", "Confidence", "Characters"])
    return frame.replace({"Note": {"": None}}).dropna(axis="columns", how="all")


def _describe_state(page: Page) -> str:
    return _(_READ_AS.get(page.state, page.state.value))


def _describe_problem(page: Page) -> str:
    """Describe the problem and the invisible text of a page; return an empty text if it has neither."""
    hidden = _("left out because it is invisible: {hidden}", hidden=page.hidden) if page.hidden else ""
    return "; ".join(part for part in (translate_message(page.reason), hidden) if part)


def show_tables(engine: Engine, document: DocumentInfo) -> None:
    """Show the tables that were found on the pages, a few at a time, without those that are lists."""
    found = engine.documents.tables([(document.version_id, page_index) for page_index in range(document.pages)])
    tables = [(place[1], table) for place in sorted(found) for table in found[place] if not table.is_list]
    if not tables:
        st.caption(_("No tables were found."))
        return
    first = _choose_part(len(tables), _TABLES_SHOWN, f"tables_{document.document_id}")
    for number, (page_index, table) in list(enumerate(tables))[first : first + _TABLES_SHOWN]:
        st.caption(
            _("Table {number} of {total} · page {page}", number=number + 1, total=len(tables), page=page_index + 1)
        )
        blocks = build_table_part(table, 0, round(1e9), lambda _: False)
        show_richtext(blocks, key=f"table_{document.document_id}_{number}", small=True)


def show_chunks(engine: Engine, document: DocumentInfo) -> None:
    """Show the chunks into which the text is divided for searches, a few at a time."""
    chunks = engine.documents.chunks(document.document_id)
    if not chunks:
        st.caption(_("There are no chunks."))
        return
    first = _choose_part(len(chunks), CHUNKS_SHOWN, f"chunks_{document.document_id}")
    for chunk in chunks[first : first + CHUNKS_SHOWN]:
        heading = f" · {escape_markdown(chunk.heading)}" if chunk.heading else ""
        st.caption(
            _(
                "Chunk {number} · page {page}{heading} · {tokens} tokens",
                number=chunk.ordinal + 1,
                page=chunk.page_index + 1,
                heading=heading,
                tokens=chunk.tokens,
            )
        )
        show_richtext(
            build_marked_text(chunk.text, []), key=f"chunk_{document.document_id}_{chunk.ordinal}", small=True
        )


def _choose_part(number: int, shown: int, key: str) -> int:
    """Return the index of the first of the ``shown`` items to show, from a list with ``number`` items.

    If the list has several parts of this size, let the reader turn to another part.
    """
    parts = math.ceil(number / shown)
    return (st.pagination(parts, key=key) - 1) * shown if parts > 1 else 0
