"""Train the query adapter on labelled questions, and switch it on and off."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.shared import keys
from pages.shared.problems import show_errors_next_run, show_stored_error
from pages.shared.text import escape_markdown, format_time
from rag_core.engine import Engine
from rag_core.types import Label, Objective, Training, TrainingConfig, format_count

_OBJECTIVES: dict[Objective, tuple[str, str]] = {
    "contrastive": (
        "Labelled pages (contrastive)",
        "The page of each label is told apart from pages that words or other questions confuse with it.",
    ),
    "marginal": (
        "Answers, without pages (marginal likelihood)",
        "Passages in which the reader finds the expected answer gain, in proportion to how much they helped.",
    ),
    "inverse_cloze": (
        "Sentences of the documents (inverse cloze)",
        "Pseudo-questions are told apart by the passage that each was taken from. No labels are needed; if there are "
        "some, the adapter is measured on them.",
    ),
}
_STAGES = {"dense": "Meaning only", "pipeline": "Ranking in use"}


def show_training(engine: Engine, name: str, labels: Sequence[Label]) -> None:
    """Show the section of the query adapter: training, the switch, and the held-out figures."""
    st.subheader("Learn from these questions", anchor=False)
    st.caption(
        "A query adapter changes how questions are compared with passages; passages and index stay as they are. It is "
        "measured on documents that were not used to train it, and is only used if their figures rise."
    )
    objective = st.selectbox(
        "Learn from", list(_OBJECTIVES), format_func=lambda one: _OBJECTIVES[one][0], key="objective"
    )
    st.caption(_OBJECTIVES[objective][1])
    state = engine.learning.state()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Train",
            icon=":material/model_training:",
            disabled=bool(state and state.running) or (not labels and objective != "inverse_cloze"),
            key="train",
            on_click=_start,
            args=[engine, labels, TrainingConfig(objective), name],
        )
        st.toggle(
            "Use the adapter",
            value=engine.learning.is_on,
            disabled=not engine.learning.has_adapter,
            key=f"adapter_{engine.learning.has_adapter}_{engine.learning.is_on}",
            help="Nothing is re-indexed. Without an accepted training, there is no adapter.",
            on_change=_switch,
            args=[engine, not engine.learning.is_on],
        )
    show_stored_error(keys.TRAINING_PROBLEM)
    if engine.learning.is_on:
        for problem in engine.learning.find_problems():
            st.warning(escape_markdown(problem), icon=":material/error:")
    _show_progress(engine)
    if trainings := engine.learning.trainings():
        _show_last(engine, trainings)


def _show_progress(engine: Engine) -> None:
    state = engine.learning.state()
    if state is None:
        return
    if not state.running:
        if state.problem:
            st.warning(escape_markdown(state.problem), icon=":material/error:")
        return

    @st.fragment(run_every=1.0)
    def progress() -> None:
        now = engine.learning.state()
        if now is None or not now.running:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
            st.progress(now.done / now.total if now.total else 0.0, text=f"{now.stage}: {now.done:,} of {now.total:,}")
            st.button("Cancel", key="cancel_training", type="tertiary", on_click=engine.learning.cancel)

    progress()


def _show_last(engine: Engine, trainings: Sequence[Training]) -> None:
    """Show a training that the reader chooses; at first, the newest."""
    by_id = {one.training_id: one for one in trainings}
    left, right = st.columns([5, 1.2], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Training", list(by_id), format_func=lambda one: _title(by_id[one]), key=f"training_{trainings[0].training_id}"
    )
    right.button(
        "Remove",
        icon=":material/delete:",
        type="tertiary",
        key="remove_training",
        help="Remove this training and its adapter; the labels stay.",
        on_click=engine.learning.remove,
        args=[chosen],
    )
    training = by_id[chosen]
    rows = [
        (
            _STAGES[one.stage],
            one.metric,
            *(f"{side.value:.3f} ({side.low:.3f} to {side.high:.3f})" for side in (one.before, one.after)),
            f"{one.difference.value:+.3f} ({one.difference.low:+.3f} to {one.difference.high:+.3f})",
        )
        for one in training.figures
    ]
    columns = ["Search", "Metric", "Without", "With the adapter", "Difference"]
    st.dataframe(
        pd.DataFrame(rows, columns=columns),
        hide_index=True,
        height="content",
        key="held_out",
        alt="Held-out figures without and with the adapter",
    )
    st.caption(escape_markdown(_describe(training)))
    if training.accepted:
        st.success("The held-out figures rose, so this adapter can be used.", icon=":material/check:")
    else:
        st.info(f"Not used. {escape_markdown(training.reason)}", icon=":material/block:")


def _title(training: Training) -> str:
    verdict = "accepted" if training.accepted else "refused"
    return f"{_OBJECTIVES[training.objective][0]} · {training.labels} · {format_time(training.created_at)} · {verdict}"


def _describe(training: Training) -> str:
    kind = "pseudo-question" if training.measured_on_pseudo else "held-out question"
    words = [
        f"Trained on {format_count(training.trained_on, 'question')}, measured on "
        f"{format_count(training.figures[0].n, kind)} in {training.folds} groups of documents, for {training.embedder}."
    ]
    if training.guided:
        words.append(
            f"{format_count(training.guided, 'label names', 'labels name')} no page: passages that contain the answer "
            "count as right."
        )
    if training.unused:
        words.append(f"{format_count(training.unused, 'question')} could not be used.")
    return " ".join(words)


def _start(engine: Engine, labels: Sequence[Label], config: TrainingConfig, name: str) -> None:
    with show_errors_next_run(keys.TRAINING_PROBLEM):
        engine.learning.start(labels, config, name=name)


def _switch(engine: Engine, on: bool) -> None:
    with show_errors_next_run(keys.TRAINING_PROBLEM):
        engine.learning.set_on(on)
