"""The snapshot that a conversation searches instead of the current documents."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.conversations import Conversation

_PRESENT = ""


def choose_snapshot(engine: Engine, conversation: Conversation | None) -> str:
    """Let the reader choose a snapshot, or type a date; return the choice, which is empty for the present.

    The choice is stored with the conversation, or in the session until the conversation starts. Nothing is shown if
    there are no snapshots and the conversation has no choice.
    """
    labels = {one.name: one.label for one in engine.snapshots.list()}
    stored = conversation.scope.as_of if conversation else _PRESENT
    if not labels and not stored:
        return _PRESENT
    key = f"{keys.AS_OF}_{conversation.conversation_id if conversation else 'new'}"
    st.session_state.setdefault(key, stored)

    def changed() -> None:
        if conversation:
            with show_errors():
                scope = engine.conversations.get(conversation.conversation_id).scope
                chosen = st.session_state[key] or _PRESENT
                engine.conversations.set_scope(conversation.conversation_id, replace(scope, as_of=chosen))

    chosen = st.selectbox(
        _("As of"),
        list(dict.fromkeys([_PRESENT, *labels, st.session_state[key] or _PRESENT])),
        key=key,
        format_func=lambda one: labels.get(one, one) or _("Documents as they are now"),
        accept_new_options=True,
        on_change=changed,
        help=_("A snapshot, or a date such as 2026-03-31."),
    )
    return chosen or _PRESENT


def show_snapshot_note(engine: Engine, as_of: str) -> None:
    """If a snapshot is chosen, say that questions are answered from it."""
    if as_of:
        label = next((one.label for one in engine.snapshots.list() if one.name == as_of), as_of)
        st.info(
            _(
                "As of {label}: questions are answered from what the documents said then, and not from what they "
                "say now.",
                label=escape_markdown(label),
            ),
            icon=":material/history:",
        )
