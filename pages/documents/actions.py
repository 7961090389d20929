"""Actions on the selected documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import streamlit as st

from pages.shared import keys
from pages.shared.jobs import track_jobs
from pages.shared.library import format_collection_name
from pages.shared.problems import show_errors, show_errors_next_run
from pages.shared.text import escape_markdown
from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.types.documents import DEFAULT_COLLECTION, DeleteReceipt, DocumentInfo, DocumentStatus
from rag_core.types.formatting import format_count

_RETRY = (DocumentStatus.FAILED, DocumentStatus.REJECTED, DocumentStatus.CANCELLED, DocumentStatus.PARTIAL)
_LISTED = 10
_INTO = "collect_into"


def show_actions(engine: Engine, chosen: Sequence[DocumentInfo], collections: Iterable[str]) -> None:
    """Show the buttons for the selected documents."""
    if not chosen:
        return
    ids = [one.document_id for one in chosen]
    with st.container(horizontal=True, gap="small"):
        if st.button(f"Delete {len(chosen)}", icon=":material/delete:", key="delete_selected"):
            st.session_state[keys.DIALOG_OPEN] = True
            _confirm(engine, chosen)
        indexed = [one.document_id for one in chosen if one.chunks]
        st.button(
            "Re-index",
            icon=":material/sync:",
            key="reindex_selected",
            on_click=_reindex,
            args=[engine, indexed],
            disabled=not indexed,
        )
        if st.button("Move to collection", icon=":material/folder:", key="collect_selected"):
            st.session_state[keys.DIALOG_OPEN] = True
            _collect(engine, chosen, collections)
        if again := [one.document_id for one in chosen if one.status in _RETRY]:
            st.button(
                "Try again",
                icon=":material/refresh:",
                key="retry_selected",
                on_click=_retry,
                args=[engine, again],
            )
        if len(chosen) == 1:
            st.download_button(
                "Download",
                data=lambda: engine.documents.content(ids[0]),
                file_name=chosen[0].name,
                mime=engine.formats.find_by_name(chosen[0].name).media_type,
                icon=":material/download:",
                key="download_selected",
                on_click="ignore",
            )


def show_receipts() -> None:
    """Show the result of the last deletion until the reader closes it."""
    shown: list[DeleteReceipt] = st.session_state.get(keys.RECEIPTS, [])
    if not shown:
        return
    left = sum(one.chunks_remaining for one in shown)
    removed = sum(one.chunks_removed for one in shown)
    title = (
        f"Deleted {format_count(len(shown), 'document')}: {format_count(removed, 'chunk')} removed, {left} remaining"
    )
    with st.container(border=True):
        st.markdown(f"{':material/check:' if not left else ':material/error:'} {title}")
        for one in shown[:_LISTED]:
            stores = ", ".join(f"{name} {number}" for name, number in one.remaining.items())
            st.caption(
                f"{escape_markdown(one.document)}: {one.chunks_removed:,} removed; remaining: {escape_markdown(stores)}"
            )
        if len(shown) > _LISTED:
            st.caption(f"and {len(shown) - _LISTED} more")
        st.button("Close", key="close_receipt", type="tertiary", on_click=shown.clear)


@st.dialog(
    "Delete documents",
    icon=":material/delete:",
    on_dismiss=lambda: st.session_state.pop(keys.DIALOG_OPEN, None),
)
def _confirm(engine: Engine, chosen: Sequence[DocumentInfo]) -> None:
    names = [one.all_names for one in chosen[:_LISTED]]
    st.text("\n".join(names))
    if len(chosen) > _LISTED:
        st.caption(f"and {len(chosen) - _LISTED} more")
    st.caption("This removes all names and versions, and attached documents. Earlier answers keep their quotes.")
    label = f"Delete {format_count(len(chosen), 'document')}"
    if st.button(label, type="primary", key="confirm_delete", on_click=_delete, args=[engine, chosen]):
        st.rerun()


@st.dialog(
    "Move to a collection",
    icon=":material/folder:",
    on_dismiss=lambda: st.session_state.pop(keys.DIALOG_OPEN, None),
)
def _collect(engine: Engine, chosen: Sequence[DocumentInfo], collections: Iterable[str]) -> None:
    with st.form("collect_form", border=False):
        st.selectbox(
            "Collection",
            [*collections, DEFAULT_COLLECTION],
            index=None,
            format_func=format_collection_name,
            placeholder="Choose one, or type a new name",
            accept_new_options=True,
            key=_INTO,
        )
        st.caption("A conversation can be limited to a collection, including documents that you add to it later.")
        label, ids = f"Move {format_count(len(chosen), 'document')}", [one.document_id for one in chosen]
        if st.form_submit_button(label, type="primary", key="collect", on_click=_move, args=[engine, ids]):
            st.rerun()


def _move(engine: Engine, ids: Sequence[str]) -> None:
    with show_errors_next_run():
        engine.collections.move_documents(ids, st.session_state[_INTO] or "")


def _delete(engine: Engine, chosen: Sequence[DocumentInfo]) -> None:
    # Put the list into the session before filling it: if a store fails, the list then shows what was already deleted.
    receipts: list[DeleteReceipt] = []
    st.session_state[keys.RECEIPTS] = receipts
    with show_errors_next_run():
        for one in chosen:
            # Another window may have deleted the document.
            with suppress(UnknownDocument):
                receipts += engine.documents.delete([one.document_id])
        st.session_state[keys.SELECTED] = []


def _reindex(engine: Engine, ids: Sequence[str]) -> None:
    with show_errors():
        track_jobs([engine.index.rebuild(ids)])


def _retry(engine: Engine, ids: Sequence[str]) -> None:
    for one in ids:
        with show_errors():
            track_jobs([engine.documents.retry(one)])
