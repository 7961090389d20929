"""The table that compares retrieval methods on the same labelled questions."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.shared.text import escape_markdown, format_duration
from rag_core.engine import Engine
from rag_core.types.evaluation import SIGNIFICANCE_LEVEL, TABLE_METRICS, Evaluation, MethodRow
from rag_core.types.formatting import format_count, format_size

# Fewer evaluations are compared with the form below the table.
_MIN_METHODS = 3
_HEADINGS = {
    "exact_match": "exact match",
    "token_f1": "token F1",
    "mrr@10": "MRR@10",
    "ndcg@10": "nDCG@10",
}


def show_methods(engine: Engine) -> None:
    """Show a table with a row per retrieval method, if at least three were measured on the same questions."""
    groups = _group(engine.evaluations.list())
    if not groups:
        return
    st.header("Ways to search, compared", anchor=False)
    name = next(iter(groups))
    if len(groups) > 1:
        name = st.selectbox("Questions", list(groups), key="methods_labels")
    shown = groups[name]
    rows = engine.evaluations.tabulate(shown)
    reference = next(one.configuration for one in rows if one.is_reference)
    st.caption(
        escape_markdown(
            f"{format_count(rows[0].questions, 'question')} of {name or 'unnamed'}. Values with 95 % intervals "
            f"(bootstrap over questions); * differs from {reference} with p < {SIGNIFICANCE_LEVEL:g} (paired "
            "bootstrap)."
        )
    )
    right = st.column_config.TextColumn(alignment="right")
    frame = _frame(rows)
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        column_config={"Method": st.column_config.TextColumn(width=190, pinned=True)}
        | dict.fromkeys(frame.columns[1:], right),
        key="methods",
        alt="Retrieval methods, each with its metrics, time and size",
    )
    st.caption("Time: to order the passages for one question. Index: the size of all indexes that a method reads.")
    spec = engine.evaluations.plots(shown).get("precision-recall")
    if spec:
        st.caption(
            "How many of the pages found are right (precision), while more of the right ones are found (recall)."
        )
        st.vega_lite_chart(
            spec=dict(spec), width="stretch", key="chart_methods", alt="Precision and recall of each method"
        )


def _group(kept: Sequence[Evaluation]) -> dict[str, list[Evaluation]]:
    """Return the newest evaluation of each configuration by labelled questions, in the order in which they ran."""
    groups: dict[str, dict[str, Evaluation]] = {}
    for one in kept:  # newest first
        newest = groups.setdefault(one.name, {})
        # Evaluations of a file that was changed since cannot be compared.
        if not newest or len(next(iter(newest.values())).outcomes) == len(one.outcomes):
            newest.setdefault(one.configuration, one)
    return {
        name: sorted(newest.values(), key=lambda one: one.created_at)
        for name, newest in groups.items()
        if len(newest) >= _MIN_METHODS
    }


def _frame(rows: Sequence[MethodRow]) -> pd.DataFrame:
    metrics = [name for name in TABLE_METRICS if any(name in one.metrics for one in rows)]
    cells = [
        [
            f"{one.configuration} (default)" if one.is_reference else one.configuration,
            *(_cell(one, name) for name in metrics),
            _time(one.median_ms),
            _time(one.p95_ms),
            "–" if one.index_bytes is None else format_size(one.index_bytes),
        ]
        for one in rows
    ]
    headings = [_HEADINGS.get(name, name) for name in metrics]
    return pd.DataFrame(cells, columns=["Method", *headings, "Median time", "p95", "Index"])


def _cell(row: MethodRow, name: str) -> str:
    if name not in row.metrics:
        return "–"
    interval = row.metrics[name].interval
    star = " *" if row.is_significant(name) else ""
    return f"{interval.value:.3f} ({interval.low:.2f}–{interval.high:.2f}){star}"


def _time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "–"
    return "< 1 ms" if milliseconds < 1 else format_duration(milliseconds / 1000)
