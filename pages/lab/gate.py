"""Show whether the question would be answered, and how long each stage took."""

from __future__ import annotations

import streamlit as st

from pages.shared.text import format_duration, format_score
from rag_core.stages import STAGES
from rag_core.types.explanations import Explanation


def show_gate_decision(explanation: Explanation) -> None:
    """Show the decision of the gate, its score and threshold, and how long each stage took.

    The colour is neutral, because the decision says nothing about whether the answer is right.
    """
    gate = explanation.gate
    value, needed = (format_score(gate.score_name, one, gate.decimals) for one in (gate.score, gate.threshold))
    if gate.answerable:
        decision, icon = "The gate lets this question through", ":material/login:"
    else:
        decision, icon = "The gate refuses this question", ":material/block:"
    st.info(f"{decision}: {gate.score_name} {value}, threshold {needed}.", icon=icon)
    times = explanation.timings_ms
    st.caption(
        " · ".join(
            f"{stage.short} {format_duration(times[stage.name] / 1000)}"
            for stage in STAGES
            if stage.short and stage.name in times
        )
    )
