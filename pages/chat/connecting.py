"""The line that points to the form that connects a language model."""

from __future__ import annotations

import streamlit as st

from pages.chat.writer import link_model_form
from pages.shared.backend import Backend
from pages.shared.problems import show_errors


def offer_model(back: Backend) -> None:
    """Say what a language model adds, and link to the form; show nothing if a model is set or the reader hid it."""
    if not back.engine.preferences.is_model_offered:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="offer_model"):
        st.caption("A model answers in full sentences; without one, in quotes.", width="content")
        link_model_form("Connect a model")
        st.button(
            "Don't show again",
            type="tertiary",
            key="hide_model_offer",
            help="Hides this line for everyone who uses this app. The form stays on the Settings page.",
            on_click=_hide,
            args=[back],
        )


def _hide(back: Backend) -> None:
    with show_errors():
        back.engine.preferences.hide_model_offer()
