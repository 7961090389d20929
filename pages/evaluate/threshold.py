"""The threshold that an evaluation advises, put to use with a click."""

from __future__ import annotations

import streamlit as st

from pages.shared.problems import told
from pages.shared.text import threshold_text
from rag_core.engine import Engine
from rag_core.types import Evaluation

_SHARES = (0, 1, 2, 5, 10, 15, 20)


def threshold(engine: Engine, evaluation: Evaluation) -> None:
    """Advise a threshold for the share of unanswerable questions that may slip through."""
    if not evaluation.risk_coverage:
        return
    st.subheader("Threshold", anchor=False)
    most = st.select_slider(
        "Questions without an answer that may be answered all the same, at most",
        _SHARES,
        value=5,
        format_func=lambda share: f"{share} %",
        key="most_answered",
    )
    advice = engine.evaluations.advise_threshold(evaluation, most / 100)
    in_use = threshold_text(engine.preferences.threshold)
    if advice is None:
        st.caption(
            f"In use: {in_use}. An advice needs questions with and without an answer in the documents, and a "
            "threshold up to 1 that keeps to this and still answers some of the first."
        )
        return
    advised = threshold_text(advice.threshold)
    # With and without a language model other scores decide, each with a threshold of its own.
    is_other_gate = (evaluation.generator == "extractive") == bool(engine.models.current)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{advised}** is the lowest that keeps to this: it answers "
            f"{100 * advice.answerable_answered:.0f} % of the questions with an answer and "
            f"{100 * advice.unanswerable_answered:.0f} % of those without. In use: {in_use}.",
            width="stretch",
        )
        st.button(
            f"Use {advised}",
            icon=":material/tune:",
            key="use_threshold",
            disabled=advised == in_use or is_other_gate,
            help="Advised for answers with another generator than the one in use." if is_other_gate else None,
            on_click=_use,
            args=[engine, advice.threshold],
        )
    st.caption(advice.reach)


def _use(engine: Engine, value: float) -> None:
    with told():
        engine.preferences.set_threshold(value)
        st.toast(f"Threshold {threshold_text(value)} is in use", icon=":material/check:")
