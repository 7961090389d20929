"""The documents and collections that a conversation is limited to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages.chat.snapshots import choose_snapshot, show_snapshot_note
from pages.shared import keys
from pages.shared.current import get_current_id
from pages.shared.library import (
    build_scope,
    find_searchable,
    list_scope_entries,
    name_scope_entries,
    remove_missing,
)
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, truncate
from pages.shared.translation import _, ngettext
from rag_core.engine import Engine
from rag_core.types.conversations import Conversation, Scope
from rag_core.types.documents import DocumentInfo, DocumentStatus
from rag_core.types.jobs import Job

# Maximum width of the menu's label, in columns of text.
_MAX_COLUMNS = 28


def choose_scope(engine: Engine, conversation: Conversation | None, library: Sequence[DocumentInfo]) -> Scope:
    """Let the reader choose the documents and collections to ask, and a snapshot; return the choice.

    The choice is stored with the conversation, or in the session until the conversation starts. A file that the
    reader drops into the conversation can be part of the choice before it is indexed. If there is nothing to choose,
    show nothing and return an empty scope.
    """
    can_be_asked = find_searchable(library)
    coming = [one for one in library if one.status in (DocumentStatus.QUEUED, DocumentStatus.INDEXING)]
    listed = name_scope_entries(can_be_asked)
    names = listed | {one.document_id: one.all_names for one in coming}
    conversation_id = conversation.conversation_id if conversation else "new"
    key = f"{keys.SCOPE}_{conversation_id}"
    stored = conversation.scope if conversation else Scope()
    chosen = [one for one in st.session_state.get(key, list_scope_entries(stored)) if one in names]
    options = [*dict.fromkeys([*listed, *chosen])]
    if not options:
        return Scope()
    st.session_state[key] = chosen

    def changed() -> None:
        if conversation:
            with show_errors():
                stored = engine.conversations.get(conversation.conversation_id).scope
                scope = replace(build_scope(st.session_state[key]), as_of=stored.as_of)
                engine.conversations.set_scope(conversation.conversation_id, scope)

    label = escape_markdown(truncate(_describe_scope([names[one] for one in chosen]), _MAX_COLUMNS))
    with st.popover(label, icon=":material/library_books:", type="tertiary", key=keys.SCOPE_POPOVER):
        st.multiselect(
            _("Documents to ask"),
            options,
            key=key,
            format_func=lambda one: names.get(one, ""),
            placeholder=_("All documents ({number})", number=len(can_be_asked)),
            on_change=changed,
        )
        as_of = choose_snapshot(engine, conversation)
    return replace(build_scope(chosen), as_of=as_of)


def _describe_scope(names: Sequence[str]) -> str:
    if len(names) > 1:
        return _("{number} chosen", number=len(names))
    return names[0] if names else _("All documents")


def show_scope_notes(
    engine: Engine, conversation: Conversation | None, library: Sequence[DocumentInfo], scope: Scope
) -> None:
    """Say which snapshot is searched, and how many documents and collections of the stored scope are gone."""
    stored = conversation.scope if conversation else Scope()
    _show_missing(stored, remove_missing(stored, library), asks_others=bool(scope))
    show_snapshot_note(engine, scope.as_of)


def add_to_scope(engine: Engine, scope: Scope, jobs: Sequence[Job]) -> Scope:
    """Add the documents of the jobs to a scope, store the wider scope, and return it.

    An empty scope, which means all documents, stays empty.
    """
    added = [job.document_id for job in jobs if job.document_id and job.document_id not in scope.documents]
    if not scope or not added:
        return scope
    wider = replace(scope, documents=(*scope.documents, *added))
    if conversation_id := get_current_id():
        engine.conversations.set_scope(conversation_id, wider)
    st.session_state[f"{keys.SCOPE}_{conversation_id or 'new'}"] = list_scope_entries(wider)
    return wider


def _show_missing(stored: Scope, remaining: Scope, *, asks_others: bool) -> None:
    consequence = _("It now searches the others.") if asks_others else _("It now searches all documents.")
    if gone := len(stored.documents) - len(remaining.documents):
        words = ngettext(
            "{number} document this conversation was limited to was deleted.",
            "{number} documents this conversation was limited to were deleted.",
            gone,
        )
        st.caption(f"{words} {consequence}")
    if gone := len(stored.collections) - len(remaining.collections):
        words = ngettext(
            "{number} collection this conversation was limited to contains no documents.",
            "{number} collections this conversation was limited to contain no documents.",
            gone,
        )
        st.caption(f"{words} {consequence}")
