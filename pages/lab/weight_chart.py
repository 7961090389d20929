"""The weight of each passage as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from pages.lab.marks import OTHERS, Mark
from pages.lab.verdicts import format_percent
from pages.shared.translation import _, format_number
from rag_core.types.explanations import WeightedPassage


def show_weight_chart(weighed: Sequence[WeightedPassage], marks: Mapping[str, Mark]) -> None:
    """Draw the weights as bars, with the first rank on top."""
    tooltip = {
        "passage": _("Passage"),
        "where": _("Where"),
        "rank": _("Rank"),
        "weight": _("Weight"),
        "score": _("Score"),
        "freshness": _("Freshness"),
        "adjusted": _("Adjusted"),
    }
    st.vega_lite_chart(
        build_weight_table(weighed, marks),
        {
            "height": {"step": 26},
            "mark": "bar",
            "encoding": {
                "y": {"field": "label", "type": "nominal", "sort": {"field": "rank"}, "title": None},
                "x": {
                    "field": "share",
                    "type": "quantitative",
                    "title": _("Weight"),
                    "scale": {"domain": [0, 1]},
                    "axis": {"format": ".0%", "tickCount": 5},
                },
                "color": {"field": "colour", "type": "nominal", "scale": None},
                "tooltip": [{"field": name, "title": title} for name, title in tooltip.items()],
            },
        },
        key="lab_weights",
        alt=_("Weight of each passage, the first rank on top"),
    )


def build_weight_table(weighed: Sequence[WeightedPassage], marks: Mapping[str, Mark]) -> pd.DataFrame:
    """Return a table with a row for each passage; a passage without a mark is named by its rank."""
    rows = []
    for one in weighed:
        mark = marks.get(one.candidate.chunk_id)
        name = mark.letter if mark else _("rank {rank}", rank=one.rank)
        rows.append(
            {
                "label": f"{name} · {format_percent(one.weight)}",
                "passage": name,
                "where": mark.where if mark else "",
                "colour": mark.colour if mark else OTHERS,
                "rank": one.rank,
                "share": one.weight,
                "weight": format_percent(one.weight),
                "score": format_number(one.candidate.score, 2),
                "freshness": format_number(one.freshness, 2),
                "adjusted": format_number(one.adjusted, 2),
            }
        )
    return pd.DataFrame(rows)
