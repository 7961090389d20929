"""The sidebar of every page: a new chat, and the list of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared import keys
from pages.shared.conversation_dialogs import DELETE, EXPORT, RENAME, TAG, open_conversation_dialog
from pages.shared.current import build_chat_address, choose_conversation, get_current_id
from pages.shared.problems import show_errors_next_run
from pages.shared.text import escape_markdown, is_today
from pages.shared.translation import N_, _, get_language
from rag_core.engine import Engine
from rag_core.types.conversations import Conversation

# Maximum number of conversations that are listed besides the pinned ones.
SHOWN = 40
PIN, UNPIN = N_("Pin"), N_("Unpin")
# Streamlit has no function that closes a sidebar that the reader has opened, so a script clicks the close button. On a
# narrow screen, the sidebar covers the page that the reader has just chosen in it.
_CLOSE_AFTER_CHOICE = st.components.v2.component(
    "footnote_close_sidebar", html="", js=Path(__file__).with_name("sidebar.js").read_text(encoding="utf-8")
)
_ICONS = {RENAME: "edit", PIN: "keep", UNPIN: "keep_off", TAG: "sell", EXPORT: "download", DELETE: "delete"}


def show_sidebar(engine: Engine) -> None:
    """Show the button for a new chat, a search field, and the conversations in groups: pinned, today, earlier."""
    with st.sidebar:
        _show_open_button(None, _("New chat"), icon=":material/add:", width="stretch", key="new_chat")
        with st.container(key="conversations"):
            _show_conversations(engine)
        _CLOSE_AFTER_CHOICE(key="close_sidebar", data={"language": get_language()})
    open_conversation_dialog(engine)


def _show_open_button(conversation_id: str | None, label: str, **options: Any) -> None:
    """Show a button that opens a conversation, or a new chat, on the chat page."""
    if st.button(label, on_click=choose_conversation, args=[conversation_id], **options) and not _is_chat():
        st.switch_page("chat/page.py", query_params=build_chat_address(conversation_id))


def _is_chat() -> bool:
    return bool(st.session_state[keys.PAGE] == "chat")


def _show_conversations(engine: Engine) -> None:
    query = st.text_input(
        _("Search conversations"),
        placeholder=_("Search conversations"),
        label_visibility="collapsed",
        icon=":material/search:",
        key="conversation_search",
    )
    conversations = engine.conversations.list(query)
    tags = sorted({tag for one in conversations for tag in one.tags}, key=str.casefold)
    if tags:
        tag = st.pills(_("Tag"), tags, key=keys.TAG, format_func=escape_markdown, label_visibility="collapsed")
        conversations = [one for one in conversations if tag is None or tag in one.tags]
    if query and not conversations:
        st.caption(_("No conversation contains these words."))
    _show_group(engine, _("Pinned"), [one for one in conversations if one.pinned])
    loose = [one for one in conversations if not one.pinned][:SHOWN]
    _show_group(engine, _("Today"), [one for one in loose if is_today(one.updated_at)])
    _show_group(engine, _("Earlier"), [one for one in loose if not is_today(one.updated_at)])
    if len(conversations) > SHOWN:
        st.caption(_("Search to find older ones."))


def _show_group(engine: Engine, name: str, conversations: Sequence[Conversation]) -> None:
    if conversations:
        st.caption(name)
    with st.container(gap=None):
        for one in conversations:
            _show_row(engine, one)


def _show_row(engine: Engine, one: Conversation) -> None:
    conversation_id, title = one.conversation_id, escape_markdown(one.title)
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", wrap=False):
        _show_open_button(
            conversation_id,
            f"**{title}**" if _is_chat() and conversation_id == get_current_id() else title,
            key=f"open_{conversation_id}",
            type="tertiary",
            width="stretch",
            help=title,
        )
        menu = st.menu_button(
            _("Menu of {title}", title=title),
            [RENAME, UNPIN if one.pinned else PIN, TAG, EXPORT, DELETE],
            icon=":material/more_vert:",
            key=f"menu_{conversation_id}",
            type="tertiary",
            format_func=lambda action: f":material/{_ICONS[action]}: {_(action)}",
        )
    if one.found:
        st.caption(escape_markdown(one.found))
    if menu in (PIN, UNPIN):
        with show_errors_next_run():
            engine.conversations.set_pinned(conversation_id, not one.pinned)
        st.rerun()
    elif menu:
        st.session_state[keys.MENU] = (menu, one)
