"""The documents and collections that a conversation is limited to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages.chat.current import current
from pages.shared import keys
from pages.shared.library import collections, searchable, still_held
from pages.shared.problems import told
from pages.shared.text import count
from rag_core.engine import Engine
from rag_core.types import Conversation, DocumentInfo, DocumentStatus, Job, Scope

# Prefix of collection names among document ids, which contain no colon.
_COLLECTION = "collection:"


def scope(engine: Engine, conversation: Conversation | None, library: Sequence[DocumentInfo]) -> Scope:
    """Let the reader choose documents and collections; return them.

    The choice is stored with the conversation, or in the session until the conversation starts. A file
    dropped into the conversation can be chosen before it is indexed.
    """
    can_be_asked = searchable(library)
    coming = [one for one in library if one.status in (DocumentStatus.QUEUED, DocumentStatus.INDEXING)]
    held = {f"{_COLLECTION}{name}": f"Collection {name} ({n:,})" for name, n in collections(can_be_asked).items()}
    names = {**held, **{one.document_id: one.name for one in [*can_be_asked, *coming]}}
    identity = conversation.conversation_id if conversation else "new"
    key = f"{keys.SCOPE}_{identity}"
    stored = conversation.scope if conversation else Scope()
    chosen = [one for one in st.session_state.get(key, _entries(stored)) if one in names]
    options = [*dict.fromkeys([*held, *(one.document_id for one in can_be_asked), *chosen])]
    if not options:
        return Scope()
    st.session_state[key] = chosen

    def changed() -> None:
        if conversation:
            with told():
                engine.conversations.set_scope(conversation.conversation_id, _scope(st.session_state[key]))

    st.multiselect(
        "Documents to ask",
        options,
        key=key,
        format_func=lambda one: names.get(one, ""),
        placeholder=f"All documents ({len(can_be_asked):,})",
        label_visibility="collapsed",
        on_change=changed,
    )
    _tell_gone(stored, still_held(stored, library), asks_others=bool(chosen))
    return _scope(chosen)


def widen(engine: Engine, asked: Scope, jobs: Sequence[Job]) -> Scope:
    """Add files that were dropped into a limited conversation to its scope; return the scope."""
    added = [job.document_id for job in jobs if job.document_id and job.document_id not in asked.documents]
    if not asked or not added:
        return asked
    wider = replace(asked, documents=(*asked.documents, *added))
    if identity := current():
        engine.conversations.set_scope(identity, wider)
    st.session_state[f"{keys.SCOPE}_{identity or 'new'}"] = _entries(wider)
    return wider


def _entries(asked: Scope) -> list[str]:
    return [*(f"{_COLLECTION}{name}" for name in asked.collections), *asked.documents]


def _scope(entries: Sequence[str]) -> Scope:
    named = [one.removeprefix(_COLLECTION) for one in entries if one.startswith(_COLLECTION)]
    return Scope(tuple(one for one in entries if not one.startswith(_COLLECTION)), tuple(named))


def _tell_gone(stored: Scope, held: Scope, *, asks_others: bool) -> None:
    rest = "It now searches the others." if asks_others else "It now searches all documents."
    if gone := len(stored.documents) - len(held.documents):
        was = "was" if gone == 1 else "were"
        st.caption(f"{count(gone, 'document')} this conversation was limited to {was} deleted. {rest}")
    if gone := len(stored.collections) - len(held.collections):
        contains = "contains" if gone == 1 else "contain"
        st.caption(f"{count(gone, 'collection')} this conversation was limited to {contains} no documents. {rest}")
