"""The conversation and the source that are open.

The address of the page names them, so that reloads, bookmarks and the browser's back button work. The session state
decides between two runs, because the address can be outdated: while an answer is written, the page reruns with the
address of the browser's last request for progress.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared import keys
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.errors import UnknownConversation
from rag_core.types.conversations import Conversation, Message


def get_current_id() -> str | None:
    """Return the id of the open conversation; ``None`` for a new chat."""
    return st.session_state.get(keys.CONVERSATION)


def choose_conversation(conversation_id: str | None) -> None:
    """Make the next run show a conversation that the reader chose; ``None`` for a new chat."""
    if conversation_id != get_current_id():
        # Another page may show a source of its own.
        if st.session_state.get(keys.PAGE) == "chat":
            close_source()
        st.session_state.pop(keys.EARLIER, None)
        st.session_state.pop(keys.EDITOR, None)
    st.session_state[keys.CONVERSATION] = conversation_id
    st.session_state.pop(keys.FOLLOWS_ADDRESS, None)


def ask_documents(document_ids: Sequence[str]) -> None:
    """Open a new chat that is limited to some documents."""
    choose_conversation(None)
    st.session_state[f"{keys.SCOPE}_new"] = list(document_ids)
    st.switch_page("chat/page.py")


def open_source(message_id: str, marker: int) -> None:
    """Make the next run show the source ``[marker]`` of a message."""
    _choose_source(f"{message_id}.{marker}")


def close_source() -> None:
    """Make the next run show no source."""
    _choose_source("")


def forget_source() -> None:
    """Forget the open source with its page, zoom and search, so that the address decides which source is open."""
    for name in (keys.SOURCE, keys.SOURCE_PAGE, keys.SOURCE_ZOOM, keys.SOURCE_SEARCH, keys.OPEN_PDF):
        st.session_state.pop(name, None)


def build_chat_address(conversation_id: str | None) -> dict[str, str]:
    """Return the parameters of the chat page's address that open a conversation; empty for a new chat."""
    return {keys.CONVERSATION_PARAM: conversation_id} if conversation_id else {}


def follow_history() -> None:
    """If the reader went back or forward in the browser, let the address decide what is open.

    Call this before the page draws anything, because a click may stop a run at the first element.
    """
    context = get_script_run_ctx()
    if context is not None and context.is_history_navigation:
        forget_source()
        st.session_state[keys.FOLLOWS_ADDRESS] = True


def keep_conversation() -> None:
    """Keep the open conversation although the reader went back or forward: this page's address names none."""
    st.session_state.pop(keys.FOLLOWS_ADDRESS, None)


def open_conversation(engine: Engine) -> tuple[Conversation | None, Sequence[Message]]:
    """Return the open conversation and its messages; ``None`` and no messages for a new chat.

    Write the conversation and the open source to the address.
    """
    if keys.CONVERSATION not in st.session_state or st.session_state.get(keys.FOLLOWS_ADDRESS):
        choose_conversation(st.query_params.get(keys.CONVERSATION_PARAM))
        # `choose_conversation` closes the source, but here the address may name one.
        forget_source()
    conversation, messages = _load_conversation(engine)
    chosen = {keys.CONVERSATION_PARAM: get_current_id(), keys.SOURCE_PARAM: _get_source()}
    address = {name: value for name, value in chosen.items() if value}
    # Each change adds an entry to the browser's history, so both are written at once, and only if they differ.
    if st.query_params.to_dict() != address:
        st.query_params.from_dict(address)
    return conversation, messages


def find_open_source() -> str:
    """Return the open source as ``message_id.marker``, and write it to the address; empty if no source is open."""
    source = _get_source()
    if source != st.query_params.get(keys.SOURCE_PARAM, ""):
        if source:
            st.query_params[keys.SOURCE_PARAM] = source
        else:
            del st.query_params[keys.SOURCE_PARAM]
    return source


def _load_conversation(engine: Engine) -> tuple[Conversation | None, Sequence[Message]]:
    conversation_id = get_current_id()
    if not conversation_id:
        return None, []
    try:
        return engine.conversations.get(conversation_id), engine.conversations.messages(conversation_id)
    except UnknownConversation:
        choose_conversation(None)
        st.info(_("That conversation is no longer stored. Here is a new chat."), icon=":material/info:")
        return None, []


def _choose_source(source: str) -> None:
    if st.session_state.get(keys.SOURCE) != source:
        forget_source()
        st.session_state[keys.SOURCE] = source


def _get_source() -> str:
    return str(st.session_state.setdefault(keys.SOURCE, st.query_params.get(keys.SOURCE_PARAM, "")))
