"""Run a page again by itself, without undoing what the reader does meanwhile."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st


def rerun_page() -> NoReturn:
    """Run the page again, as when an answer is complete.

    If the reader has meanwhile clicked, for example a link to another page, Streamlit has queued a run for the click,
    in which `streamlit.rerun` would replace the page and the address by the present ones. Drawing an element lets the
    queued run start instead.
    """
    st.empty()
    st.rerun()
