"""Conversations, and feedback on their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rag_core.types.answers import Answer

# Maximum number of characters of the title of a conversation.
MAX_TITLE_CHARS = 200
# Maximum number of characters of the user's instructions for one conversation, and of those for all conversations.
MAX_INSTRUCTION_CHARS = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """A question of the user, or an answer, in a conversation. ``answer`` is ``None`` for a question."""

    message_id: str
    role: str
    text: str
    created_at: datetime
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents (names or ids) and the collections to search. If both are empty, all documents are searched.

    ``as_of`` is the name of a snapshot, or a date (YYYY-MM-DD), to search instead of the present documents. A scope is
    true if it names documents or collections.
    """

    documents: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    as_of: str = ""

    @classmethod
    def of(cls, documents: Sequence[str] | None = None, collections: Sequence[str] = (), as_of: str = "") -> Scope:
        """Return the scope of these documents and collections; without arguments, the scope of all documents."""
        return cls(tuple(documents or ()), tuple(collections), as_of)

    def __bool__(self) -> bool:
        return bool(self.documents or self.collections)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored conversation, without its messages.

    Attributes
    ----------
    scope : Scope
        The documents to search for the next question.
    model : str or None
        Name of the language model for the next question; ``None`` stands for the model of the settings, and an empty
        name for excerpts without a model.
    instructions : str
        The user's instructions to the language model.
    found : str
        In the results of a search for conversations, the part of a message that contains the searched words; empty if
        the title contains them.
    """

    conversation_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    pinned: bool
    scope: Scope
    model: str | None = None
    instructions: str = ""
    tags: tuple[str, ...] = ()
    found: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A user's rating of an answer."""

    good: bool
    note: str = ""
