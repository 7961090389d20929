"""Over which documents a conversation asks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from pages.chat.current import current
from pages.shared import keys
from pages.shared.library import searchable
from pages.shared.problems import told
from pages.shared.text import count
from rag_core.engine import Engine
from rag_core.types import Conversation, DocumentInfo, DocumentStatus, Job


def scope(engine: Engine, conversation: Conversation | None, library: Sequence[DocumentInfo]) -> list[str]:
    """Let the reader choose documents; returns their ids, none for all.

    The choice is stored with the conversation, or waits in the session until it begins. A file dropped into
    it is chosen from the start, though it can be asked only once it has been read.
    """
    can_be_asked = searchable(library)
    coming = [one for one in library if one.status in (DocumentStatus.QUEUED, DocumentStatus.INDEXING)]
    names = {one.document_id: one.name for one in [*can_be_asked, *coming]}
    identity = conversation.conversation_id if conversation else "new"
    key = f"{keys.SCOPE}_{identity}"
    stored = list(conversation.documents) if conversation else []
    chosen = [one for one in st.session_state.get(key, stored) if one in names]
    options = [*dict.fromkeys([*(one.document_id for one in can_be_asked), *chosen])]
    if not options:
        return []
    st.session_state[key] = chosen

    def changed() -> None:
        if conversation:
            with told():
                engine.set_scope(conversation.conversation_id, st.session_state[key])

    st.multiselect(
        "Documents to ask",
        options,
        key=key,
        format_func=lambda document: names.get(document, ""),
        placeholder=f"All documents ({len(can_be_asked):,})",
        label_visibility="collapsed",
        on_change=changed,
    )
    _tell_deleted(stored, {one.document_id for one in library}, chosen)
    return chosen


def widen(engine: Engine, documents: Sequence[str], jobs: Sequence[Job]) -> list[str]:
    """Have files that were dropped into a conversation over some documents be among them; returns all of these."""
    added = [job.document_id for job in jobs if job.document_id and job.document_id not in documents]
    if not documents or not added:
        return list(documents)
    wider = [*documents, *added]
    if identity := current():
        engine.set_scope(identity, wider)
    st.session_state[f"{keys.SCOPE}_{identity or 'new'}"] = wider
    return wider


def _tell_deleted(stored: Sequence[str], kept: Collection[str], chosen: Sequence[str]) -> None:
    gone = sum(one not in kept for one in stored)
    if gone:
        rest = "It now asks the others." if chosen else "It now asks all documents."
        was = "was" if gone == 1 else "were"
        st.caption(f"{count(gone, 'document')} this conversation was limited to {was} deleted. {rest}")
