"""Add a question to a conversation, or answer the last question again or further."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.chat.strategy import get_strategy
from pages.chat.writer import get_writer
from pages.shared import keys
from pages.shared.backend import Backend
from pages.shared.current import choose_conversation, get_current_id
from pages.shared.jobs import untrack_ended_jobs
from pages.shared.library import remove_missing
from pages.shared.translation import _
from rag_core.errors import UnknownConversation
from rag_core.types.conversations import Message, Scope


def ask(
    back: Backend, question: str, scope: Scope, job_ids: Sequence[str] = (), document_id: str | None = None
) -> None:
    """Add a question to the open conversation or to a new one, and start the answer.

    The question is put back into the input if an answer is being written in the conversation, or if another window has
    deleted the conversation.

    Parameters
    ----------
    back : Backend
    question : str
    scope : Scope
        The scope of this question, and of a new conversation.
    job_ids : sequence of str
        The jobs of attached files, for which the answer waits.
    document_id : str, optional
        The only document to ask, instead of the documents of the scope.
    """
    # The reader has seen the messages about files that are ready, so remove these messages.
    untrack_ended_jobs(back.engine)
    conversation_id = get_current_id()
    if conversation_id is None:
        writer = get_writer(None)
        conversation = back.engine.conversations.create(scope, model=writer.model, instructions=writer.instructions)
        conversation_id = conversation.conversation_id
        choose_conversation(conversation_id)
        st.session_state.pop(keys.WRITER, None)
        st.session_state.pop(f"{keys.SCOPE}_new", None)
        st.session_state.pop(f"{keys.AS_OF}_new", None)
    history = _get_messages(back, conversation_id)
    if back.answers.running(conversation_id):
        return_to_input(question, _("the answer before it is still being written"))
        return
    if history is None:
        return_to_input(question)
        return
    back.engine.conversations.add_message(conversation_id, "user", question)
    writer = get_writer(back.engine.conversations.get(conversation_id))
    how = get_strategy(back.engine, writer.model, scope.as_of)
    asked = Scope((document_id,), as_of=scope.as_of) if document_id else scope
    back.answers.start(conversation_id, question, asked, history, job_ids, strategy=how, writer=writer)


def ask_about(back: Backend, document_id: str, question: str) -> None:
    """Ask a question about one document, without changing the documents that the conversation is limited to."""
    conversation_id = get_current_id()
    ask(back, question, get_scope(back, conversation_id) if conversation_id else Scope(), document_id=document_id)


def answer_again(back: Backend, message: Message) -> None:
    """Replace the last answer by a new one, from the documents that are chosen now.

    Do nothing if ``message`` is no longer the last one.
    """
    if _is_last(back, message):
        back.engine.conversations.remove_messages([message.message_id])
        answer_last(back)


def continue_answer(back: Backend, message: Message) -> None:
    """Let the model continue the last answer, which was interrupted.

    Do nothing if ``message`` is no longer the last one.
    """
    if not _is_last(back, message) or message.answer is None:
        return
    conversation_id = str(get_current_id())
    history = (_get_messages(back, conversation_id) or [])[:-2]
    conversation = back.engine.conversations.get(conversation_id)
    back.answers.start(
        *(conversation_id, message.answer.question, get_scope(back, conversation_id), history),
        writer=get_writer(conversation),
        continued=message,
    )


def search_again(back: Backend, message: Message, search_for: str) -> None:
    """Replace the last answer by a new one, for which ``search_for`` is searched for instead of the question.

    If ``message`` is no longer the last one, put the text into the input instead.
    """
    if _is_last(back, message):
        back.engine.conversations.remove_messages([message.message_id])
        answer_last(back, search_for)
    else:
        return_to_input(search_for)


def ask_instead(back: Backend, message: Message, question: str) -> None:
    """Replace the last question and its answer by another question.

    If ``message`` is no longer the last one, put the question into the input instead.
    """
    if not _is_last(back, message):
        return_to_input(question)
        return
    conversation_id = str(get_current_id())
    messages = back.engine.conversations.messages(conversation_id)
    first = max(position for position, one in enumerate(messages) if one.role == "user")
    back.engine.conversations.remove_messages([one.message_id for one in messages[first:]])
    ask(back, question, get_scope(back, conversation_id))


def answer_last(back: Backend, search_for: str | None = None) -> None:
    """Answer the last message of the conversation if it is a question; ``search_for`` is as in `search_again`."""
    conversation_id = str(get_current_id())
    messages = _get_messages(back, conversation_id)
    if not messages or messages[-1].role != "user":
        return
    scope = get_scope(back, conversation_id)
    writer = get_writer(back.engine.conversations.get(conversation_id))
    how = get_strategy(back.engine, writer.model, scope.as_of)
    back.answers.start(
        conversation_id, messages[-1].text, scope, messages[:-1], search_for=search_for, strategy=how, writer=writer
    )


def get_scope(back: Backend, conversation_id: str) -> Scope:
    """Return the scope of a conversation, without deleted documents and empty collections."""
    conversation = back.engine.conversations.get(conversation_id)
    return remove_missing(conversation.scope, back.engine.documents.list())


def return_to_input(question: str, why: str = "") -> None:
    """Put a question back into the input, and tell the reader why.

    Without ``why``, the reason is that the conversation has changed in another window.
    """
    st.session_state[keys.ASK] = question
    why = why or _("the conversation has changed in another window")
    st.toast(
        _("Your question was not asked, because {why}. It is in the input field again.", why=why),
        icon=":material/info:",
    )


def _get_messages(back: Backend, conversation_id: str) -> Sequence[Message] | None:
    """Return the messages of a conversation; ``None`` if the conversation was deleted."""
    try:
        return back.engine.conversations.messages(conversation_id)
    except UnknownConversation:
        return None


def _is_last(back: Backend, message: Message) -> bool:
    """Return whether a message is still the last one; an earlier click or another window may have added messages."""
    messages = _get_messages(back, str(get_current_id())) or []
    return [one.message_id for one in messages[-1:]] == [message.message_id]
