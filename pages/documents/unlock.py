"""An encrypted document: ask for its password, try again, and keep the password nowhere."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import remember
from pages.shared.problems import told
from rag_core.engine import Engine
from rag_core.types import DocumentInfo


def unlock(engine: Engine, document: DocumentInfo) -> None:
    """A field for the password, where one is needed."""
    if not document.needs_password:
        return
    with st.form(f"unlock_{document.document_id}", clear_on_submit=True):
        password = st.text_input(
            "Password of this PDF",
            type="password",
            help="It is used to read the file now and is not stored.",
            key=f"password_{document.document_id}",
        )
        sent = st.form_submit_button("Open and index", icon=":material/lock_open:")
    if sent and password:
        with told():
            remember([engine.retry(document.document_id, password=password)])
            st.rerun()
