"""Conversations, and feedback on their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rag_core.types.answers import Answer

# Maximum number of characters of the instructions for every conversation, and of those for one conversation.
MAX_INSTRUCTION_CHARS = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. ``answer`` is ``None`` if the turn is a question of the user."""

    message_id: str
    role: str
    text: str
    created_at: datetime
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents (names or ids) and the collections to search. If both are empty, all documents are searched.

    ``as_of`` is the name of a snapshot or a date (YYYY-MM-DD), whose content is searched; empty for the present.
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

    ``model`` names the language model of the next questions; ``None`` stands for the model in use, and an empty name
    for quotes only. ``instructions`` are the user's instructions for the answers of a model. ``found`` is the part of
    a message that contains what a search looked for; empty if the title contains it, or without a search.
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
