"""The outline of a document: its sections and the pages on which they begin."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo, OutlineEntry

# Indentation of a section for each level.
_INDENT = "\u2003"


def show_outline(engine: Engine, document: DocumentInfo, turn_to: Callable[[int], None]) -> None:
    """Show the sections of a document in order.

    When the reader ticks a section, ``turn_to`` is called with the index of the page on which the section begins.
    """
    entries = engine.documents.outline(document.document_id)
    if not entries:
        st.caption(_("No headings were found."))
        return
    st.caption(_("From the outline of the file and the headings on its pages. Tick a row to see its page."))
    key = f"outline_{document.version_id}"

    def ticked() -> None:
        for row in st.session_state[key]["selection"]["rows"]:
            turn_to(entries[row].page_index)

    rows = [(_format_pages(one), f"{_INDENT * one.level}{one.title}") for one in entries]
    st.dataframe(
        pd.DataFrame(rows, columns=["Pages", "Section"]),
        hide_index=True,
        key=key,
        on_select=ticked,
        selection_mode="single-row",
        alt=_("Outline of {name}", name=document.name),
        column_config={
            "Pages": st.column_config.TextColumn(_("Pages"), width="small"),
            "Section": st.column_config.TextColumn(_("Section"), width="large"),
        },
    )


def _format_pages(entry: OutlineEntry) -> str:
    """Return the range of a section's pages, such as ``3–5``, counted from 1 as in the table of pages."""
    first, last = entry.page_index + 1, entry.page_index_end + 1
    return f"{first}" if first == last else f"{first}\u2013{last}"
