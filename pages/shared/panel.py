"""The panel beside a page, which shows a source or a document and closes on Escape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared.translation import _

_PANEL = st.components.v2.component(
    "footnote_source_panel", html="", js=Path(__file__).with_name("source_panel.js").read_text(encoding="utf-8")
)


def open_panel(label: str, opened: str, on_close: Callable[[], None]) -> DeltaGenerator:
    """Return the container of the panel.

    Parameters
    ----------
    label : str
        The name of the panel for screen readers.
    opened : str
        Identifies what is shown; if it changes, the panel is scrolled to its top and takes the focus.
    on_close : callable
        Called when the reader closes the panel with the keyboard.
    """
    panel = st.container(key="source_panel")
    with panel:
        _PANEL(key="source_behaviour", data={"label": label, "opened": opened}, on_close_change=on_close)
    return panel


def show_close_button(key: str, on_close: Callable[[], None]) -> None:
    """Show the button that closes the panel."""
    st.button(_("Close"), icon=":material/close:", key=key, type="tertiary", on_click=on_close, help=_("Close"))
