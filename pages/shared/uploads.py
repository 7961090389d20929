"""The drop zone for files."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.jobs import submit_files
from pages.shared.library import format_collection_name
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.documents import DEFAULT_COLLECTION


def show_uploader(engine: Engine) -> None:
    """Let the reader upload files and, if there are collections, choose one; after an upload, empty the drop zone."""
    # The widget keeps its files in every rerun. After an upload, a new key creates an empty widget.
    turn = st.session_state.setdefault(keys.UPLOADER_ROUND, 0)
    collections = list(engine.collections.list())
    into = DEFAULT_COLLECTION
    if collections:
        into = st.selectbox(
            _("Add to collection"),
            [DEFAULT_COLLECTION, *collections],
            format_func=format_collection_name,
            accept_new_options=True,
            key=keys.COLLECTION,
            width=320,
        )
    files = st.file_uploader(
        _("Drop documents here, or choose files"),
        type=list(engine.formats.suffixes),
        accept_multiple_files=True,
        key=f"{keys.UPLOADER}_{turn}",
        max_upload_size=engine.settings.max_file_mb,
    )
    if files:
        submit_files(engine, [(one.name, one.getvalue()) for one in files], into or DEFAULT_COLLECTION)
        st.session_state[keys.UPLOADER_ROUND] = turn + 1
        st.rerun()
