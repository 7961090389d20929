"""The beginning of every page except Chat: its title and the sidebar."""

from __future__ import annotations

import streamlit as st

from pages.shared.backend import Backend, enter_page, get_backend
from pages.shared.problems import show_stored_error
from pages.shared.readiness import show_load_error
from pages.shared.sidebar import show_sidebar


def start_page(page: str, title: str) -> Backend:
    """Record which page is being drawn, show its title and the sidebar, and return the backend."""
    enter_page(page)
    back = get_backend()
    show_stored_error()
    st.title(title, anchor=False)
    show_sidebar(back.engine)
    show_load_error(back.engine)
    return back
