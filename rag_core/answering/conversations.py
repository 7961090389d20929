"""Create, list, edit and export conversations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.answering.export import export_docx, export_markdown, export_pdf
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.preferences import check_instructions
from rag_core.settings import Settings
from rag_core.store.conversations import ConversationStore
from rag_core.text.grammar import ARTICLES, BE
from rag_core.text.proper_names import find_content_words
from rag_core.types.answers import Answer
from rag_core.types.conversations import MAX_TITLE_CHARS, Conversation, Message, Scope

# Maximum number of characters of a tag.
MAX_TAG_CHARS = 40
# The beginning of a question before its subject, such as "What was the".
_QUESTION_START = re.compile(
    rf"(?:what|which|who|where|when)\s+(?:{'|'.join(BE)})\s+(?:(?:{'|'.join(ARTICLES)})\s+)?", re.IGNORECASE
)


class Conversations:
    """The stored conversations.

    Parameters
    ----------
    models : LanguageModels
        The values of secret settings and the stored API key are removed from exports.
    store : ConversationStore
    are_kept : bool
        Whether the conversations are stored in the data folder. Otherwise, they last as long as the process.
    """

    def __init__(self, models: LanguageModels, store: ConversationStore, *, are_kept: bool) -> None:
        self._models = models
        self._store = store
        self.are_kept = are_kept

    def list(self, query: str = "") -> list[Conversation]:
        """Return the conversations with ``query`` in title or text; pinned conversations and newer ones come first.

        The attribute ``found`` of a conversation shows where its text contains the query.
        """
        return self._store.all(query)

    def create(self, scope: Scope | None = None, *, model: str | None = None, instructions: str = "") -> Conversation:
        """Create a conversation about all documents, or about those in ``scope``.

        ``model`` and ``instructions`` are those of `Engine.ask`. Raise `SettingsError` for too long instructions.
        """
        return self._store.add(Scope() if scope is None else scope, model, check_instructions(instructions))

    def get(self, conversation_id: str) -> Conversation:
        """Return a conversation; raise `UnknownConversation` if no conversation has this id."""
        return self._store.get(conversation_id)

    def messages(self, conversation_id: str) -> Sequence[Message]:
        """Return the messages of a conversation, oldest first; may raise `UnknownConversation`."""
        self._store.get(conversation_id)
        return self._store.messages(conversation_id)

    def add_message(self, conversation_id: str, role: str, text: str, answer: Answer | None = None) -> Message:
        """Add a message; the subject of the first question becomes the title. May raise `UnknownConversation`."""
        title = _find_subject(text)[:MAX_TITLE_CHARS] if role == "user" and text.strip() else ""
        return self._store.append(conversation_id, role, text, answer, title=title)

    def replace_answer(self, message_id: str, answer: Answer) -> None:
        """Replace the answer of a message, for example by its continuation; do nothing if the message was deleted."""
        self._store.replace_answer(message_id, answer)

    def remove_messages(self, message_ids: Sequence[str]) -> None:
        """Remove messages, for example when a question is asked again."""
        self._store.remove_messages(message_ids)

    def rename(self, conversation_id: str, title: str) -> None:
        """Change the title of a conversation; ignore an empty title. May raise `UnknownConversation`."""
        if title.strip():
            self._store.update(conversation_id, title=" ".join(title.split())[:MAX_TITLE_CHARS])

    def set_pinned(self, conversation_id: str, pinned: bool) -> None:
        """Pin a conversation to the top of the list, or unpin it; may raise `UnknownConversation`."""
        self._store.update(conversation_id, pinned=pinned)

    def set_tags(self, conversation_id: str, tags: Sequence[str]) -> None:
        """Set the tags of a conversation, without empty and repeated tags; may raise `UnknownConversation`."""
        kept = [one[:MAX_TAG_CHARS] for one in dict.fromkeys(" ".join(tag.split()) for tag in tags) if one]
        self._store.update(conversation_id, tags=kept)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """Set the documents and collections of a conversation; may raise `UnknownConversation`."""
        self._store.set_scope(conversation_id, scope)

    def set_model(self, conversation_id: str, model: str | None) -> None:
        """Set the model of the next questions, as in `Engine.ask`; may raise `UnknownConversation`."""
        self._store.update(conversation_id, model=model)

    def set_instructions(self, conversation_id: str, instructions: str) -> None:
        """Set the instructions for the answers of a model.

        Raise `SettingsError` if they are too long. May raise `UnknownConversation`.
        """
        self._store.update(conversation_id, instructions=check_instructions(instructions))

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation and its messages."""
        self._store.delete(conversation_id)

    def export_markdown(self, conversation_id: str, application: str = "") -> str:
        """Return a conversation as Markdown, with the sources of its answers; may raise `UnknownConversation`.

        With the address of the application, each source has a link to its page.
        """
        return export_markdown(*self._collect(conversation_id), application)

    def export_pdf(self, conversation_id: str, application: str = "") -> bytes:
        """Return a conversation as a PDF; otherwise, the same as `export_markdown`."""
        return export_pdf(*self._collect(conversation_id), application)

    def export_docx(self, conversation_id: str, application: str = "") -> bytes:
        """Return a conversation as a Word document; otherwise, the same as `export_markdown`."""
        return export_docx(*self._collect(conversation_id), application)

    def _collect(self, conversation_id: str) -> tuple[Settings, Conversation, Sequence[Message]]:
        return self._models.settings, self.get(conversation_id), self.messages(conversation_id)


def _find_subject(question: str) -> str:
    """Return the subject of a question, such as "Net income in 2025" of "What was the net income in 2025?".

    If the subject would contain only function words, return the whole question.
    """
    whole = " ".join(question.split())
    start = _QUESTION_START.match(whole)
    subject = whole[start.end() :].rstrip(" ?") if start else whole
    return subject[0].upper() + subject[1:] if find_content_words(subject) else whole
