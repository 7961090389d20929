"""Dialogs, and the buttons that open them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shared import keys


def close_dialog() -> None:
    """Record that no dialog is open."""
    st.session_state.pop(keys.EDITOR, None)
    st.session_state.pop(keys.DIALOG_OPEN, None)


def open_dialog(title: str, icon: str, show: Callable[..., None], *args: Any) -> None:
    """Open a dialog; ``show``, called with ``args``, draws the content."""
    st.session_state[keys.DIALOG_OPEN] = True
    st.dialog(title, icon=icon, on_dismiss=close_dialog)(show)(*args)


def offer_dialog(label: str, icon: str, key: str, show: Callable[..., None], *args: Any) -> None:
    """Show a button that opens a dialog with the same label and icon; ``show`` and ``args`` are as in `open_dialog`."""
    if st.button(label, icon=icon, type="tertiary", key=key):
        st.session_state[keys.EDITOR] = key
    # Every run opens the dialog again until the reader closes it, because the page also reruns for other reasons.
    if st.session_state.get(keys.EDITOR) == key:
        open_dialog(label, icon, show, *args)
