"""What the connected language model does in addition to answering: describe figures, and check statements."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine


def show_model_tasks(engine: Engine) -> None:
    """Let the operator switch the tasks on and off; show nothing without a model.

    A model in a GGUF file cannot describe figures.
    """
    if not engine.models.endpoint:
        return
    preferences = engine.preferences
    if not engine.models.settings.gguf:
        _show_switch(
            "describe_figures",
            _("Describe figures with the model"),
            _(
                "Sends pictures of the figures of each document that is indexed from now on, up to 50 with their "
                "captions, and makes the descriptions searchable."
            ),
            preferences.describes_figures,
            preferences.set_describes_figures,
            preferences.figures_problem,
        )
    _show_switch(
        "model_verifies",
        _("Check each statement with the model"),
        _(
            "Sends each statement of an answer or of a text on the Check page with the passages compared: one more "
            "call for an answer, and one for eight statements of a text."
        ),
        preferences.model_verifies,
        preferences.set_model_verifies,
        preferences.verifier_problem,
    )


def _show_switch(key: str, label: str, caption: str, is_on: bool, save: Callable[[bool], None], problem: str) -> None:
    st.session_state.setdefault(key, is_on)

    def change() -> None:
        with show_errors():
            save(st.session_state[key])

    is_on = st.toggle(label, key=key, on_change=change)
    st.caption(caption)
    if is_on and problem:
        st.warning(escape_markdown(translate_message(problem)), icon=":material/info:")
