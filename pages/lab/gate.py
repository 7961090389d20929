"""Show whether the question would be answered, and how long each stage took."""

from __future__ import annotations

import streamlit as st

from pages.shared.stages import STAGE_NAMES
from pages.shared.text import format_duration, format_score
from rag_core.types import Explanation

_STEPS = {
    "embed": "reading the question",
    "lexical": f"{STAGE_NAMES['bm25']} (in parallel)",
    "dense": f"{STAGE_NAMES['dense']} (in parallel)",
    "sparse": f"{STAGE_NAMES['sparse']} (in parallel)",
    "financials": "financial statements",
    "rerank": STAGE_NAMES["rerank"],
    "cross_encoder": STAGE_NAMES["cross_encoder"],
    "gate": "gate",
    "total": "total",
}


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
        " · ".join(f"{words} {format_duration(times[name] / 1000)}" for name, words in _STEPS.items() if name in times)
    )
