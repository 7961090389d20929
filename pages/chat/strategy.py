"""The search strategy of the next question, in a menu above the input."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine
from rag_core.types.strategies import StrategyDescription


def choose_strategy(engine: Engine, model: str, as_of: str) -> None:
    """Let the reader choose one of the strategies that can be used with ``model`` and the snapshot ``as_of``.

    Show nothing if there is only one such strategy.
    """
    usable = _list_offered(engine, model, as_of)
    if len(usable) < 2:
        return
    if st.session_state.get(keys.STRATEGY) not in usable:
        st.session_state[keys.STRATEGY] = "plain"
    chosen = st.session_state[keys.STRATEGY]
    label = (
        _("How to search") if chosen == "plain" else _("Search: {label}", label=translate_message(usable[chosen].label))
    )
    with st.popover(label, icon=":material/manage_search:", type="tertiary", key=keys.STRATEGY_POPOVER):
        st.radio(
            _("How the next questions are searched for"),
            list(usable),
            format_func=lambda name: translate_message(usable[name].label),
            captions=[f"{translate_message(one.description)}." for one in usable.values()],
            key=keys.STRATEGY,
            persist_state="session",
        )


def get_strategy(engine: Engine, model: str | None, as_of: str) -> str:
    """Return the chosen strategy; ``plain`` if it cannot be used. ``model`` is as in `LanguageModels.find_name`."""
    chosen = str(st.session_state.get(keys.STRATEGY, "plain"))
    return chosen if chosen in _list_offered(engine, engine.models.find_name(model), as_of) else "plain"


def _list_offered(engine: Engine, model: str, as_of: str) -> dict[str, StrategyDescription]:
    """Return the strategies that the chat offers for a model and a snapshot, by name."""
    return {one.name: one for one in engine.strategies.list_usable(model, as_of) if one.in_chat}
