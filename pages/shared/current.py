"""The open conversation, whose id is in the address of the page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.errors import UnknownConversation
from rag_core.types.conversations import Conversation, Message


def get_current_id() -> str | None:
    """Return the id of the open conversation; ``None`` for a new chat."""
    return st.session_state.get(keys.CONVERSATION)


def choose_conversation(conversation_id: str | None) -> None:
    """Open a conversation; ``None`` opens a new chat."""
    st.session_state[keys.CONVERSATION] = conversation_id
    st.session_state.pop(keys.EARLIER, None)
    st.session_state.pop(keys.EDITOR, None)
    # The address of an open source names the conversation too, so keep the source when that address is opened.
    if conversation_id != st.query_params.get(keys.CONVERSATION_PARAM):
        st.query_params.pop(keys.SOURCE_PARAM, None)
    if conversation_id:
        st.query_params[keys.CONVERSATION_PARAM] = conversation_id
    else:
        st.query_params.pop(keys.CONVERSATION_PARAM, None)


def open_conversation(engine: Engine, *, arrived: bool) -> tuple[Conversation | None, Sequence[Message]]:
    """Return the open conversation and its messages; ``None`` and no messages for a new chat.

    The address decides which conversation is open, so that reloads, bookmarks and the browser's back button work.
    If the reader comes back from another page, the address contains no conversation, so the session decides.
    """
    named = st.query_params.get(keys.CONVERSATION_PARAM)
    conversation_id = named or (get_current_id() if arrived else None)
    if conversation_id != get_current_id() or named != conversation_id:
        choose_conversation(conversation_id)
    if not conversation_id:
        return None, []
    try:
        return engine.conversations.get(conversation_id), engine.conversations.messages(conversation_id)
    except UnknownConversation:
        choose_conversation(None)
        st.info(_("That conversation is no longer stored. Here is a new chat."), icon=":material/info:")
        return None, []


def ask_documents(document_ids: Sequence[str]) -> None:
    """Open a new chat that is limited to some documents."""
    choose_conversation(None)
    st.session_state[f"{keys.SCOPE}_new"] = list(document_ids)
    st.switch_page("chat/page.py")
