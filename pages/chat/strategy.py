"""The row above the input: the model, the instructions and the search strategy of the next question."""

from __future__ import annotations

import streamlit as st

from pages.chat.writer import choose_writer
from pages.shared import keys
from pages.shared.strategies import STRATEGY_DESCRIPTIONS, STRATEGY_NAMES, list_strategies
from rag_core.engine import Engine
from rag_core.types import Conversation, Strategy


def choose_strategy(engine: Engine, conversation: Conversation | None, as_of: str) -> None:
    """Let the reader choose the model and instructions, and a strategy that can be used with them."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        usable = list_strategies(engine, choose_writer(engine, conversation), as_of)
        if len(usable) < 2:
            return
        if st.session_state.get(keys.STRATEGY) not in usable:
            st.session_state[keys.STRATEGY] = usable[0]
        chosen = st.selectbox(
            "How to search",
            usable,
            format_func=lambda one: f"Search: {STRATEGY_NAMES[one]}",
            key=keys.STRATEGY,
            label_visibility="collapsed",
            filter_mode=None,
            width=240,
            persist_state="session",
        )
        st.caption(STRATEGY_DESCRIPTIONS[chosen], width="content")


def get_strategy(engine: Engine, model: str | None, as_of: str) -> Strategy:
    """Return the chosen strategy; ``plain`` if it cannot be used. ``model`` is as in `LanguageModels.find_name`."""
    chosen: Strategy = st.session_state.get(keys.STRATEGY, "plain")
    return chosen if chosen in list_strategies(engine, engine.models.find_name(model), as_of) else "plain"
