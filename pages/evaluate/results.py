"""Stored evaluations: metrics, charts, and each question that went wrong."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.evaluate.changes import show_changes
from pages.evaluate.judged import show_judge_reports
from pages.evaluate.metric_words import describe_metric, judge_difference
from pages.evaluate.threshold import show_advised_threshold
from pages.evaluate.wrong import show_wrong_answers
from pages.shared.text import (
    count_questions,
    escape_markdown,
    format_duration,
    format_interval,
    format_time,
    number_equal_titles,
)
from pages.shared.translation import N_, _, format_number, ngettext, translate_chart, translate_message
from rag_core.engine import Engine
from rag_core.types.evaluation import Evaluation, ReleaseCheck

_NOTHING = ""
_CHARTS = {
    "precision-recall": (
        N_("Precision and recall"),
        N_("How many of the pages found are right (precision), while more of the right ones are found (recall)."),
    ),
    "risk-coverage": (
        N_("Risk and coverage"),
        N_("A lower threshold answers more questions, and more of the answers are wrong. Each point is a threshold."),
    ),
    "scores": (N_("Scores"), N_("Questions right of the dashed line, which is the threshold in use, are answered.")),
    "figures": (N_("Metrics"), N_("Each metric with its 95 % interval.")),
}


def show_results(engine: Engine) -> None:
    """Let the reader choose one evaluation, or two to compare, and show them."""
    # Read the state first: an evaluation that it names is stored.
    state = engine.evaluations.state()
    kept = {one.evaluation_id: one for one in engine.evaluations.list()}
    if not kept:
        if not (state and state.running):
            st.caption(_("No evaluation has been run yet. Choose questions above and run one."))
        return
    first, second = _choose_evaluations(engine, kept, state.evaluation_ids if state else ())
    shown = [first, second] if second else [first]
    words = [
        _(
            "{questions} in {duration}",
            questions=count_questions(len(one.outcomes)),
            duration=format_duration(one.seconds),
        )
        for one in shown
    ]
    st.caption(" · ".join([*words, _("values with 95 % intervals (bootstrap over questions)")]))
    if first.pseudo_questions:
        st.caption(
            ngettext(
                ":material/science: {number} pseudo-question among them, made from sentences of the documents. They "
                "are closer to the text than real questions, so the metrics are too high.",
                ":material/science: {number} pseudo-questions among them, made from sentences of the documents. They "
                "are closer to the text than real questions, so the metrics are too high.",
                first.pseudo_questions,
            )
        )
    show_wrong_answers(first)
    if second is None:
        show_changes(engine, first)
    st.header(_("Figures"), anchor=False, help=_("The last column has the usual names of the metrics."))
    _show_table(_build_comparison(engine, first, second) if second else _build_figures(engine, first))
    _show_context(engine, first)
    if second:
        _show_release_check(engine.evaluations.check_release(first, second))
    show_judge_reports(shown)
    show_advised_threshold(engine, first)
    _show_charts(engine, shown)


def _choose_evaluations(
    engine: Engine, kept: dict[str, Evaluation], newest: Sequence[str]
) -> tuple[Evaluation, Evaluation | None]:
    """Return the evaluation that the reader chooses, and the one to compare it with, if any.

    ``newest`` contains the ids of the evaluations of the last run. If there are two of them, show both at first; more
    of them are in the table of methods.
    """
    left, right, side = st.columns([4, 4, 1.2], vertical_alignment="bottom")
    ids, pair = list(kept), list(newest)
    titles = number_equal_titles({name: _build_title(one) for name, one in kept.items()})
    # Each new evaluation gets new keys, so that the widgets show the new evaluation instead of the earlier choice.
    turn = pair[-1] if pair else "kept"
    default = pair[0] if 0 < len(pair) <= 2 and pair[0] in kept else ids[0]
    first = left.selectbox(
        _("Evaluation"),
        ids,
        index=ids.index(default),
        format_func=titles.__getitem__,
        key=f"evaluation_{turn}",
    )
    others = [_NOTHING, *(one for one in ids if one != first)]
    partner = pair[1] if len(pair) == 2 and first == pair[0] and pair[1] in others else _NOTHING
    second = right.selectbox(
        _("Compared with"),
        others,
        index=others.index(partner),
        format_func=lambda one: titles[one] if one else _("Nothing"),
        key=f"compared_with_{turn}",
    )
    side.button(
        _("Remove"),
        icon=":material/delete:",
        type="tertiary",
        key="remove_evaluation",
        help=_("Remove this run; its questions stay."),
        on_click=engine.evaluations.remove,
        args=[first],
    )
    return kept[first], kept.get(second)


def _build_title(evaluation: Evaluation) -> str:
    name = translate_message(evaluation.name) or _("unnamed")
    return f"{evaluation.configuration} · {name} · {format_time(evaluation.created_at)}"


def _show_table(frame: pd.DataFrame) -> None:
    right = st.column_config.TextColumn(alignment="right")
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        column_config={_("Measured"): st.column_config.TextColumn(width=330)}
        | dict.fromkeys(frame.columns[1:-1], right),
        key="figures",
        alt=_("Metrics of the evaluation, each with its interval"),
    )


def _build_figures(engine: Engine, evaluation: Evaluation) -> pd.DataFrame:
    """Return a table of the metrics, without those that `_show_context` shows."""
    others = [one.share for one in engine.evaluations.summarize_context(evaluation)]
    shown = [one for one in evaluation.figures if one not in others]
    rows = [
        (describe_metric(one.metric), format_interval(one.interval), format_number(one.n), one.metric) for one in shown
    ]
    return pd.DataFrame(rows, columns=[_("Measured"), evaluation.configuration, _("Questions"), _("Metric")])


def _show_context(engine: Engine, evaluation: Evaluation) -> None:
    """Show, for each token budget, how often the pages in the budget contain the answer, and what a question costs."""
    found = engine.evaluations.summarize_context(evaluation)
    if not found:
        return
    st.header(_("What a model would read"), anchor=False, help=_("Value in context."))
    st.caption(
        _(
            "A capable model gets the best pages, up to a number of tokens that Settings limits. This is the share of "
            "questions whose answer, or else whose right page, is among them. No model was asked for it."
        )
    )
    model = engine.models.active()
    usages = [model.profile.estimate_question_usage(one.median_tokens) if model else None for one in found]
    columns = {
        _("Tokens of pages, at most"): [format_number(one.budget) for one in found],
        _("Value in context"): [format_interval(one.share.interval) for one in found],
        _("Tokens, median"): [format_number(one.median_tokens) for one in found],
    }
    costs = [usage.cost_label if usage and usage.cost is not None else "" for usage in usages]
    if any(costs):
        columns[_("Cost of a question, up to")] = costs
    frame = pd.DataFrame(columns)
    right = st.column_config.TextColumn(alignment="right")
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        column_config=dict.fromkeys(frame.columns, right),
        key="context_values",
        alt=_("Share of questions whose answer is in the pages for a model, by budget"),
    )


def _build_comparison(engine: Engine, first: Evaluation, second: Evaluation) -> pd.DataFrame:
    sides = [{one.metric: one for one in evaluation.figures} for evaluation in (first, second)]
    differences = {one.metric: one for one in engine.evaluations.compare(first, second)}
    rows = []
    for metric in dict.fromkeys([*sides[0], *sides[1]]):
        values = [format_interval(side[metric].interval) if metric in side else "–" for side in sides]
        comparison = differences.get(metric)
        change = (
            [
                format_interval(comparison.difference, sign="+"),
                _(judge_difference(comparison)),
                _format_p_value(comparison.p_value),
            ]
            if comparison
            else ["–", "–", "–"]
        )
        rows.append([describe_metric(metric), *values, *change, metric])
    names = [one.configuration for one in (first, second)]
    if names[0] == names[1]:
        names = [_("{name} (first)", name=names[0]), _("{name} (second)", name=names[1])]
    columns = [_("Measured"), *names, _("Second minus first"), _("What it means"), "p", _("Metric")]
    return pd.DataFrame(rows, columns=columns)


def _show_release_check(check: ReleaseCheck) -> None:
    text = escape_markdown(translate_message(check.reason))
    if check.verdict == "refused":
        st.error(text, icon=":material/block:")
    elif check.verdict == "uncertain":
        st.warning(text, icon=":material/warning:")
    else:
        st.caption(text)


def _format_p_value(value: float) -> str:
    return format_number(value, 3) if value >= 0.001 else f"< {format_number(0.001, 3)}"


def _show_charts(engine: Engine, shown: Sequence[Evaluation]) -> None:
    drawn = engine.evaluations.plots(shown)
    columns = st.columns(2)
    for position, name in enumerate(name for name in _CHARTS if name in drawn):
        title, words = map(_, _CHARTS[name])
        with columns[position % 2]:
            st.subheader(title, anchor=False)
            st.caption(words)
            st.vega_lite_chart(
                spec=translate_chart(drawn[name]), width="stretch", key=f"chart_{name}", alt=f"{title}. {words}"
            )
