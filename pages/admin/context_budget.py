"""The number of tokens of page text that a capable language model gets for a question, and what the question costs."""

from __future__ import annotations

import streamlit as st

from pages.shared.problems import show_errors
from pages.shared.text import count_pages
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine

_BUDGET = "context_budget"
_STEP = 1000
_MAX_BUDGET = 200_000
# Tokens of a page of ordinary text.
_PAGE_TOKENS = 500


def show_context_budget(engine: Engine) -> None:
    """Show a slider for the number of tokens of page text per question, with the cost.

    Show nothing if no capable model is in use, or if its context leaves no choice.
    """
    model = engine.models.active()
    most = min(_MAX_BUDGET, model.context_tokens // 2) // _STEP * _STEP if model else 0
    if model is None or model.capability != "capable" or most <= _STEP:
        return
    st.session_state.setdefault(_BUDGET, min(engine.preferences.context_budget, most))
    chosen = st.slider(
        _("Tokens of pages per question"),
        _STEP,
        most,
        step=_STEP,
        key=_BUDGET,
        format="localized",
        on_change=_save_budget,
        args=[engine],
        help=_(
            "A capable model gets the pages that match the question best, up to this many tokens: at most half of its "
            "context. With more pages, it finds more answers, and each question takes longer and costs more."
        ),
    )
    st.caption(
        _(
            "About {pages} of ordinary text. A question costs up to {cost}, and more if the model asks for other "
            "pages.",
            pages=count_pages(chosen // _PAGE_TOKENS),
            cost=translate_message(model.profile.estimate_question_usage(chosen).label),
        )
    )


def reset_context_budget(engine: Engine) -> None:
    """Restore the context budget that the settings give."""
    engine.preferences.set_context_budget(None)
    st.session_state.pop(_BUDGET, None)


def _save_budget(engine: Engine) -> None:
    with show_errors():
        engine.preferences.set_context_budget(st.session_state[_BUDGET])
