"""A worked example of a mixture, which lets the reader try the sliders without documents."""

from __future__ import annotations

import streamlit as st

from pages.lab.marks import COLOURS
from pages.lab.mixture_chart import show_answer_chart, show_mixture_report
from pages.lab.sliders import choose_weighting
from pages.lab.verdicts import format_percent, show_share
from pages.shared.text import escape_markdown
from pages.shared.translation import _, format_number
from rag_core.engine import Engine
from rag_core.types.explanations import WeightingConfig

_DEFAULT = WeightingConfig(k=2, temperature=0.25)


def show_worked_example(engine: Engine) -> None:
    """Show the worked example in an expander."""
    with st.expander(_("Worked example: a replaced policy outweighs the one in force"), icon=":material/science:"):
        _show_example(engine)


@st.fragment
def _show_example(engine: Engine) -> None:
    number = len(engine.mixtures.compute_example(_DEFAULT).names)
    side, main = st.columns([1, 2], gap="large")
    with side:
        weighting = choose_weighting(_DEFAULT, number, prefix="example")
    example = engine.mixtures.compute_example(weighting)
    with main:
        st.markdown(
            escape_markdown(
                _(
                    "{question} The right answer is {expected}, from “{names}”. Move “Prefer new documents” to 0.12 "
                    "to see the new document win.",
                    question=example.question,
                    expected=example.expected,
                    names=example.names[example.right],
                )
            )
        )
        show_share(_("read") if example.mixture.covered else _("not read"), example.mixture.mass)
        show_mixture_report(example.mixture, f"“{example.names[example.mixture.cited]}”")
        passages = {
            chunk_id: (name, COLOURS[position]) for position, (chunk_id, name) in enumerate(example.names.items())
        }
        show_answer_chart(example.weighted, example.probabilities, example.mixture, passages, "example_chart")
        weights = [
            f"{example.names[one.candidate.chunk_id]} {format_number(one.adjusted, 3)} → {format_percent(one.weight)}"
            for one in example.weighted
        ]
        st.caption(escape_markdown(_("Score and weight: {weights}.", weights="; ".join(weights))))
