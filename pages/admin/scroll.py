"""Scroll to a part of the Settings page that a link names."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shared import keys

# Streamlit's links between pages cannot name a heading, so a script scrolls to the container.
_SCROLL = st.components.v2.component(
    "footnote_scroll", html="", js=Path(__file__).with_name("scroll.js").read_text(encoding="utf-8")
)


def scroll_to_linked_part() -> None:
    """Scroll once to the container whose key is in the address.

    The key stays in the address, because to remove it would add a step to the browser's history, and so to the way back
    to the page with the link.
    """
    part = st.query_params.get(keys.ADMIN_PARAM)
    if part is not None:
        _SCROLL(key="scroll", data={"part": part})
