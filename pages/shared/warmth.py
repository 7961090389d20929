"""A notice in the sidebar while models are loading."""

from __future__ import annotations

import streamlit as st

from pages.shared.text import escape_markdown
from rag_core.engine import Engine


def show_warm_up(engine: Engine) -> None:
    """Show in the sidebar what is still being loaded; if loading failed, show the error on the page."""
    state = engine.readiness()
    # The place is kept as in `show_stored_error`.
    place = st.empty()
    if state.error:
        place.error(escape_markdown(state.error), icon=":material/error:")
    with st.sidebar:
        _notice(engine, run_every=None if state.ready or state.error else 1.0)


def describe_warm_up(engine: Engine) -> str:
    """Return a text such as ``Warming up: loading the embedder``; empty if everything is ready or loading failed."""
    state = engine.readiness()
    if state.ready or state.error:
        return ""
    return f"Warming up: {state.label[:1].lower()}{state.label[1:]}"


def _notice(engine: Engine, run_every: float | None) -> None:
    @st.fragment(run_every=run_every)
    def notice() -> None:
        if words := describe_warm_up(engine):
            st.caption(f":material/hourglass_empty: {escape_markdown(words)}")

    notice()
