"""The stored trainings of the query adapter, with their held-out metrics."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.shared.text import count_questions, escape_markdown, format_interval, format_time, number_equal_titles
from pages.shared.translation import N_, _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.stages import SCORE_LABELS
from rag_core.types.learning import Objective, Training

# The name and the description of each objective.
OBJECTIVES: dict[Objective, tuple[str, str]] = {
    "contrastive": (
        N_("Right pages (contrastive)"),
        N_("The adapter learns to rank the right page of each question above similar pages."),
    ),
    "marginal": (
        N_("Answers, without pages (marginal likelihood)"),
        N_("Passages that contain the expected answer gain, in proportion to how much they helped."),
    ),
    "inverse_cloze": (
        N_("Sentences of the documents (inverse cloze)"),
        N_("Questions are made from sentences. No others are needed; if there are some, the result is tested on them."),
    ),
}
_STAGES = {"dense": SCORE_LABELS["dense"].capitalize(), "pipeline": N_("Ranking in use")}


def show_trainings(engine: Engine, trainings: Sequence[Training]) -> None:
    """Show a training that the reader chooses; at first, the newest."""
    by_id = {one.training_id: one for one in trainings}
    titles = number_equal_titles({name: _build_title(one) for name, one in by_id.items()})
    left, right = st.columns([5, 1.2], vertical_alignment="bottom")
    chosen = left.selectbox(
        _("Training"),
        list(by_id),
        format_func=titles.__getitem__,
        key=f"training_{trainings[0].training_id}",
    )
    right.button(
        _("Remove"),
        icon=":material/delete:",
        type="tertiary",
        key="remove_training",
        help=_("Remove this training and what was learned; the questions stay."),
        on_click=engine.learning.remove,
        args=[chosen],
    )
    training = by_id[chosen]
    rows = [
        (
            translate_message(_(_STAGES[one.stage])),
            one.metric,
            format_interval(one.before),
            format_interval(one.after),
            format_interval(one.difference, sign="+"),
        )
        for one in training.figures
    ]
    columns = [_("Search"), _("Metric"), _("Before"), _("After"), _("Difference")]
    st.dataframe(
        pd.DataFrame(rows, columns=columns),
        hide_index=True,
        height="content",
        key="held_out",
        alt=_("Metrics before and after the training"),
    )
    st.caption(escape_markdown(_describe_training(training)))
    if training.accepted:
        st.success(
            _("It finds more in documents that it has not learned from, so it can be used."), icon=":material/check:"
        )
    else:
        st.info(
            _("Not used. {reason}", reason=escape_markdown(translate_message(training.reason))), icon=":material/block:"
        )


def _build_title(training: Training) -> str:
    name, labels = _(OBJECTIVES[training.objective][0]), translate_message(training.labels)
    verdict = _("accepted") if training.accepted else _("rejected")
    return f"{name} · {labels} · {format_time(training.created_at)} · {verdict}"


def _describe_training(training: Training) -> str:
    number = training.figures[0].n
    if training.measured_on_pseudo:
        measured = ngettext("{number} pseudo-question", "{number} pseudo-questions", number)
    else:
        measured = ngettext("{number} held-out question", "{number} held-out questions", number)
    words = [
        _(
            "Trained on {questions}, measured on {measured} in {folds} groups of documents, for {embedder}.",
            questions=count_questions(training.trained_on),
            measured=measured,
            folds=training.folds,
            embedder=training.embedder,
        )
    ]
    if training.guided:
        words.append(
            ngettext(
                "{number} label names no page: passages that contain the answer count as right.",
                "{number} labels name no page: passages that contain the answer count as right.",
                training.guided,
            )
        )
    if training.unused:
        words.append(_("{questions} could not be used.", questions=count_questions(training.unused)))
    return " ".join(words)
