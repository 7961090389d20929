"""What changed since the last run with the same questions: each question, and the metrics with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.evaluate.metric_words import describe_metric, judge_difference
from pages.shared.text import count_questions, format_interval, format_time
from pages.shared.translation import N_, _, translate_message
from rag_core.engine import Engine
from rag_core.types.evaluation import Evaluation, QuestionResult

_RIGHT = N_("Right")


def show_changes(engine: Engine, evaluation: Evaluation) -> None:
    """Compare an evaluation with the previous evaluation of the same configuration and questions, if there is one."""
    before = find_last(engine.evaluations.list(), evaluation)
    if before is None:
        return
    st.header(_("Since the last run"), anchor=False)
    earlier = {(one.label_id, one.question): one for one in before.outcomes}
    pairs = [
        (found, one) for one in evaluation.outcomes if (found := earlier.get((one.label_id, one.question))) is not None
    ]
    changed = [pair for pair in pairs if describe_outcome(pair[0]) != describe_outcome(pair[1])]
    better = sum(bool(old.problem) and not new.problem for old, new in changed)
    worse = sum(bool(new.problem) and not old.problem for old, new in changed)
    comparisons = engine.evaluations.compare(before, evaluation)
    verdicts = {one.metric: judge_difference(one) for one in comparisons}
    st.markdown(
        _(
            "Compared with {time}: of {questions}, **{better} became right, {worse} became wrong**, and {others} "
            "stayed as they were. {conclusion}",
            time=format_time(before.created_at),
            questions=count_questions(len(pairs)),
            better=better,
            worse=worse,
            others=len(pairs) - better - worse,
            conclusion=_describe_conclusion([*verdicts.values()]),
        )
    )
    if changed:
        st.dataframe(
            pd.DataFrame(
                [(new.question, describe_outcome(old), describe_outcome(new)) for old, new in changed],
                columns=[_("Question"), _("Last run"), _("This run")],
            ),
            hide_index=True,
            height="content",
            key="changed_questions",
            alt=_("Questions with another result than in the last run"),
        )
    rows = [
        (describe_metric(one.metric), format_interval(one.difference, sign="+"), _(verdicts[one.metric]), one.metric)
        for one in comparisons
        if verdicts[one.metric] != "The same"
    ]
    if rows:
        st.dataframe(
            pd.DataFrame(rows, columns=[_("Measured"), _("Change (95 % interval)"), _("What it means"), _("Name")]),
            hide_index=True,
            height="content",
            key="changed_metrics",
            alt=_("Metrics that changed since the last run, each with its interval"),
        )


def find_last(kept: Sequence[Evaluation], evaluation: Evaluation) -> Evaluation | None:
    """Return the newest earlier evaluation of the same configuration that shares questions with this evaluation."""
    asked = {(one.label_id, one.question) for one in evaluation.outcomes}
    for one in kept:  # newest first
        is_earlier = one.created_at < evaluation.created_at and one.configuration == evaluation.configuration
        if is_earlier and any((other.label_id, other.question) in asked for other in one.outcomes):
            return one
    return None


def describe_outcome(outcome: QuestionResult) -> str:
    """Return what is wrong with the result of a question, or that it is right."""
    return translate_message(outcome.problem) or _(_RIGHT)


def _describe_conclusion(verdicts: Sequence[str]) -> str:
    if all(one == "The same" for one in verdicts):
        return _("No metric changed.")
    if any(one in ("Better", "Worse") for one in verdicts):
        return _(
            "Changes marked as better or worse are larger than chance explains; those that may be chance mean nothing."
        )
    return _("The differences mean nothing: changes of this size happen by chance.")
