"""The row above the input: the model, the instructions and the search strategy of the next question."""

from __future__ import annotations

import streamlit as st

from pages.chat.writer import choose_writer
from pages.shared import keys
from pages.shared.strategies import STRATEGY_DESCRIPTIONS, STRATEGY_NAMES
from rag_core.engine import Engine
from rag_core.types import Conversation, Strategy


def choose_strategy(engine: Engine, conversation: Conversation | None) -> None:
    """Let the reader choose the model and instructions, and a strategy that can be used with them."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        usable = _list_usable(engine, choose_writer(engine, conversation))
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


def get_strategy(engine: Engine, model: str | None) -> Strategy:
    """Return the chosen strategy; ``plain`` if it needs a model. ``model`` is as in `LanguageModels.find_name`."""
    chosen: Strategy = st.session_state.get(keys.STRATEGY, "plain")
    return chosen if chosen in _list_usable(engine, engine.models.find_name(model)) else "plain"


def _list_usable(engine: Engine, model: str) -> list[Strategy]:
    """Return the strategies that can be used with a model; without one, the plain search and themes."""
    has_themes = engine.theme_builder.state().built_at is not None
    return [one for one in STRATEGY_NAMES if one == "plain" or (has_themes if one == "themes" else bool(model))]
