"""Start an evaluation and show its progress; it continues in the background when the reader leaves the page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.evaluate.progress import show_background_run
from pages.shared import keys
from pages.shared.problems import show_errors_next_run, show_stored_error
from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.evaluation import Baseline, Label
from rag_core.types.judgements import JudgeConfig
from rag_core.types.retrieval import RetrievalConfig


def show_run_button(
    engine: Engine, name: str, labels: Sequence[Label], configurations: Sequence[RetrievalConfig | Baseline]
) -> None:
    """Show the button that starts an evaluation, and the choices whether to answer the questions and judge answers."""
    state = engine.evaluations.state()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Run"),
            type="primary",
            icon=":material/play_arrow:",
            disabled=not labels or not configurations or bool(state and state.running),
            key="run_evaluation",
            on_click=_start_evaluation,
            args=[engine, name, labels, configurations],
        )
        st.toggle(
            _("Answer the questions too"),
            value=True,
            key="with_answers",
            help=_("If off, only the ranking of the passages is measured, which is much faster."),
        )
        if engine.models.current and st.session_state["with_answers"]:
            st.toggle(
                _("Judge the answers"),
                key="with_judge",
                help=_("A model checks each statement and passage, as in RAGAS: about four calls for a question."),
            )
    show_stored_error(keys.EVALUATION_PROBLEM)
    if engine.models.current and st.session_state["with_answers"]:
        _choose_judge(engine)
        st.caption(
            _(
                "{model} answers every question, also those that the threshold then refuses.",
                model=escape_markdown(engine.models.current),
            )
        )


def _choose_judge(engine: Engine) -> None:
    """Let the reader choose the model that judges the answers; a connection to a GGUF file offers no other model."""
    if st.session_state["with_judge"] and not engine.models.settings.gguf:
        st.text_input(
            _("Model that judges"),
            placeholder=engine.models.current,
            key="judge_model",
            help=_("Another model of the same endpoint. A model that judges its own answers rates them too high."),
        )


def show_progress(engine: Engine) -> None:
    """Show the progress of the running evaluation; if none is running, show the problem of the last evaluation."""
    show_background_run(engine.evaluations.state, engine.evaluations.cancel, "cancel_evaluation")


def _start_evaluation(
    engine: Engine, name: str, labels: Sequence[Label], configurations: Sequence[RetrievalConfig | Baseline]
) -> None:
    with show_errors_next_run(keys.EVALUATION_PROBLEM):
        with_answers = st.session_state["with_answers"]
        judges = with_answers and st.session_state.get("with_judge")
        judge = JudgeConfig(str(st.session_state.get("judge_model") or "").strip() or None) if judges else None
        engine.evaluations.start(labels, configurations, name=name, answers=with_answers, judge=judge)
