"""The table that compares retrieval methods on the same labelled questions."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.shared.text import count_questions, escape_markdown, format_bytes, format_duration
from pages.shared.translation import N_, _, format_number, translate_chart, translate_message
from rag_core.engine import Engine
from rag_core.types.evaluation import SIGNIFICANCE_LEVEL, TABLE_METRICS, Evaluation, MethodRow

# Minimum number of configurations in the table. Two evaluations are compared in the results below.
_MIN_METHODS = 3
_HEADINGS = {
    "exact_match": N_("exact match"),
    "token_f1": N_("token F1"),
    "mrr@10": "MRR@10",
    "ndcg@10": "nDCG@10",
}


def show_methods(engine: Engine) -> None:
    """Show a table with a row per retrieval method, if at least three were measured on the same questions."""
    groups = _group_evaluations(engine.evaluations.list())
    if not groups:
        return
    st.header(_("Ways to search, compared"), anchor=False)
    name = next(iter(groups))
    if len(groups) > 1:
        name = st.selectbox(_("Questions"), list(groups), key="methods_labels")
    shown = groups[name]
    rows = engine.evaluations.tabulate(shown)
    reference = next(one.configuration for one in rows if one.is_reference)
    st.caption(
        escape_markdown(
            _(
                "{questions} of {name}. Values with 95 % intervals (bootstrap over questions); * differs from "
                "{reference} with p < {level} (paired bootstrap).",
                questions=count_questions(rows[0].questions),
                name=translate_message(name) or _("unnamed"),
                reference=reference,
                level=f"{SIGNIFICANCE_LEVEL:g}",
            )
        )
    )
    right = st.column_config.TextColumn(alignment="right")
    frame = _build_frame(rows)
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        column_config={_("Method"): st.column_config.TextColumn(width=190, pinned=True)}
        | dict.fromkeys(frame.columns[1:], right),
        key="methods",
        alt=_("Retrieval methods, each with its metrics, time and size"),
    )
    st.caption(_("Time: to order the passages for one question. Index: the size of all indexes that a method reads."))
    spec = engine.evaluations.plots(shown).get("precision-recall")
    if spec:
        st.caption(
            _("How many of the pages found are right (precision), while more of the right ones are found (recall).")
        )
        st.vega_lite_chart(
            spec=translate_chart(spec),
            width="stretch",
            key="chart_methods",
            alt=_("Precision and recall of each method"),
        )


def _group_evaluations(kept: Sequence[Evaluation]) -> dict[str, list[Evaluation]]:
    """Return the newest evaluation of each configuration, by the name of the labelled questions.

    The evaluations of a name are in the order of their runs. Names with too few for a table are left out.
    """
    groups: dict[str, dict[str, Evaluation]] = {}
    for one in kept:  # newest first
        newest = groups.setdefault(one.name, {})
        # An earlier evaluation with another number of questions cannot be compared, because its file has changed since.
        if not newest or len(next(iter(newest.values())).outcomes) == len(one.outcomes):
            newest.setdefault(one.configuration, one)
    return {
        name: sorted(newest.values(), key=lambda one: one.created_at)
        for name, newest in groups.items()
        if len(newest) >= _MIN_METHODS
    }


def _build_frame(rows: Sequence[MethodRow]) -> pd.DataFrame:
    metrics = [name for name in TABLE_METRICS if any(name in one.metrics for one in rows)]
    cells = [
        [
            _("{name} (default)", name=one.configuration) if one.is_reference else one.configuration,
            *(_format_cell(one, name) for name in metrics),
            _format_time(one.median_ms),
            _format_time(one.p95_ms),
            "–" if one.index_bytes is None else format_bytes(one.index_bytes),
        ]
        for one in rows
    ]
    headings = [_(_HEADINGS.get(name, name)) for name in metrics]
    return pd.DataFrame(cells, columns=[_("Method"), *headings, _("Median time"), "p95", _("Index")])


def _format_cell(row: MethodRow, name: str) -> str:
    if name not in row.metrics:
        return "–"
    interval = row.metrics[name].interval
    star = " *" if row.is_significant(name) else ""
    low, high = format_number(interval.low, 2), format_number(interval.high, 2)
    return f"{format_number(interval.value, 3)} ({low}–{high}){star}"


def _format_time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "–"
    return _("< 1 ms") if milliseconds < 1 else format_duration(milliseconds / 1000)
