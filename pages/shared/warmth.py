"""A word about models that are still loading, which never stands in the way."""

from __future__ import annotations

import streamlit as st

from pages.shared.text import plain
from rag_core.engine import Engine


def warmth(engine: Engine) -> None:
    """Say at the foot of the sidebar what is warming up, until it is; on the page, what went wrong."""
    state = engine.readiness()
    if state.error:
        st.error(plain(state.error), icon=":material/error:")
    with st.sidebar:
        _notice(engine, run_every=None if state.ready or state.error else 1.0)


def warming(engine: Engine) -> str:
    """``Warming up: loading the embedder``; empty when everything is ready."""
    state = engine.readiness()
    if state.ready or state.error:
        return ""
    return f"Warming up: {state.label[:1].lower()}{state.label[1:]}"


def _notice(engine: Engine, run_every: float | None) -> None:
    @st.fragment(run_every=run_every)
    def notice() -> None:
        if words := warming(engine):
            st.caption(f":material/hourglass_empty: {plain(words)}")

    notice()
