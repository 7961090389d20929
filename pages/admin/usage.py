"""The tokens that language models have used so far, and their cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd
import streamlit as st

from pages.shared.problems import show_errors
from pages.shared.translation import N_, _
from rag_core.engine import Engine

_PERIODS = {N_("Last 30 days"): timedelta(days=30), N_("All time"): None}
_COUNTS = (N_("Requests"), N_("Tokens in"), N_("Tokens out"))


def show_usage(engine: Engine) -> None:
    """Show the tokens and the cost of each model in a period, deleted answers included.

    Show nothing if no model was ever used.
    """
    with show_errors():
        if not engine.models.usage_totals():
            return
        period = st.segmented_control(
            _("Tokens and cost"), list(_PERIODS), format_func=_, default="All time", required=True, key="usage_period"
        )
        span = _PERIODS[period]
        totals = engine.models.usage_totals(None if span is None else datetime.now(UTC) - span)
        if not totals:
            st.caption(_("No model was used in this period."))
            return
        rows = [
            {
                "Model": one.generator,
                "Requests": one.usage.calls,
                "Tokens in": one.usage.input_tokens,
                "Tokens out": one.usage.output_tokens,
                "Cost": one.usage.cost,
                "Currency": one.usage.currency,
            }
            for one in totals
        ]
        table = pd.DataFrame(rows)
        if all(one.usage.cost is None for one in totals):
            table = table.drop(columns=["Cost", "Currency"])
        st.dataframe(
            table,
            hide_index=True,
            key="usage",
            column_config={name: st.column_config.NumberColumn(_(name), format="localized") for name in _COUNTS}
            | {
                "Model": st.column_config.TextColumn(_("Model")),
                "Cost": st.column_config.NumberColumn(_("Cost"), format="%.4f"),
                "Currency": st.column_config.TextColumn(_("Currency")),
            },
            alt=_("Tokens and cost by model"),
        )
        notes = []
        if any(one.usage.estimated for one in totals):
            notes.append(_("Some token counts are estimates, because the endpoint did not report them."))
        if any(one.usage.cost is None for one in totals):
            notes.append(
                _(
                    "Requests have no cost if the model ran on this machine, or if its price was unknown at the time. "
                    "Set `RAG_PRICE`, or add the model to a table of prices (`RAG_PRICES`)."
                )
            )
        if notes:
            st.caption(" ".join(notes))
