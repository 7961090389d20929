"""The drop zone."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.jobs import submit
from rag_core.engine import Engine


def uploads(engine: Engine) -> None:
    """Take PDFs; each is handed over once, and the zone is empty again."""
    # A file stays in the widget through all reruns; a new key gives a new, empty widget.
    turn = st.session_state.setdefault(keys.UPLOADER_ROUND, 0)
    files = st.file_uploader(
        "Drop PDFs here, or choose files",
        type="pdf",
        accept_multiple_files=True,
        key=f"{keys.UPLOADER}_{turn}",
        max_upload_size=engine.settings.max_file_mb,
    )
    if files:
        submit(engine, [(one.name, one.getvalue()) for one in files])
        st.session_state[keys.UPLOADER_ROUND] = turn + 1
        st.rerun()
