"""The ranks of passages in each stage, as a bump chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages.lab.marks import OTHERS, SHOWN, Mark
from pages.shared.scores import format_score
from pages.shared.translation import _
from rag_core.types.explanations import Explanation

# The vertical position of all ranks greater than `SHOWN`.
_BELOW = SHOWN + 1


def show_rank_chart(explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    """Draw how the ranks of the marked passages change from stage to stage."""
    st.header(
        _("How their order changed"), anchor=False, help=_("The rank of each passage in each stage, the best on top.")
    )
    st.vega_lite_chart(
        build_rank_table(explanation, marks),
        _build_spec([stage.name for stage in explanation.stages], marks),
        key="lab_ranks",
        alt=_("Rank of each passage in each stage, as listed above"),
    )


def build_rank_table(explanation: Explanation, marks: Mapping[str, Mark]) -> pd.DataFrame:
    """Return a table with a row for each stage and each marked passage that the stage ranked.

    ``place`` is the vertical position in the chart, which is `_BELOW` for all ranks greater than `SHOWN`.
    """
    rows = []
    for stage in explanation.stages:
        ranks = stage.ranks
        for chunk_id, mark in marks.items():
            rank = ranks.get(int(chunk_id))
            if rank is not None:
                value = format_score(stage.name, mark.passage.scores.get(stage.name))
                rows.append((stage.name, mark.letter, mark.colour, mark.where, rank, min(rank, _BELOW), value))
    return pd.DataFrame(rows, columns=["stage", "passage", "colour", "where", "rank", "place", "score"])


def _build_spec(stages: list[str], marks: Mapping[str, Mark]) -> dict[str, Any]:
    colours = {
        "domain": [one.letter for one in marks.values()],
        "range": [one.colour for one in marks.values()],
    }
    lower = _("lower")
    within = [{"filter": f"datum.rank <= {SHOWN}"}]
    faded = {"condition": {"param": "pointed", "value": 1, "empty": True}, "value": 0.15}
    return {
        "height": 340,
        "encoding": {
            "x": {"field": "stage", "type": "ordinal", "sort": stages, "title": None, "axis": {"labelAngle": 0}},
            "y": {
                "field": "place",
                "type": "quantitative",
                "title": _("Rank"),
                "scale": {"domain": [0.5, _BELOW + 0.2], "reverse": True, "nice": False},
                "axis": {
                    "values": list(range(1, _BELOW + 1)),
                    "labelExpr": f"datum.value > {SHOWN} ? '{lower}' : datum.value",
                    "grid": False,
                },
            },
            "color": {"field": "passage", "type": "nominal", "scale": colours, "legend": None},
            "opacity": faded,
            "tooltip": [
                {"field": name, "title": title}
                for name, title in (
                    ("passage", _("Passage")),
                    ("where", _("Where")),
                    ("stage", _("Stage")),
                    ("rank", _("Rank")),
                    ("score", _("Score")),
                )
            ],
        },
        "layer": [
            {
                "mark": "line",
                # The lines in the colour `OTHERS` are thin.
                "encoding": {
                    "strokeWidth": {"condition": {"test": f"datum.colour != '{OTHERS}'", "value": 2.5}, "value": 0.7}
                },
            },
            {
                "mark": {"type": "circle", "size": 380},
                "transform": within,
                "params": [
                    {"name": "pointed", "select": {"type": "point", "on": "pointerover", "fields": ["passage"]}}
                ],
            },
            {
                "mark": {"type": "text", "fontWeight": 600, "fontSize": 11},
                "transform": within,
                "encoding": {"text": {"field": "passage"}, "color": {"value": "#ffffff"}},
            },
        ],
    }
