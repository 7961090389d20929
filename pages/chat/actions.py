"""Actions on an answer: ask again, edit the question or the search, and export the conversation."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.chat.questions import answer_again, ask_instead, search_again
from pages.shared.backend import Backend
from pages.shared.conversation_dialogs import show_export_buttons
from pages.shared.current import get_current_id
from pages.shared.dialogs import close_dialog, offer_dialog
from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.types.answers import Answer
from rag_core.types.conversations import Message


def show_rewritten_search(back: Backend, message: Message, answer: Answer, *, last: bool) -> None:
    """Show the rewritten question that was searched for, if there is one.

    Below the last answer, a button lets the reader edit this question and search again.
    """
    if not answer.rewritten:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            _(":material/search: Searched for: {rewritten}", rewritten=escape_markdown(answer.rewritten)),
            width="content",
        )
        if last:
            _show_editor(
                _("Edit search"),
                _("Search for"),
                answer.rewritten,
                key=f"search_{message.message_id}",
                on_ask=lambda text: search_again(back, message, text),
            )


def show_actions(back: Backend, message: Message) -> None:
    """Show the buttons below the newest answer; a message without an answer has no question to edit."""
    key = message.message_id
    st.button(
        _("Ask again"),
        icon=":material/refresh:",
        type="tertiary",
        key=f"again_{key}",
        on_click=answer_again,
        args=[back, message],
    )
    if message.answer:
        _show_editor(
            _("Edit question"),
            _("Question"),
            message.answer.question,
            key=f"edit_{key}",
            on_ask=lambda text: ask_instead(back, message, text),
        )
    _show_export(back, key)


def _show_editor(label: str, field: str, text: str, *, key: str, on_ask: Callable[[str], None]) -> None:
    """Show a button that opens a dialog in which the reader edits ``text``.

    ``on_ask`` is called with the edited text if it is not blank. A popover would open below the button, where the input
    for questions and the end of the screen would hide the button "Ask".
    """

    def submit() -> None:
        text = str(st.session_state[f"{key}_text"]).strip()
        if text:
            close_dialog()
            on_ask(text)

    def form() -> None:
        with st.form(f"{key}_form", border=False, enter_to_submit=False):
            st.text_area(field, text, key=f"{key}_text")
            if st.form_submit_button(_("Ask"), type="primary", key=f"{key}_ask", on_click=submit):
                st.rerun()

    offer_dialog(label, ":material/edit:", key, form)


def _show_export(back: Backend, key: str) -> None:
    conversation = back.engine.conversations.get(str(get_current_id()))
    with st.popover(_("Export"), icon=":material/download:", type="tertiary", key=f"export_{key}"):
        show_export_buttons(back.engine, conversation, key)
