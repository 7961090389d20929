"""The notices of an answer, and what the reader can do with an answer that the language model did not complete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pages.chat.questions import continue_answer
from pages.shared.backend import Backend
from pages.shared.current import get_current_id
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.types.answers import Answer
from rag_core.types.conversations import Message


def select_shown_part(message: Message, answer: Answer) -> Answer:
    """Return the part of an answer to show.

    The quotes below an interrupted text are left out until the reader asks for them.
    """
    if not _has_hidden_quotes(message, answer):
        return answer
    text = answer.written_text
    statements = tuple(one for one in answer.statements if one.end <= len(text))
    return replace(answer, text=text, statements=statements, quotes_start=None)


def show_notices(back: Backend, message: Message, answer: Answer, *, last: bool) -> None:
    """Show the notices; below an interrupted answer, also buttons to continue it and to show quotes."""
    hidden = _has_hidden_quotes(message, answer)
    for notice in answer.notices:
        about_interruption = bool(answer.interrupted) and notice.startswith(answer.interrupted)
        words = answer.interrupted if about_interruption and hidden else notice
        st.warning(escape_markdown(translate_message(words)), icon=":material/info:")
    if not answer.interrupted:
        return
    if last and (problem := back.answers.problem(get_current_id() or "")):
        st.error(escape_markdown(translate_message(problem)), icon=":material/error:")
    with st.container(horizontal=True, gap="small"):
        if last and answer.generator != "extractive":
            _show_button(_("Continue"), "play_arrow", "continue", message, lambda: continue_answer(back, message))
        if hidden:
            shown = {_build_quotes_key(message): True}
            _show_button(_("Show quotes"), "format_quote", "quotes", message, lambda: st.session_state.update(shown))


def _has_hidden_quotes(message: Message, answer: Answer) -> bool:
    has_quotes = bool(answer.interrupted) and answer.quotes_start is not None
    return has_quotes and not st.session_state.get(_build_quotes_key(message))


def _build_quotes_key(message: Message) -> str:
    return f"quotes_shown_{message.message_id}"


def _show_button(label: str, icon: str, key: str, message: Message, on_click: Callable[[], None]) -> None:
    st.button(label, icon=f":material/{icon}:", key=f"{key}_{message.message_id}", on_click=on_click)
