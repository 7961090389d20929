"""Over which documents a conversation asks."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.problems import told
from pages.shared.text import count
from rag_core.engine import Engine
from rag_core.types import Conversation, DocumentInfo


def scope(engine: Engine, conversation: Conversation | None, documents: Sequence[DocumentInfo]) -> list[str]:
    """Let the reader choose documents; returns their ids, none for all.

    The choice is stored with the conversation, or waits in the session until it begins.
    """
    names = {one.document_id: one.name for one in documents}
    identity = conversation.conversation_id if conversation else "new"
    key = f"{keys.SCOPE}_{identity}"
    stored = list(conversation.documents) if conversation else []
    chosen = [one for one in st.session_state.get(key, stored) if one in names]
    if not names:
        return []
    st.session_state[key] = chosen

    def changed() -> None:
        if conversation:
            with told():
                engine.set_scope(conversation.conversation_id, st.session_state[key])

    st.multiselect(
        "Documents to ask",
        list(names),
        key=key,
        format_func=lambda document: names.get(document, ""),
        placeholder=f"All documents ({len(names):,})",
        label_visibility="collapsed",
        on_change=changed,
    )
    _tell_deleted(stored, names, chosen)
    return chosen


def _tell_deleted(stored: Sequence[str], names: dict[str, str], chosen: Sequence[str]) -> None:
    gone = sum(one not in names for one in stored)
    if gone:
        rest = "It now asks the others." if chosen else "It now asks all documents."
        was = "was" if gone == 1 else "were"
        st.caption(f"{count(gone, 'document')} this conversation was limited to {was} deleted. {rest}")
