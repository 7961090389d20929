"""The search strategy of the next question."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.strategies import STRATEGY_DESCRIPTIONS, STRATEGY_NAMES
from rag_core.engine import Engine
from rag_core.types import Strategy


def choose_strategy(engine: Engine) -> None:
    """Let the reader choose a strategy, if a language model is connected."""
    if not engine.models.current:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = st.selectbox(
            "How to search",
            list(STRATEGY_NAMES),
            format_func=lambda one: f"Search: {STRATEGY_NAMES[one]}",
            key=keys.STRATEGY,
            label_visibility="collapsed",
            filter_mode=None,
            width=240,
            persist_state="session",
        )
        st.caption(STRATEGY_DESCRIPTIONS[chosen], width="content")


def get_strategy(engine: Engine) -> Strategy:
    """Return the chosen strategy; ``plain`` if no language model is connected."""
    chosen: Strategy = st.session_state.get(keys.STRATEGY, "plain")
    return chosen if engine.models.current else "plain"
