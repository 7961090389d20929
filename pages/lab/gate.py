"""Show whether the question would be answered, and how long each stage took."""

from __future__ import annotations

import streamlit as st

from pages.shared.scores import format_score
from pages.shared.text import format_duration
from pages.shared.translation import _, translate_message
from rag_core.stages import STAGES
from rag_core.types.explanations import Explanation


def show_gate_decision(explanation: Explanation) -> None:
    """Show whether the question is answered, the score and the threshold of the gate, and how long each stage took.

    The colour is neutral, because the decision says nothing about whether the answer is right.
    """
    gate = explanation.gate
    value, needed = (format_score(gate.score_name, one, gate.decimals) for one in (gate.score, gate.threshold))
    st.header(
        _("Is it answered?"),
        anchor=False,
        help=_(
            "The gate: a probability that the passages found answer the question. Below a threshold, which is in the "
            "settings, Footnote says that it does not know."
        ),
    )
    if gate.answerable:
        decision, icon = _("Yes: the passages found seem to answer the question"), ":material/login:"
    else:
        decision, icon = _("No: the passages found do not seem to answer the question"), ":material/block:"
    st.info(
        _(
            "{decision}. Score {value}, needed {needed} ({score_name}).",
            decision=decision,
            value=value,
            needed=needed,
            score_name=gate.score_name,
        ),
        icon=icon,
    )
    times = explanation.timings_ms
    st.caption(
        " · ".join(
            f"{translate_message(stage.short)} {format_duration(times[stage.name] / 1000)}"
            for stage in STAGES
            if stage.short and stage.name in times
        )
    )
