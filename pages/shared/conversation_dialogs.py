"""The dialogs that rename and delete a conversation."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.current import choose_conversation, get_current_id
from pages.shared.problems import show_errors_next_run
from rag_core.engine import Engine
from rag_core.types.conversations import Conversation

RENAME, DELETE = "Rename", "Delete"


def open_conversation_dialog(engine: Engine) -> None:
    """Open the dialog that the reader chose in a menu.

    Every run opens the dialog again until the reader closes it, because the page also reruns for other reasons, for
    example when an answer is complete.
    """
    menu, one = st.session_state.get(keys.MENU, ("", None))
    if menu == RENAME:
        _rename(engine, one)
    elif menu == DELETE:
        _delete(engine, one)


def _closed() -> None:
    st.session_state.pop(keys.MENU, None)


# Callbacks make the changes, because Streamlit calls them even if the next run does not draw the dialog.


@st.dialog("Rename conversation", icon=":material/edit:", on_dismiss=_closed)
def _rename(engine: Engine, one: Conversation) -> None:
    def rename() -> None:
        _closed()
        with show_errors_next_run():
            engine.conversations.rename(one.conversation_id, st.session_state["new_title"])

    with st.form("rename", border=False):
        st.text_input("Title", one.title, max_chars=200, key="new_title")
        if st.form_submit_button("Rename", type="primary", on_click=rename, key="confirm_rename"):
            st.rerun()


@st.dialog("Delete conversation", icon=":material/delete:", on_dismiss=_closed)
def _delete(engine: Engine, one: Conversation) -> None:
    def delete() -> None:
        _closed()
        with show_errors_next_run():
            engine.conversations.delete(one.conversation_id)
        if one.conversation_id == get_current_id():
            choose_conversation(None)

    st.text(f"This deletes “{one.title}” and its answers. The documents stay.")
    if st.button("Delete", type="primary", key="confirm_delete_conversation", on_click=delete):
        st.rerun()
