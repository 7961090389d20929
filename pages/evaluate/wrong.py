"""The questions that went wrong, each with a link to the Lab."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from pages.shared.text import count_questions, escape_markdown, truncate
from pages.shared.translation import _, translate_message
from rag_core.types.evaluation import Evaluation, QuestionResult

_SHOWN = 20
_ANSWER_CHARS = 300


def show_wrong_answers(evaluation: Evaluation) -> None:
    """List the questions that went wrong, each with the problem: at first `_SHOWN` of them, all on request."""
    outcomes = [one for one in evaluation.outcomes if one.problem]
    st.header(
        _(
            "Went wrong: {number} of {questions}",
            number=len(outcomes),
            questions=count_questions(len(evaluation.outcomes)),
        ),
        anchor=False,
    )
    if not outcomes:
        st.caption(_("None."))
        return
    every = len(outcomes) <= _SHOWN or st.toggle(_("Show all {number}", number=len(outcomes)), key="show_all_wrong")
    for outcome in outcomes if every else outcomes[:_SHOWN]:
        _show_outcome(outcome)


def _show_outcome(outcome: QuestionResult) -> None:
    with st.container(border=True, gap="xsmall"):
        # The address is relative, so that it works if a proxy serves the app under a path.
        address = "lab?" + urlencode({"question": outcome.question})
        st.markdown(f"[{escape_markdown(outcome.question)}]({address})")
        pages = escape_markdown(" · ".join(map(translate_message, outcome.evidence))) or _("not in the documents")
        rank = _(" · found at rank {rank}", rank=outcome.first_rank) if outcome.first_rank else ""
        st.caption(
            _(
                "{problem}  \nAnswered by: {pages}{rank}",
                problem=escape_markdown(translate_message(outcome.problem)),
                pages=pages,
                rank=rank,
            )
        )
        if outcome.text:
            st.text(truncate(" ".join(outcome.text.split()), _ANSWER_CHARS))
