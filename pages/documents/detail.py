"""One document: its pages and its chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.documents.outline import show_outline
from pages.documents.statuses import describe_status
from pages.documents.versions import show_versions
from pages.shared.nodes import build_marked_text
from pages.shared.problems import show_errors
from pages.shared.richtext import show_richtext
from pages.shared.text import escape_markdown
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo, Page, PageState
from rag_core.types.formatting import format_count

CHUNKS_SHOWN = 20
_READ_AS = {PageState.OCR: "image (OCR)", PageState.MIXED: "text and image"}


def show_document(engine: Engine, document: DocumentInfo) -> None:
    """Show the pages and chunks of a document, and its problems."""
    st.subheader(escape_markdown(document.all_names), anchor=False)
    parts = [describe_status(document), format_count(document.pages, "page"), format_count(document.chunks, "chunk")]
    for number, words in (
        (document.pages_ocr, "read by OCR"),
        (document.pages_empty, "without text"),
        (document.pages_failed, "failed"),
    ):
        if number:
            parts.append(f"{number:,} {words}")
    st.caption(" · ".join(parts))
    if document.pages and (title := engine.documents.title(document.document_id)):
        st.caption(f"Title on its first page: {escape_markdown(title)}")
    if document.reason:
        st.warning(escape_markdown(document.reason), icon=":material/info:")
    versions = engine.documents.versions(document.document_id)
    pages, outline, chunks, *former = st.tabs(
        ["Pages", "Outline", "Chunks", *([f"Versions ({len(versions)})"] if len(versions) > 1 else [])]
    )
    with pages, show_errors():
        _pages(engine, document)
    with outline, show_errors():
        show_outline(engine, document)
    with chunks, show_errors():
        _chunks(engine, document)
    for tab in former:
        with tab:
            show_versions(engine, document, versions)


def _pages(engine: Engine, document: DocumentInfo) -> None:
    pages = engine.documents.pages(document.document_id)
    if not pages:
        st.caption("No page was read.")
        return
    problems = sum(one.state in (PageState.FAILED, PageState.EMPTY) for one in pages)
    if problems:
        st.caption(f"{format_count(problems, 'page')} without text or failed: see the column Note.")
    st.dataframe(
        _frame(pages),
        hide_index=True,
        key="document_pages",
        alt=f"Pages of {document.name}",
        column_config={
            "Page": st.column_config.NumberColumn(format="localized", width="small"),
            "Label": st.column_config.TextColumn(width="small"),
            "Read as": st.column_config.TextColumn(width="small"),
            "Confidence": st.column_config.NumberColumn(format="%.2f", width="small"),
            "Heading": st.column_config.TextColumn(width="large"),
            "Characters": st.column_config.NumberColumn(format="localized", width="small"),
        },
    )


def _frame(pages: Sequence[Page]) -> pd.DataFrame:
    """Return a table with one row per page, without columns that are empty."""
    rows = [
        (one.page_index + 1, one.page_label, _read_as(one), one.confidence, one.heading, len(one.text), _note(one))
        for one in pages
    ]
    frame = pd.DataFrame(rows, columns=["Page", "Label", "Read as", "Confidence", "Heading", "Characters", "Note"])
    return frame.replace({"Note": {"": None}}).dropna(axis="columns", how="all")


def _read_as(page: Page) -> str:
    return _READ_AS.get(page.state, page.state.value)


def _note(page: Page) -> str:
    """Return a note with the problem of a page and the invisible text of the page, if there is any."""
    hidden = f"left out because it is invisible: {page.hidden}" if page.hidden else ""
    return "; ".join(part for part in (page.reason, hidden) if part)


def _chunks(engine: Engine, document: DocumentInfo) -> None:
    chunks = engine.documents.chunks(document.document_id)
    if not chunks:
        st.caption("There are no chunks.")
        return
    page_count = -(-len(chunks) // CHUNKS_SHOWN)
    page = 1
    if page_count > 1:
        page = st.pagination(page_count, key=f"chunks_{document.document_id}")
    for chunk in chunks[(page - 1) * CHUNKS_SHOWN : page * CHUNKS_SHOWN]:
        heading = f" · {escape_markdown(chunk.heading)}" if chunk.heading else ""
        st.caption(f"Chunk {chunk.ordinal + 1} · page {chunk.page_index + 1}{heading} · {chunk.tokens} tokens")
        show_richtext(
            build_marked_text(chunk.text, []), key=f"chunk_{document.document_id}_{chunk.ordinal}", small=True
        )
