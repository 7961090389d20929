"""Putting a question into a conversation, for the first time or again."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.chat.current import choose, current
from pages.chat.strategy import strategy
from pages.shared import keys
from pages.shared.backend import Backend
from pages.shared.jobs import forget_ended
from pages.shared.library import still_held
from rag_core.errors import UnknownConversation
from rag_core.types import Message, Scope


def ask(back: Backend, question: str, scope: Scope, job_ids: Sequence[str] = ()) -> None:
    """Put a question into the open conversation, or a new one, and start the answer.

    Where another window has put one there that is still being answered, or has deleted the conversation,
    the question is given back instead.
    """
    # Whoever asks goes on, and need not be told any longer which files are ready.
    forget_ended(back.engine)
    identity = current()
    if identity is None:
        identity = back.engine.conversations.create(scope).conversation_id
        choose(identity)
        st.session_state.pop(f"{keys.SCOPE}_new", None)
    history = _messages(back, identity)
    if history is None or back.answers.running(identity):
        give_back(question)
        return
    back.engine.conversations.add_message(identity, "user", question)
    back.answers.start(identity, question, scope, history, job_ids, strategy=strategy(back.engine))


def ask_first(back: Backend, question: str) -> None:
    """Begin a conversation with a question; a second click does nothing."""
    if current() is None:
        ask(back, question, Scope())


def ask_next(back: Backend, message: Message, question: str, scope: Scope) -> None:
    """Go on from an answer with a question; a second click does nothing."""
    if _is_last(back, message):
        ask(back, question, scope)


def answer_again(back: Backend, message: Message) -> None:
    """Replace the last answer by a new one, over the documents chosen by now."""
    if _is_last(back, message):
        back.engine.conversations.remove_messages([message.message_id])
        answer_last(back)


def search_again(back: Backend, message: Message, search_for: str) -> None:
    """Replace the last answer by one to the same question, searched for in the reader's own words."""
    if _is_last(back, message):
        back.engine.conversations.remove_messages([message.message_id])
        answer_last(back, search_for)
    else:
        give_back(search_for)


def ask_instead(back: Backend, message: Message, question: str) -> None:
    """Replace the last answer, with its question, by the answer to another."""
    if not _is_last(back, message):
        give_back(question)
        return
    identity = str(current())
    messages = back.engine.conversations.messages(identity)
    first = max(position for position, one in enumerate(messages) if one.role == "user")
    back.engine.conversations.remove_messages([one.message_id for one in messages[first:]])
    ask(back, question, scope_of(back, identity))


def answer_last(back: Backend, search_for: str | None = None) -> None:
    """Answer the last question, which has no answer."""
    identity = str(current())
    messages = _messages(back, identity)
    if not messages or messages[-1].role != "user":
        return
    scope = scope_of(back, identity)
    how = strategy(back.engine)
    back.answers.start(identity, messages[-1].text, scope, messages[:-1], search_for=search_for, strategy=how)


def scope_of(back: Backend, identity: str) -> Scope:
    """What a conversation is limited to, without what is gone since."""
    conversation = back.engine.conversations.get(identity)
    return still_held(conversation.scope, back.engine.documents.list())


def give_back(question: str, why: str = "the conversation has changed in another window") -> None:
    """Put what could not be asked into the input, where it is neither lost nor sent."""
    st.session_state[keys.ASK] = question
    st.toast(f"Your question is in the field again, since {why}.", icon=":material/info:")


def _messages(back: Backend, identity: str) -> Sequence[Message] | None:
    """What a conversation holds by now; ``None`` where it was deleted, of which the page tells."""
    try:
        return back.engine.conversations.messages(identity)
    except UnknownConversation:
        return None


def _is_last(back: Backend, message: Message) -> bool:
    """Whether a conversation still ends with a message: a click before, or another window, may have gone on."""
    messages = _messages(back, str(current())) or []
    return [one.message_id for one in messages[-1:]] == [message.message_id]
