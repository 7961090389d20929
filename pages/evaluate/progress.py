"""The progress of work that runs in the background, and the problem with which it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.shared.text import escape_markdown
from rag_core.types import EvaluationState, TrainingState

State = TypeVar("State", EvaluationState, TrainingState)


def show_background_work(
    get_state: Callable[[], State | None], describe: Callable[[State], str], cancel: Callable[[], None], key: str
) -> None:
    """Show the progress of the running work with a button that cancels it; if none is running, show its problem.

    ``describe`` returns the text on the progress bar in Markdown, and ``key`` is the key of the button.
    """
    state = get_state()
    if state is None:
        return
    if not state.running:
        if state.problem:
            st.warning(escape_markdown(state.problem), icon=":material/error:")
        return

    @st.fragment(run_every=1.0)
    def progress() -> None:
        now = get_state()
        if now is None or not now.running:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
            st.progress(now.done / now.total if now.total else 0.0, text=describe(now))
            st.button("Cancel", key=key, type="tertiary", on_click=cancel)

    progress()
