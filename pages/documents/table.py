"""The library as a table."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.elements.arrow import DataframeStateInput

from pages.documents.statuses import describe_status, describe_status_with_reason
from pages.shared import keys
from pages.shared.library import count_by_collection, format_collection_name
from pages.shared.text import escape_markdown
from rag_core.types.documents import DocumentInfo, DocumentStatus
from rag_core.types.formatting import format_count

_STATUSES = "document_statuses"
_COLLECTIONS = "document_collections"
_COLUMNS = ("Name", "Collection", "Status", "Pages", "Chunks", "Size, kB", "Added")
_COLLECTION_WIDTH = 100


def choose_documents(documents: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """Show the documents that match the search and the filters; return the documents that the reader selects."""
    query = st.text_input(
        "Search documents",
        placeholder="Search by name or status",
        icon=":material/search:",
        label_visibility="collapsed",
        key="document_search",
    )
    statuses = _picked("Status", Counter(map(describe_status, documents)), _STATUSES)
    within = _picked("Collection", Counter(map(_collection, documents)), _COLLECTIONS)
    shown = [
        one
        for one in documents
        if _matches(one, query)
        and (not statuses or describe_status(one) in statuses)
        and (not within or _collection(one) in within)
    ]
    if not shown:
        filters = " and ".join(name for name, picked in (("status", statuses), ("collection", within)) if picked)
        of = f" of the chosen {filters}" if filters else ""
        st.caption(f"No document{of} has these words in its name or status.")
        return []
    st.caption(_summary(documents, shown))
    collected = bool(count_by_collection(documents))
    # Streamlit stores the selection by row number, which would select other documents if the rows change. So changed
    # rows get a new key, which creates a new table. Its default selection is found by document id.
    identity = hashlib.sha1("|".join(one.document_id for one in shown).encode(), usedforsecurity=False)
    before = st.session_state.get(keys.SELECTED, st.query_params.get_all(keys.DOCUMENT_PARAM))
    rows = [row for row, one in enumerate(shown) if one.document_id in before]
    row_height = 72 if any(one.reason for one in shown) else 35  # three lines of text, or one
    selection: DataframeStateInput = {"selection": {"rows": rows}}
    event = st.dataframe(
        _frame(shown),
        key=f"documents_{identity.hexdigest()}",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default=selection,
        hide_index=True,
        column_config=_configuration(wide_status=any(one.reason for one in shown), collected=collected),
        column_order=[one for one in _COLUMNS if collected or one != "Collection"],
        row_height=row_height,
        height=min(38 + row_height * len(shown), 460),
        alt="Documents in the library",
    )
    chosen = [shown[row] for row in event.selection.rows if row < len(shown)]
    _remember([one.document_id for one in chosen])
    return chosen


def _picked(label: str, counts: Mapping[str, int], key: str) -> list[str]:
    """Let the reader choose among the values if there are at least two; an empty choice means all values."""
    # Remove values that no document has any longer. Such a value would hide all documents.
    st.session_state[key] = [one for one in st.session_state.get(key, []) if one in counts]
    if len(counts) < 2:
        return []
    return st.pills(
        label,
        list(counts),
        selection_mode="multi",
        format_func=lambda one: f"{escape_markdown(one)} ({counts[one]:,})",
        label_visibility="collapsed",
        key=key,
    )


def _remember(chosen: list[str]) -> None:
    """Store the selection in the session; also store a single document in the address, which survives a reload."""
    st.session_state[keys.SELECTED] = chosen
    if len(chosen) == 1:
        st.query_params[keys.DOCUMENT_PARAM] = chosen[0]
    else:
        st.query_params.pop(keys.DOCUMENT_PARAM, None)


def _matches(document: DocumentInfo, query: str) -> bool:
    text = f"{document.all_names} {describe_status(document)} {document.reason}".casefold()
    return all(word in text for word in query.casefold().split())


def _summary(documents: Sequence[DocumentInfo], shown: Sequence[DocumentInfo]) -> str:
    of = f"{len(shown):,} of {len(documents):,} shown: " if len(shown) != len(documents) else ""
    failed = sum(one.status in (DocumentStatus.FAILED, DocumentStatus.REJECTED) for one in documents)
    # As the other pages count them: a rejected file is no document that a question can be asked about.
    counts = format_count(len(documents) - failed, "document")
    if failed:
        counts = f"{counts} and {format_count(failed, 'file')} that could not be read"
    return f"{of}{counts}. Tick rows to open, delete, re-index or move documents."


def _frame(documents: Sequence[DocumentInfo]) -> pd.DataFrame:
    rows = [
        (
            one.all_names,
            _collection(one),
            describe_status_with_reason(one),
            one.pages,
            one.chunks,
            ceil(one.size / 1000),
            one.added_at,
        )
        for one in documents
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _collection(document: DocumentInfo) -> str:
    return format_collection_name(document.collection)


def _configuration(*, wide_status: bool, collected: bool) -> dict[str, Any]:
    # All columns together must fit on the page on a laptop. The table wraps a reason over three lines and cuts longer
    # ones, but the details of the document show it in full.
    room = 420 - (_COLLECTION_WIDTH if collected else 0)
    status = room * 8 // 15 if wide_status else 130
    return {
        "Name": st.column_config.TextColumn(width=min(240, room - status)),
        "Collection": st.column_config.TextColumn(width=_COLLECTION_WIDTH),
        "Status": st.column_config.TextColumn(width=status),
        "Pages": st.column_config.NumberColumn(format="localized", width=60),
        "Chunks": st.column_config.NumberColumn(format="localized", width=65),
        # Streamlit's format for bytes depends on the reader's locale. In British English, it shows "2.4mB".
        "Size, kB": st.column_config.NumberColumn(format="localized", width=70),
        "Added": st.column_config.DatetimeColumn(format="localized", timezone=st.context.timezone, width=165),
    }
