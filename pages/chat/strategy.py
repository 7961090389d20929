"""The row above the input: the model, the instructions and the search strategy of the next question."""

from __future__ import annotations

import streamlit as st

from pages.chat.writer import choose_writer
from pages.shared import keys
from rag_core.engine import Engine
from rag_core.types.conversations import Conversation
from rag_core.types.strategies import StrategyDescription


def choose_strategy(engine: Engine, conversation: Conversation | None, as_of: str) -> None:
    """Let the reader choose the model and instructions, and a strategy that can be used with them."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        usable = _list_offered(engine, choose_writer(engine, conversation), as_of)
        if len(usable) < 2:
            return
        if st.session_state.get(keys.STRATEGY) not in usable:
            st.session_state[keys.STRATEGY] = next(iter(usable))
        chosen = st.selectbox(
            "How to search",
            list(usable),
            format_func=lambda name: f"Search: {usable[name].label}",
            key=keys.STRATEGY,
            label_visibility="collapsed",
            filter_mode=None,
            width=240,
            persist_state="session",
        )
        st.caption(usable[chosen].description, width="content")


def get_strategy(engine: Engine, model: str | None, as_of: str) -> str:
    """Return the chosen strategy; ``plain`` if it cannot be used. ``model`` is as in `LanguageModels.find_name`."""
    chosen = str(st.session_state.get(keys.STRATEGY, "plain"))
    return chosen if chosen in _list_offered(engine, engine.models.find_name(model), as_of) else "plain"


def _list_offered(engine: Engine, model: str, as_of: str) -> dict[str, StrategyDescription]:
    """Return the strategies that the chat offers with a model, now or as of a snapshot, by name."""
    return {one.name: one for one in engine.strategies.list_usable(model, as_of) if one.in_chat}
