"""Messages while the models load, and if they cannot be loaded."""

from __future__ import annotations

import streamlit as st

from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine


def show_load_error(engine: Engine) -> None:
    """If the models cannot be loaded, show why; otherwise an empty element, as in `show_stored_error`."""
    place = st.empty()
    if error := engine.readiness().error:
        place.error(escape_markdown(translate_message(error)), icon=":material/error:")


def show_loading(engine: Engine) -> None:
    """Say above the input that the models are still loading, until they are loaded or cannot be loaded."""

    @st.fragment(run_every=None if _is_settled(engine) else 1.0)
    def show_line() -> None:
        if not _is_settled(engine):
            st.caption(
                _(
                    ":material/hourglass_empty: Waiting for the search models to load. You can already type your "
                    "question."
                )
            )

    with st.bottom:
        show_line()


def describe_search(engine: Engine) -> str:
    """Describe what happens before the first stage of an answer."""
    return _("Searching") if _is_settled(engine) else _("Waiting for the search models to load")


def _is_settled(engine: Engine) -> bool:
    state = engine.readiness()
    return state.ready or bool(state.error)
