"""The whole page as a drop target for files."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_DROP = st.components.v2.component(
    "footnote_drop",
    html="",
    js=Path(__file__).with_name("drop.js").read_text(encoding="utf-8"),
)


def accept_drops() -> None:
    """Give files that are dropped on the page to its drop zone, or to the input for questions if there is none."""
    _DROP(key="drop")
