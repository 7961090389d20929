"""The reader's rating of an answer: a thumb up or down, and an optional note."""

from __future__ import annotations

import streamlit as st

from pages.shared.problems import show_errors
from pages.shared.translation import _
from rag_core.engine import Engine

_BAD, _GOOD = 0, 1


def show_feedback(engine: Engine, message_id: str) -> None:
    """Let the reader rate an answer with a thumb and a note; an earlier rating is shown."""
    thumb, note = f"thumb_{message_id}", f"note_{message_id}"
    if thumb not in st.session_state:
        before = engine.labels.rating(message_id)
        st.session_state[thumb] = None if before is None else _GOOD if before.good else _BAD
        st.session_state[note] = before.note if before else ""
    rating = st.feedback("thumbs", key=thumb, on_change=_save_rating, args=[engine, message_id, thumb, note])
    if rating is None:
        return
    with st.popover(_("Note"), icon=":material/edit_note:", type="tertiary", key=f"note_open_{message_id}"):
        st.text_area(
            _("What is right or wrong with this answer?"),
            key=note,
            max_chars=2000,
            on_change=_save_rating,
            args=[engine, message_id, thumb, note],
        )


def confirm_passage(engine: Engine, message_id: str, rank: int) -> None:
    """Save a label that says that the passage's pages answer the question."""
    with show_errors():
        engine.labels.confirm_passage(message_id, rank)
        st.toast(_("Added to your test set (Evaluate)"), icon=":material/check:")


def _save_rating(engine: Engine, message_id: str, thumb: str, note: str) -> None:
    with show_errors():
        rating = st.session_state[thumb]
        if rating is None:
            engine.labels.withdraw_rating(message_id)
        else:
            engine.labels.rate_answer(message_id, rating == _GOOD, st.session_state[note].strip())
