"""The answers of a mixture: a chart of their probabilities by passage, and the metrics of the mixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from pages.lab.verdicts import describe_mixture, format_percent
from pages.shared.text import escape_markdown, truncate
from pages.shared.translation import _
from rag_core.types.explanations import WeightedPassage
from rag_core.types.mixtures import AnswerProbabilities, EvidenceMixture

# Maximum number of answers in the chart, their minimum probability, and their maximum width in columns of text.
_SHOWN, _LEAST, _WIDTH = 8, 0.005, 36


def show_mixture_report(mixture: EvidenceMixture, cited: str) -> None:
    """Show correctness, source support, the most probable answer, and the verdict if the right answer is known.

    ``cited`` names the passage that the answer is cited from.
    """
    correct, support = st.columns(2)
    known = mixture.correct_probability is not None
    correct.metric(
        _("Is the answer right?"),
        {None: _("not known"), True: _("right"), False: _("wrong")}[mixture.is_correct],
        help=_("Correctness: the most probable answer is the right one."),
    )
    support.metric(
        _("Does its source say so?"),
        _("yes") if mixture.is_supported else _("no"),
        help=_(
            "Source support: the cited passage alone gives the same answer; an outdated one can support a wrong one."
        ),
    )
    probability = (
        _(" The right answer has {percent}.", percent=format_percent(mixture.correct_probability or 0.0))
        if known
        else ""
    )
    st.markdown(
        escape_markdown(
            _(
                "Most probable answer: “{answer}” with {percent}, cited from {cited}.{probability}",
                answer=truncate(mixture.answer, 120),
                percent=format_percent(mixture.answers[0][1]),
                cited=cited,
                probability=probability,
            )
        )
    )
    if verdict := describe_mixture(mixture, cited):
        st.markdown(f"**{escape_markdown(verdict)}**")


def show_answer_chart(
    weighted: Sequence[WeightedPassage],
    probabilities: AnswerProbabilities,
    mixture: EvidenceMixture,
    passages: Mapping[str, tuple[str, str]],
    key: str,
) -> None:
    """Draw the probability of each answer as a bar, divided among the passages that contribute to it.

    ``passages`` maps chunk ids to the name and colour of each passage.
    """
    shown = {answer: total for answer, total in mixture.answers[:_SHOWN] if total >= _LEAST}
    rows = [
        {
            "answer": f"{truncate(answer, _WIDTH)} · {format_percent(total)}",
            "order": order,
            "passage": passages[one.candidate.chunk_id][0],
            "colour": passages[one.candidate.chunk_id][1],
            "rank": one.rank,
            "part": one.weight * probabilities[one.candidate.chunk_id].get(answer, 0.0),
            "given": format_percent(probabilities[one.candidate.chunk_id].get(answer, 0.0)),
            "weight": format_percent(one.weight),
        }
        for order, (answer, total) in enumerate(shown.items())
        for one in weighted
        if one.weight > 0
    ]
    titles = {
        "passage": _("Passage"),
        "weight": _("Weight of the passage"),
        "given": _("Probability given the passage"),
    }
    st.vega_lite_chart(
        pd.DataFrame(rows),
        {
            "height": {"step": 26},
            "mark": "bar",
            "encoding": {
                "y": {
                    "field": "answer",
                    "type": "nominal",
                    "sort": {"field": "order"},
                    "title": None,
                    "axis": {"labelLimit": 320},
                },
                "x": {
                    "field": "part",
                    "type": "quantitative",
                    "stack": True,
                    "title": _("Probability of the answer"),
                    "scale": {"domain": [0, 1]},
                    "axis": {"format": ".0%", "tickCount": 5},
                },
                "color": {"field": "colour", "type": "nominal", "scale": None},
                "order": {"field": "rank"},
                "tooltip": [{"field": field, "title": title} for field, title in titles.items()],
            },
        },
        key=key,
        alt=_("Probability of each answer, divided among the passages that contribute to it"),
    )
