"""A word about models that are still loading, which never stands in the way."""

from __future__ import annotations

import streamlit as st

from pages.shared.text import plain
from rag_core.engine import Engine


def warmth(engine: Engine) -> None:
    """Say what is warming up until it is; what goes wrong there stays."""

    @st.fragment(run_every=None if engine.warmth().ready else 1.0)
    def notice() -> None:
        state = engine.warmth()
        if state.error:
            st.error(plain(state.error), icon=":material/error:")
        elif not state.ready:
            label = state.label if state.label.lower().startswith("warming") else f"Warming up: {state.label}"
            st.caption(f":material/hourglass_empty: {plain(label)}")

    notice()
