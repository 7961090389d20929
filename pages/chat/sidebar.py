"""The list of conversations in the sidebar."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.chat.conversation_dialogs import DELETE, RENAME, open_conversation_dialog
from pages.chat.current import choose_conversation, current_id
from pages.shared import keys
from pages.shared.problems import show_errors_next_run
from pages.shared.text import escape_markdown, is_today, truncate
from rag_core.engine import Engine
from rag_core.types import Conversation

SHOWN = 40
# Maximum width of a title, so that the title fits next to the menu in a sidebar of 300 pixels.
TITLE_CHARS = 23
PIN, UNPIN = "Pin", "Unpin"
# Streamlit has no function that closes a sidebar that the reader has opened, so a script clicks the close button.
_CLOSE_WHERE_IT_COVERS = st.components.v2.component(
    "footnote_close_sidebar",
    html="",
    js="""export default function () {
        if (window.innerWidth < 768) document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
    }""",
)
_ICONS = {RENAME: "edit", PIN: "keep", UNPIN: "keep_off", DELETE: "delete"}


def show_sidebar(engine: Engine) -> None:
    """Show the button for a new chat, a search field, and the conversations in groups: pinned, today, earlier."""
    with st.sidebar:
        st.button("New chat", icon=":material/add:", width="stretch", key="new_chat", on_click=_chosen, args=[None])
        with st.container():
            _list(engine)
        _uncover()
    open_conversation_dialog(engine)


def _chosen(conversation_id: str | None) -> None:
    choose_conversation(conversation_id)
    number, _ = st.session_state.get(keys.CHOICES, (0, False))
    st.session_state[keys.CHOICES] = (number + 1, True)


def _uncover() -> None:
    """After a choice, close the sidebar if the window is so narrow that the sidebar covers the conversation."""
    number, just_now = st.session_state.get(keys.CHOICES, (0, False))
    if just_now:
        st.session_state[keys.CHOICES] = (number, False)
        # Use a new key each time, because Streamlit would not run the script of an existing component again.
        _CLOSE_WHERE_IT_COVERS(key=f"close_sidebar_{number}")


def _list(engine: Engine) -> None:
    query = st.text_input(
        "Search conversations",
        placeholder="Search conversations",
        label_visibility="collapsed",
        icon=":material/search:",
        key="conversation_search",
    )
    conversations = engine.conversations.list(query)
    if query and not conversations:
        st.caption("No conversation contains these words.")
    _group(engine, "Pinned", [one for one in conversations if one.pinned])
    loose = [one for one in conversations if not one.pinned][:SHOWN]
    _group(engine, "Today", [one for one in loose if is_today(one.updated_at)])
    _group(engine, "Earlier", [one for one in loose if not is_today(one.updated_at)])
    if len(conversations) > SHOWN:
        st.caption("Search to find older ones.")


def _group(engine: Engine, name: str, conversations: Sequence[Conversation]) -> None:
    if conversations:
        st.caption(name)
    with st.container(gap=None):
        for one in conversations:
            _row(engine, one)


def _row(engine: Engine, one: Conversation) -> None:
    identity = one.conversation_id
    row = st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="xxsmall", wrap=False
    )
    with row:
        label = escape_markdown(truncate(one.title, TITLE_CHARS))
        st.button(
            f"**{label}**" if identity == current_id() else label,
            key=f"open_{identity}",
            type="tertiary",
            help=escape_markdown(one.title) if len(one.title) > TITLE_CHARS else None,
            icon=":material/keep:" if one.pinned else None,
            on_click=_chosen,
            args=[identity],
        )
        menu = st.menu_button(
            ":small[Edit]",
            [RENAME, UNPIN if one.pinned else PIN, DELETE],
            key=f"menu_{identity}",
            type="tertiary",
            format_func=lambda action: f":material/{_ICONS[action]}: {action}",
        )
    if menu in (RENAME, DELETE):
        st.session_state[keys.MENU] = (menu, one)
    elif menu:
        with show_errors_next_run():
            engine.conversations.set_pinned(identity, not one.pinned)
        st.rerun()
