"""The library as a table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import ceil
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.elements.arrow import DataframeStateInput

from pages.documents.actions import open_preview
from pages.documents.filters import list_filters
from pages.documents.statuses import describe_status
from pages.shared import keys
from pages.shared.library import format_collection_name
from pages.shared.text import count_documents
from pages.shared.translation import _
from rag_core.types.documents import DocumentInfo

_COLUMNS = ("Name", "Company", "Year", "Type", "Tags", "Collection", "Status", "Pages", "Added", "Size, kB")
# Columns that are shown only if a document has a value for them.
_OPTIONAL = ("Company", "Year", "Type", "Tags", "Collection")
_CLICKED = "document_clicked"
# In pixels.
_ROW_HEIGHT, _MAX_HEIGHT = 35, 460


def show_summary(documents: Sequence[DocumentInfo], shown: Sequence[DocumentInfo]) -> None:
    """Say how many documents there are, how many are shown, and what the reader can do with them."""
    if shown:
        count = count_documents(len(documents))
        if len(shown) != len(documents):
            count = _("{number} of {documents}", number=len(shown), documents=count)
        what = _("Click a name to read a document; tick rows to ask, tag, move or delete documents.")
        st.caption(f"{count}. {what}")


def choose_documents(documents: Sequence[DocumentInfo], shown: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """Show a table of the documents ``shown``; return those whose rows the reader ticks.

    A click on a name opens the preview of the document. An optional column is shown if any of all ``documents`` has a
    value in it.
    """
    # Streamlit stores the selection by row number, which would select other documents if the rows change. So changed
    # rows get a new key, which creates a new table. Its default selection is found by document id.
    digest = hashlib.sha1("|".join(one.document_id for one in shown).encode(), usedforsecurity=False)
    before = set(st.session_state.get(keys.SELECTED, []))
    rows = [row for row, one in enumerate(shown) if one.document_id in before]
    selection: DataframeStateInput = {"selection": {"rows": rows}}
    known = list_filters(documents)
    event = st.dataframe(
        _build_frame(shown),
        key=f"documents_{digest.hexdigest()}",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default=selection,
        hide_index=True,
        column_config=_configure_columns(shown),
        column_order=[one for one in _COLUMNS if one not in _OPTIONAL or one in known],
        height=min(38 + _ROW_HEIGHT * len(shown), _MAX_HEIGHT),
        alt=_("Documents in the library"),
    )
    chosen = [shown[row] for row in event.selection.rows if row < len(shown)]
    st.session_state[keys.SELECTED] = [one.document_id for one in chosen]
    return chosen


def _build_frame(documents: Sequence[DocumentInfo]) -> pd.DataFrame:
    rows = [
        (
            one.all_names,
            one.company,
            str(one.year or ""),
            one.kind,
            list(one.tags),
            format_collection_name(one.collection),
            describe_status(one),
            one.pages,
            one.added_at,
            ceil(one.size / 1000),
        )
        for one in documents
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _configure_columns(documents: Sequence[DocumentInfo]) -> dict[str, Any]:
    def clicked() -> None:
        row = st.session_state[_CLICKED]["row"]
        if row < len(documents):
            open_preview(documents[row].document_id)

    return {
        "Name": st.column_config.ButtonColumn(
            _("Name"), width=240, pinned=True, alignment="left", type="tertiary", on_click=clicked, key=_CLICKED
        ),
        "Company": st.column_config.TextColumn(_("Company"), width=130),
        # A column of numbers would show "None" for a document without a year.
        "Year": st.column_config.TextColumn(_("Year"), width=60, alignment="right"),
        "Type": st.column_config.TextColumn(_("Type"), width=60),
        "Tags": st.column_config.ListColumn(_("Tags"), width=120),
        "Collection": st.column_config.TextColumn(_("Collection"), width=100),
        "Status": st.column_config.TextColumn(_("Status"), width=110),
        "Pages": st.column_config.NumberColumn(_("Pages"), format="localized", width=60),
        "Added": st.column_config.DatetimeColumn(
            _("Added"), format=_("D MMM YYYY, HH:mm"), timezone=st.context.timezone, width=150
        ),
        # Streamlit's format for bytes depends on the reader's locale. In British English, it shows "2.4mB".
        "Size, kB": st.column_config.NumberColumn(_("Size, kB"), format="localized", width=70),
    }
