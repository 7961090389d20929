"""Pseudo-questions from the sentences of the documents, for libraries without labels."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.problems import show_errors_next_run, show_stored_error
from pages.shared.translation import _, ngettext
from rag_core.engine import Engine
from rag_core.types.evaluation import Label


def show_pseudo_questions(engine: Engine, labels: Sequence[Label]) -> None:
    """Let the reader make and remove pseudo-questions."""
    stored = sum(one.is_pseudo for one in labels)
    with st.expander(_("Make questions from the documents"), icon=":material/science:", key="pseudo_questions"):
        st.caption(
            _(
                "A sentence of a document becomes a question: a question word replaces one of its names or "
                "figures. Such pseudo-questions are closer to the text than real ones; use them while you have "
                "no others."
            )
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            count = st.number_input(_("Number"), 10, 1000, 100, step=10, key="pseudo_count", width=140)
            st.button(
                _("Replace them") if stored else _("Make them"),
                icon=":material/science:",
                key="make_pseudo",
                on_click=_make_questions,
                args=[engine, count],
            )
            st.button(
                ngettext("Remove {number} pseudo-question", "Remove {number} pseudo-questions", stored),
                icon=":material/delete:",
                type="tertiary",
                disabled=not stored,
                key="remove_pseudo",
                on_click=engine.learning.remove_pseudo_questions,
            )
        show_stored_error(keys.PSEUDO_PROBLEM)


def _make_questions(engine: Engine, count: int) -> None:
    with show_errors_next_run(keys.PSEUDO_PROBLEM):
        made = engine.learning.add_pseudo_questions(count)
        st.toast(
            ngettext("{number} pseudo-question made", "{number} pseudo-questions made", made), icon=":material/check:"
        )
