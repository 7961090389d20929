"""The matrix of the tokens of an answer and the passages that carried them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.lab.verdicts import format_percent
from pages.shared.translation import _
from rag_core.types.marginalization import MarginalAnswer

_END = "(end)"
_SPACE = "␣"
# An invisible character that makes equal tokens different values of the axis.
_ZERO_WIDTH = "\u200b"


def show_token_chart(answer: MarginalAnswer, names: Sequence[str]) -> None:
    """Draw the share of each passage in each token; ``names`` are the names of the passages."""
    table = build_token_table(answer, names)
    titles = {"token": _("Token"), "passage": _("Passage"), "percent": _("Percent")}
    tooltip = [{"field": name, "title": title} for name, title in titles.items()]
    colour = {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "scheme": "blues"}, "legend": None}
    st.vega_lite_chart(
        table,
        {
            "height": {"step": 32},
            "encoding": {
                "x": {
                    "field": "token",
                    "type": "nominal",
                    "sort": {"field": "position"},
                    "title": None,
                    "axis": {"orient": "top", "labelAngle": 0},
                },
                "y": {
                    "field": "passage",
                    "type": "nominal",
                    "sort": list(names),
                    "title": None,
                    "axis": {"labelLimit": 220},
                },
            },
            "layer": [
                {"mark": "rect", "encoding": {"color": colour, "tooltip": tooltip}},
                {
                    "mark": {"type": "text"},
                    "encoding": {
                        "text": {"field": "percent"},
                        "color": {"condition": {"test": "datum.share > 0.5", "value": "white"}, "value": "#1a1c24"},
                    },
                },
            ],
        },
        key="lab_tokens",
        alt=_("Share of each passage in each token of the answer"),
    )


def build_token_table(answer: MarginalAnswer, names: Sequence[str]) -> pd.DataFrame:
    """Return a table with a row for each pair of a token and a passage."""
    return pd.DataFrame(
        [
            {
                "position": position,
                "token": (token.text.replace(" ", _SPACE) or _END) + _ZERO_WIDTH * position,
                "passage": name,
                "share": share,
                "percent": format_percent(share),
            }
            for position, token in enumerate(answer.tokens)
            for name, share in zip(names, token.shares, strict=True)
        ]
    )
