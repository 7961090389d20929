"""The dialogs that rename, tag, export and delete a conversation."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.shared import keys
from pages.shared.backend import find_application
from pages.shared.current import choose_conversation, get_current_id
from pages.shared.problems import show_errors_next_run
from pages.shared.text import escape_markdown, format_day, name_file
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.conversations import Conversation

RENAME, TAG, EXPORT, DELETE = N_("Rename"), N_("Tag"), N_("Export"), N_("Delete")


def open_conversation_dialog(engine: Engine) -> None:
    """Open the dialog that the reader chose in a menu.

    Every run opens the dialog again until the reader closes it, because the page also reruns for other reasons, for
    example when an answer is complete.
    """
    dialogs = {
        RENAME: (_("Rename conversation"), "edit", _show_rename_form),
        TAG: (_("Tag conversation"), "sell", _show_tag_form),
        EXPORT: (_("Export conversation"), "download", _show_export),
        DELETE: (_("Delete conversation"), "delete", _show_deletion_form),
    }
    menu, one = st.session_state.get(keys.MENU, ("", None))
    if menu in dialogs:
        title, icon, show = dialogs[menu]
        st.dialog(title, icon=f":material/{icon}:", on_dismiss=_forget_menu)(show)(engine, one)


def show_export_buttons(engine: Engine, one: Conversation, key: str) -> None:
    """Show a button for each format in which a conversation can be exported."""
    st.caption(_("The whole conversation with its sources"))
    name, conversations = f"{name_file(one.title)} {format_day(one.updated_at)}", engine.conversations
    for label, create, suffix, mime in (
        ("Markdown", conversations.export_markdown, "md", "text/markdown"),
        ("PDF", conversations.export_pdf, "pdf", "application/pdf"),
        (
            "Word (DOCX)",
            conversations.export_docx,
            "docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
    ):
        st.download_button(
            label,
            # Pass a function, so that the file is created only when the reader clicks the button.
            data=partial(create, one.conversation_id, find_application()),
            file_name=f"{name}.{suffix}",
            mime=mime,
            key=f"{suffix}_{key}",
            on_click="ignore",
        )


def _forget_menu() -> None:
    st.session_state.pop(keys.MENU, None)


# Callbacks make the changes, because Streamlit calls them even if the next run does not draw the dialog.


def _show_rename_form(engine: Engine, one: Conversation) -> None:
    def rename() -> None:
        _forget_menu()
        with show_errors_next_run():
            engine.conversations.rename(one.conversation_id, st.session_state["new_title"])

    with st.form("rename", border=False):
        st.text_input(_("Title"), one.title, max_chars=200, key="new_title")
        if st.form_submit_button(_("Rename"), type="primary", on_click=rename, key="confirm_rename"):
            st.rerun()


def _show_tag_form(engine: Engine, one: Conversation) -> None:
    def tag() -> None:
        _forget_menu()
        with show_errors_next_run():
            engine.conversations.set_tags(one.conversation_id, st.session_state["new_tags"])

    used = {name for other in engine.conversations.list() for name in other.tags}
    # The list of tags opens below the field, where it would cover the button.
    with st.form("tag", border=False), st.container(horizontal=True, vertical_alignment="bottom", wrap=False):
        st.multiselect(
            _("Tags"),
            sorted(used | {*one.tags}, key=str.casefold),
            list(one.tags),
            format_func=escape_markdown,
            accept_new_options=True,
            placeholder=_("Type a tag, or choose one"),
            key="new_tags",
        )
        if st.form_submit_button(_("Save"), type="primary", on_click=tag, key="confirm_tags"):
            st.rerun()


def _show_export(engine: Engine, one: Conversation) -> None:
    show_export_buttons(engine, one, one.conversation_id)


def _show_deletion_form(engine: Engine, one: Conversation) -> None:
    def delete() -> None:
        _forget_menu()
        with show_errors_next_run():
            engine.conversations.delete(one.conversation_id)
        if one.conversation_id == get_current_id():
            choose_conversation(None)

    st.text(_("This deletes “{title}” and its answers. The documents stay.", title=one.title))
    if st.button(_("Delete"), type="primary", key="confirm_delete_conversation", on_click=delete):
        st.rerun()
