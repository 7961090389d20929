"""Whether the language model describes the figures of documents."""

from __future__ import annotations

import streamlit as st

from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine

_SWITCH = "describe_figures"


def show_figures(engine: Engine) -> None:
    """Let the operator switch the descriptions on; show nothing without a model of an endpoint."""
    if not engine.models.endpoint or engine.models.settings.gguf:
        return
    st.session_state.setdefault(_SWITCH, engine.preferences.describes_figures)
    is_on = st.toggle(_("Describe figures with the model"), key=_SWITCH, on_change=_save, args=[engine])
    st.caption(
        _(
            "Sends pictures of the figures of each document that is indexed from now on, up to 50 with their captions, "
            "and makes the descriptions searchable."
        )
    )
    if is_on and (problem := engine.preferences.figures_problem):
        st.warning(escape_markdown(translate_message(problem)), icon=":material/info:")


def _save(engine: Engine) -> None:
    with show_errors():
        engine.preferences.set_describes_figures(st.session_state[_SWITCH])
