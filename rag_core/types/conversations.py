"""Conversations, and feedback on their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rag_core.types.answers import Answer


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. ``answer`` is set on the assistant's turns."""

    message_id: str
    role: str
    text: str
    created_at: datetime
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents, by name or id, and the collections to search; everything if both are empty."""

    documents: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()

    @classmethod
    def of(cls, documents: Sequence[str] | None = None, collections: Sequence[str] = ()) -> Scope:
        """Return the scope of these documents and collections; everything if none is given."""
        return cls(tuple(documents or ()), tuple(collections))

    def __bool__(self) -> bool:
        return bool(self.documents or self.collections)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored conversation, without its messages."""

    conversation_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    pinned: bool
    scope: Scope


@dataclass(frozen=True, slots=True)
class Feedback:
    """A user's rating of an answer."""

    good: bool
    note: str = ""
