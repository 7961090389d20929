"""The stored trainings of the query adapter, with their held-out metrics."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.shared.text import escape_markdown, format_interval, format_time
from rag_core.engine import Engine
from rag_core.stages import SCORE_LABELS
from rag_core.types.formatting import format_count
from rag_core.types.learning import Objective, Training

# The name and the description of each objective.
OBJECTIVES: dict[Objective, tuple[str, str]] = {
    "contrastive": (
        "Right pages (contrastive)",
        "The adapter learns to rank the right page of each question above similar pages.",
    ),
    "marginal": (
        "Answers, without pages (marginal likelihood)",
        "Passages that contain the expected answer gain, in proportion to how much they helped.",
    ),
    "inverse_cloze": (
        "Sentences of the documents (inverse cloze)",
        "Questions are made from sentences. No others are needed; if there are some, the result is tested on them.",
    ),
}
_STAGES = {"dense": SCORE_LABELS["dense"].capitalize(), "pipeline": "Ranking in use"}


def show_trainings(engine: Engine, trainings: Sequence[Training]) -> None:
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
        help="Remove this training and what was learned; the questions stay.",
        on_click=engine.learning.remove,
        args=[chosen],
    )
    training = by_id[chosen]
    rows = [
        (
            _STAGES[one.stage],
            one.metric,
            format_interval(one.before),
            format_interval(one.after),
            format_interval(one.difference, sign="+"),
        )
        for one in training.figures
    ]
    columns = ["Search", "Metric", "Before", "After", "Difference"]
    st.dataframe(
        pd.DataFrame(rows, columns=columns),
        hide_index=True,
        height="content",
        key="held_out",
        alt="Metrics before and after the training",
    )
    st.caption(escape_markdown(_describe(training)))
    if training.accepted:
        st.success(
            "It finds more in documents that it has not learned from, so it can be used.", icon=":material/check:"
        )
    else:
        st.info(f"Not used. {escape_markdown(training.reason)}", icon=":material/block:")


def _title(training: Training) -> str:
    verdict = "accepted" if training.accepted else "rejected"
    return f"{OBJECTIVES[training.objective][0]} · {training.labels} · {format_time(training.created_at)} · {verdict}"


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
