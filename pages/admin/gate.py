"""When Footnote answers: the threshold beside the scores of recent questions, and the number of passages."""

from __future__ import annotations

import streamlit as st

from pages.admin.context_budget import reset_context_budget
from pages.shared.problems import show_errors
from pages.shared.scores import format_threshold
from pages.shared.text import count_questions
from pages.shared.translation import _, translate_chart
from rag_core.engine import Engine
from rag_core.types.formatting import count_decimals

_THRESHOLD, _TOP_K, _WITH_MODEL = "gate_threshold", "gate_top_k", "gate_with_model"


def show_answer_settings(engine: Engine) -> None:
    """Let the operator change the threshold, beside the scores of recent questions, and the number of passages."""
    st.header(_("When to answer"), anchor=False)
    st.caption(
        _(
            "For each question, Footnote estimates the probability that the passages found answer it. Below "
            "the threshold, it says that it does not know. A higher threshold answers fewer questions, and "
            "fewer of the answers are wrong."
        )
    )
    # There is one threshold with a language model and another without. So update the slider after a model was connected
    # or disconnected, and after the operator has left the page, because Streamlit then forgets the value.
    if st.session_state.get(_WITH_MODEL) != bool(engine.models.current) or _THRESHOLD not in st.session_state:
        st.session_state[_WITH_MODEL], st.session_state[_THRESHOLD] = (
            bool(engine.models.current),
            engine.preferences.threshold,
        )
    st.session_state.setdefault(_TOP_K, engine.preferences.top_k)
    left, right = st.columns(2, gap="large")
    with left:
        _show_form(engine)
    with right:
        _show_recent_scores(engine)


def _show_form(engine: Engine) -> None:
    with st.form("gate"):
        st.slider(
            _("Threshold"),
            0.0,
            1.0,
            step=0.01,
            format=f"%.{count_decimals(engine.preferences.threshold)}f",
            key=_THRESHOLD,
            help=_describe_threshold(engine),
        )
        st.number_input(_("Passages per answer"), 1, 100, key=_TOP_K)
        with st.container(horizontal=True):
            st.form_submit_button(_("Save"), type="primary", key="save_gate", on_click=_save_settings, args=[engine])
            st.form_submit_button(_("Reset to the defaults"), key="reset_gate", on_click=_reset_settings, args=[engine])
    settings = engine.settings
    st.caption(
        _(
            "In use: threshold {threshold}, {passages} passages. By default: threshold {default}, "
            "{default_passages} passages.",
            threshold=format_threshold(engine.preferences.threshold),
            passages=engine.preferences.top_k,
            default=format_threshold(engine.preferences.default_threshold),
            default_passages=settings.top_k,
        )
    )


def _describe_threshold(engine: Engine) -> str:
    score = _("the best passage's {gate} score", gate=engine.preferences.gate)
    if engine.models.current:
        return _(
            "If {score} is lower, the model is not asked. Applies only while a language model is connected.",
            score=score,
        )
    return _(
        'If {score} is lower, the answer is "I don\'t know". Applies only while no language model is connected.',
        score=score,
    )


def _show_recent_scores(engine: Engine) -> None:
    """Show the scores of recent questions, which help the operator to choose the threshold."""
    scores = engine.evaluations.recent_gate_scores()
    if not scores:
        st.caption(_("The scores of recent questions are shown here as soon as questions are asked in the chat."))
        return
    above = sum(score >= engine.preferences.threshold for score in scores)
    words = _(
        "Best scores of the newest {questions} in conversations: {above} reached the threshold in use (dashed line).",
        questions=count_questions(len(scores)),
        above=above,
    )
    st.caption(words)
    st.vega_lite_chart(
        spec=translate_chart(engine.evaluations.gate_scores_plot(scores)), width="stretch", key="gate_scores", alt=words
    )


def _save_settings(engine: Engine) -> None:
    with show_errors():
        engine.preferences.set_threshold(st.session_state[_THRESHOLD])
        engine.preferences.set_top_k(int(st.session_state[_TOP_K]))
        st.toast(_("Saved"), icon=":material/check:")


def _reset_settings(engine: Engine) -> None:
    with show_errors():
        engine.preferences.set_threshold(None)
        engine.preferences.set_top_k(None)
        reset_context_budget(engine)
        st.session_state[_THRESHOLD] = engine.preferences.threshold
        st.session_state[_TOP_K] = engine.preferences.top_k
