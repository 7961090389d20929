"""Train the query adapter on labelled questions, and switch it on and off."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.evaluate.progress import show_background_run
from pages.evaluate.training_results import OBJECTIVES, show_trainings
from pages.shared import keys
from pages.shared.problems import show_errors_next_run, show_stored_error
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine
from rag_core.types.evaluation import Label
from rag_core.types.learning import TrainingConfig


def show_training(engine: Engine, name: str, labels: Sequence[Label]) -> None:
    """Show the section of the query adapter: training, the switch, and the held-out metrics."""
    st.header(_("Learn from these questions"), anchor=False)
    st.caption(
        _(
            "Footnote can learn from questions how yours are worded (a query adapter). Passages and index stay as they "
            "are. What it learned is tested on other documents, and is only used if it finds more there."
        )
    )
    objective = st.selectbox(
        _("Learn from"), list(OBJECTIVES), format_func=lambda one: _(OBJECTIVES[one][0]), key="objective"
    )
    st.caption(_(OBJECTIVES[objective][1]))
    state = engine.learning.state()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Train"),
            icon=":material/model_training:",
            disabled=bool(state and state.running) or (not labels and objective != "inverse_cloze"),
            key="train",
            on_click=_start_training,
            args=[engine, labels, TrainingConfig(objective), name],
        )
        if engine.learning.has_adapter:
            st.toggle(
                _("Use what was learned"),
                value=engine.learning.is_on,
                key=f"adapter_{engine.learning.is_on}",
                help=_("Nothing is re-indexed."),
                on_change=_switch_adapter,
                args=[engine, not engine.learning.is_on],
            )
    show_stored_error(keys.TRAINING_PROBLEM)
    if engine.learning.is_on:
        for problem in engine.learning.find_problems():
            st.warning(escape_markdown(translate_message(problem)), icon=":material/error:")
    show_background_run(engine.learning.state, engine.learning.cancel, "cancel_training")
    if trainings := engine.learning.trainings():
        show_trainings(engine, trainings)


def _start_training(engine: Engine, labels: Sequence[Label], config: TrainingConfig, name: str) -> None:
    with show_errors_next_run(keys.TRAINING_PROBLEM):
        engine.learning.start(labels, config, name=name)


def _switch_adapter(engine: Engine, on: bool) -> None:
    with show_errors_next_run(keys.TRAINING_PROBLEM):
        engine.learning.set_on(on)
