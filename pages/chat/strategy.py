"""The search strategy of the next question."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.strategies import STRATEGIES, WHAT_IT_DOES
from rag_core.engine import Engine
from rag_core.types import Strategy


def strategy_select(engine: Engine) -> None:
    """Let the reader choose a strategy, if a language model is connected."""
    if not engine.models.current:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = st.selectbox(
            "How to search",
            list(STRATEGIES),
            format_func=lambda one: f"Search: {STRATEGIES[one]}",
            key=keys.STRATEGY,
            label_visibility="collapsed",
            filter_mode=None,
            width=240,
            persist_state="session",
        )
        st.caption(WHAT_IT_DOES[chosen], width="content")


def strategy(engine: Engine) -> Strategy:
    """Return the chosen strategy."""
    chosen: Strategy = st.session_state.get(keys.STRATEGY, "plain")
    return chosen if engine.models.current else "plain"
