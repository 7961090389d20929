"""Advise a threshold on the basis of an evaluation, with a button to use it."""

from __future__ import annotations

import streamlit as st

from pages.shared.problems import show_errors
from pages.shared.scores import format_threshold
from pages.shared.translation import _, format_number, translate_message
from rag_core.engine import Engine
from rag_core.types.evaluation import Evaluation

_SHARES = (0, 1, 2, 5, 10, 15, 20)


def show_advised_threshold(engine: Engine, evaluation: Evaluation) -> None:
    """Let the reader limit the share of unanswerable questions that are answered; advise a threshold for this limit."""
    if not evaluation.risk_coverage:
        return
    st.header(
        _("When to answer"),
        anchor=False,
        help=_(
            "The threshold: below it, Footnote says that it does not know. A higher one answers fewer questions, and "
            "fewer of the answers are wrong."
        ),
    )
    most = st.select_slider(
        _("Of the questions without an answer, at most this share may be answered"),
        _SHARES,
        value=5,
        format_func=lambda share: f"{share} %",
        key="most_answered",
    )
    advice = engine.evaluations.advise_threshold(evaluation, most / 100)
    in_use = format_threshold(engine.preferences.threshold)
    if advice is None:
        st.caption(
            _(
                "In use: {in_use}. No threshold can be advised. That needs questions with and without an answer "
                "in the documents, and a threshold up to 1 that keeps this limit and still answers some "
                "questions.",
                in_use=in_use,
            )
        )
        return
    advised = format_threshold(advice.threshold)
    # The gate uses one score and threshold with a language model, and another score and threshold without. So the
    # advised threshold can be used only if both the evaluation and the app use a language model, or neither does.
    is_other_gate = (evaluation.generator == "extractive") == bool(engine.models.current)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _(
                "**{advised}** is the lowest threshold that keeps this limit: it answers {answerable} % of the "
                "answerable and {unanswerable} % of the unanswerable questions. In use: {in_use}.",
                advised=advised,
                answerable=format_number(100 * advice.answerable_answered, 0),
                unanswerable=format_number(100 * advice.unanswerable_answered, 0),
                in_use=in_use,
            ),
            width="stretch",
        )
        st.button(
            _("Use {advised}", advised=advised),
            icon=":material/tune:",
            key="use_threshold",
            disabled=advised == in_use or is_other_gate,
            help=_explain_other_gate(evaluation) if is_other_gate else None,
            on_click=_use_threshold,
            args=[engine, advice.threshold],
        )
    st.caption(translate_message(advice.confidence_text))


def _explain_other_gate(evaluation: Evaluation) -> str:
    if evaluation.generator == "extractive":
        return _("This evaluation ran without a language model, and the app now uses one. Run it again first.")
    return _("This evaluation ran with a language model, and the app now uses none. Run it again first.")


def _use_threshold(engine: Engine, value: float) -> None:
    with show_errors():
        engine.preferences.set_threshold(value)
        st.toast(_("Threshold {threshold} is in use", threshold=format_threshold(value)), icon=":material/check:")
