"""Instructions for the answers of a language model in every conversation."""

from __future__ import annotations

import streamlit as st

from pages.shared.instructions import PLACEHOLDER, SCOPE_OF_INSTRUCTIONS
from pages.shared.problems import show_errors_next_run, show_stored_error
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.conversations import MAX_INSTRUCTION_CHARS

_TEXT, _PROBLEM = "admin_instructions", "admin_instructions_problem"


def show_instructions(engine: Engine) -> None:
    """Let the operator write instructions, which precede those of a conversation."""
    st.header(_("Instructions for answers"), anchor=False)
    st.session_state.setdefault(_TEXT, engine.preferences.instructions)
    with st.form("instructions"):
        st.text_area(
            _("Instructions for every conversation"),
            key=_TEXT,
            placeholder=_(PLACEHOLDER),
            help=_(
                "At most {limit} characters. Instructions of a conversation, beside the input of the chat, come "
                "after these.",
                limit=MAX_INSTRUCTION_CHARS,
            ),
        )
        show_stored_error(_PROBLEM)
        st.form_submit_button(
            _("Save instructions"), type="primary", key="save_instructions", on_click=_save_instructions, args=[engine]
        )
    if not engine.models.current:
        st.caption(_("Answers are quoted from the documents now, so instructions have no effect until a model writes."))
    st.caption(_(SCOPE_OF_INSTRUCTIONS))


def _save_instructions(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        engine.preferences.set_instructions(st.session_state[_TEXT])
        st.toast(_("Saved"), icon=":material/check:")
