"""Putting a question into a conversation, for the first time or again."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.chat.current import choose, current
from pages.chat.strategy import strategy
from pages.shared import keys
from pages.shared.backend import Backend
from pages.shared.jobs import forget_ended
from rag_core.types import Message


def ask(back: Backend, question: str, documents: Sequence[str], job_ids: Sequence[str] = ()) -> None:
    """Put a question into the open conversation, or a new one, and start the answer."""
    # Whoever asks goes on, and need not be told any longer which files are ready.
    forget_ended(back.engine)
    identity = current()
    if identity is None:
        identity = back.engine.new_conversation(documents).conversation_id
        choose(identity)
        st.session_state.pop(f"{keys.SCOPE}_new", None)
    _, history = back.engine.conversation(identity)
    back.engine.append(identity, "user", question)
    back.answers.start(identity, question, documents, history, job_ids, strategy=strategy(back.engine))


def answer_again(back: Backend, message: Message) -> None:
    """Replace the last answer by a new one, over the documents chosen by now."""
    back.engine.remove_messages([message.message_id])
    answer_last(back)


def search_again(back: Backend, message: Message, search_for: str) -> None:
    """Replace the last answer by one to the same question, searched for in the reader's own words."""
    back.engine.remove_messages([message.message_id])
    answer_last(back, search_for)


def ask_instead(back: Backend, question: str) -> None:
    """Replace the last question, with its answer, by another."""
    identity = str(current())
    _, messages = back.engine.conversation(identity)
    first = max(position for position, one in enumerate(messages) if one.role == "user")
    back.engine.remove_messages([one.message_id for one in messages[first:]])
    ask(back, question, scope_of(back, identity))


def answer_last(back: Backend, search_for: str | None = None) -> None:
    """Answer the last question, which has no answer."""
    identity = str(current())
    _, messages = back.engine.conversation(identity)
    scope = scope_of(back, identity)
    how = strategy(back.engine)
    back.answers.start(identity, messages[-1].text, scope, messages[:-1], search_for=search_for, strategy=how)


def scope_of(back: Backend, identity: str) -> list[str]:
    """The documents that a conversation is limited to, without those deleted since."""
    conversation, _ = back.engine.conversation(identity)
    known = {one.document_id for one in back.engine.documents()}
    return [one for one in conversation.documents if one in known]
