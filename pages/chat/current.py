"""Which conversation is open: the one that the address names."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import keys
from rag_core.engine import Engine
from rag_core.errors import UnknownConversation
from rag_core.types import Conversation, Message


def current() -> str | None:
    """Id of the open conversation; ``None`` for one that has not begun."""
    return st.session_state.get(keys.CONVERSATION)


def choose(conversation_id: str | None) -> None:
    """Open a conversation, or begin a new one."""
    st.session_state[keys.CONVERSATION] = conversation_id
    st.session_state.pop(keys.EARLIER, None)
    # Closing the drawer and leaving the conversation may come at once, and only the latter be heard.
    st.session_state.pop(keys.SOURCE, None)
    if conversation_id:
        st.query_params[keys.CONVERSATION_PARAM] = conversation_id
    else:
        st.query_params.pop(keys.CONVERSATION_PARAM, None)


def open_conversation(engine: Engine, *, arrived: bool) -> tuple[Conversation | None, Sequence[Message]]:
    """The open conversation and its messages.

    The address decides, so that reload, bookmark and the browser's back button do what they say;
    only on the way back from another page, whose address has none, does the session remember.
    """
    named = st.query_params.get(keys.CONVERSATION_PARAM)
    wanted = named or (current() if arrived else None)
    if wanted != current() or named != wanted:
        choose(wanted)
    if not wanted:
        return None, []
    try:
        return engine.conversations.get(wanted), engine.conversations.messages(wanted)
    except UnknownConversation:
        choose(None)
        st.info("That conversation is no longer stored. This is a new chat.", icon=":material/info:")
        return None, []
