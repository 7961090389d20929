"""Files whose name is taken by a document with other content: the reader says what becomes of both."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.jobs import hand_over
from pages.shared.text import plain
from rag_core.engine import Engine


def clashes(engine: Engine) -> None:
    """Ask about each file that is held back, until none is."""
    for number, (name, data) in enumerate(st.session_state.get(keys.CLASHES, [])):
        with st.container(border=True):
            st.markdown(
                f":material/content_copy: **{plain(name)}** is in the library already, with other content. Replace it, "
                "or keep both?"
            )
            with st.container(horizontal=True, gap="small"):
                for label, choice in (("Replace", "replace"), ("Keep both", "keep"), ("Leave it out", "")):
                    st.button(
                        label,
                        key=f"clash_{choice or 'drop'}_{number}",
                        on_click=_settle,
                        args=[engine, number, name, data, choice],
                    )


def _settle(engine: Engine, number: int, name: str, data: bytes, choice: str) -> None:
    st.session_state[keys.CLASHES].pop(number)
    if choice:
        hand_over(engine, name, data, on_same_name=choice)
