"""When to answer, and from how many passages."""

from __future__ import annotations

import streamlit as st

from pages.shared.problems import told
from rag_core.engine import Engine


def gate(engine: Engine) -> None:
    """Let the operator change threshold and number of passages."""
    st.subheader("Answering", anchor=False)
    settings = engine.settings
    with st.form("gate"):
        threshold = st.slider(
            "Threshold",
            0.0,
            1.0,
            float(engine.threshold),
            0.01,
            help="When the best passage's rerank score is lower, the answer is that the documents don't say.",
        )
        top_k = st.number_input("Passages an answer is read from", 1, 100, int(engine.top_k))
        with st.container(horizontal=True):
            save = st.form_submit_button("Save", type="primary")
            reset = st.form_submit_button("Back to the settings")
    with told():
        if save:
            engine.set_threshold(threshold)
            engine.set_top_k(int(top_k))
            st.toast("Saved", icon=":material/check:")
        if reset:
            engine.set_threshold(None)
            engine.set_top_k(None)
            st.rerun()
    st.caption(f"The settings say {settings.threshold:.2f} and {settings.top_k}.")
