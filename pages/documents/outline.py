"""The outline of a document: its sections and the pages on which they begin."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo, OutlineEntry

# Indentation of a section for each level.
_INDENT = "\u2003"


def show_outline(engine: Engine, document: DocumentInfo) -> None:
    """Show the sections of a document in order."""
    entries = engine.documents.outline(document.document_id)
    if not entries:
        st.caption("No headings were found.")
        return
    st.caption("From the outline of the file and the headings on its pages.")
    rows = [(_list_pages(one), f"{_INDENT * one.level}{one.title}") for one in entries]
    st.dataframe(
        pd.DataFrame(rows, columns=["Pages", "Section"]),
        hide_index=True,
        key="document_outline",
        alt=f"Outline of {document.name}",
        column_config={
            "Pages": st.column_config.TextColumn(width="small"),
            "Section": st.column_config.TextColumn(width="large"),
        },
    )


def _list_pages(entry: OutlineEntry) -> str:
    """Return the pages of a section, counted from 1, as in the table of pages."""
    first, last = entry.page_index + 1, entry.page_index_end + 1
    return f"{first}" if first == last else f"{first}\u2013{last}"
