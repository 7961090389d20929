"""Store conversations and their messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from rag_core.errors import UnknownConversation
from rag_core.store.database import Database, create_id, group_values, now
from rag_core.store.schema import conversation_collections, conversations, messages
from rag_core.store.serialization import answer_from_json, answer_to_json
from rag_core.types.answers import Answer
from rag_core.types.conversations import Conversation, Message, Scope

UNTITLED = "New chat"
# Numbers of characters that are shown before and after the searched words in a message.
_CHARS_BEFORE, _CHARS_AFTER = 24, 60


class ConversationStore:
    """Conversations and their messages. Each method makes its changes in one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self, query: str = "") -> list[Conversation]:
        """Return the conversations whose title or messages contain ``query``; all if ``query`` is blank.

        Pinned conversations come first. Apart from this, the conversation that was changed last comes first. If only
        messages contain ``query``, ``found`` of the conversation is the text around ``query`` in the first of them.
        """
        statement = select(conversations).order_by(conversations.c.pinned.desc(), conversations.c.updated_at.desc())
        words = query.strip()
        with self._db.read() as connection:
            rows = connection.execute(statement).all()
            collections = _read_collections(connection, select(conversation_collections))
            found = _find_in_messages(connection, words) if words else {}
        every = [_conversation_from_row(row, collections) for row in rows]
        in_title = {one.conversation_id for one in every if words.casefold() in one.title.casefold()}
        return [
            one if one.conversation_id in in_title else replace(one, found=found[one.conversation_id])
            for one in every
            if one.conversation_id in in_title or one.conversation_id in found
        ]

    def add(self, scope: Scope, model: str | None = None, instructions: str = "") -> Conversation:
        """Create an empty conversation and return it."""
        conversation_id, moment = create_id(), now()
        values = {"title": UNTITLED, "created_at": moment, "updated_at": moment, "pinned": False}
        values |= {"documents": list(scope.documents), "as_of": scope.as_of}
        with self._db.begin() as connection:
            connection.execute(
                insert(conversations).values(id=conversation_id, model=model, instructions=instructions, **values)
            )
            _add_collections(connection, conversation_id, scope.collections)
        return self.get(conversation_id)

    def get(self, conversation_id: str) -> Conversation:
        """Return a conversation; raise `UnknownConversation` if it is not stored."""
        with self._db.read() as connection:
            row = connection.execute(select(conversations).where(conversations.c.id == conversation_id)).first()
            condition = conversation_collections.c.conversation_id == conversation_id
            collections = _read_collections(connection, select(conversation_collections).where(condition))
        if row is None:
            raise UnknownConversation("That conversation is no longer stored. Start a new chat.")
        return _conversation_from_row(row, collections)

    def list_gate_scores(self, score_name: str, limit: int) -> list[float]:
        """Return the last ``limit`` scores of this name that the gate compared with its threshold, newest first."""
        gate = messages.c.answer["gate"]
        query = select(gate["score"].as_float()).where(gate["score_name"].as_string() == score_name)
        return self._db.fetch_values(query.order_by(messages.c.created_at.desc()).limit(limit))

    def messages(self, conversation_id: str) -> list[Message]:
        """Return the messages of a conversation, oldest first."""
        query = select(messages).where(messages.c.conversation_id == conversation_id)
        rows = self._db.fetch(query.order_by(messages.c.created_at, messages.c.id))
        return [_message_from_row(row) for row in rows]

    def message(self, message_id: str) -> Message:
        """Return a message; raise `UnknownConversation` if it is not stored."""
        row = self._db.fetch_first(select(messages).where(messages.c.id == message_id))
        if row is None:
            raise UnknownConversation("That message is no longer stored. Reload the page.")
        return _message_from_row(row)

    def append(self, conversation_id: str, role: str, text: str, answer: Answer | None, *, title: str = "") -> Message:
        """Add a message and return it; raise `UnknownConversation` if the conversation is not stored.

        ``title`` becomes the title of the conversation if the conversation is still called `UNTITLED`.
        """
        conversation, moment, message_id = self.get(conversation_id), now(), create_id()
        changes: dict[str, Any] = {"updated_at": moment}
        if title and conversation.title == UNTITLED:
            changes["title"] = title
        values = {"id": message_id, "conversation_id": conversation_id, "created_at": moment}
        self._db.change(
            insert(messages).values(**values, role=role, text=text, answer=answer_to_json(answer) if answer else None),
            update(conversations).where(conversations.c.id == conversation_id).values(**changes),
        )
        return Message(message_id, role, text, moment, answer)

    def replace_answer(self, message_id: str, answer: Answer) -> None:
        """Replace the answer of a message, and the text of the message by the text of the answer.

        Do nothing if the message was deleted.
        """
        values = {"text": answer.text, "answer": answer_to_json(answer)}
        self._db.change(update(messages).where(messages.c.id == message_id).values(**values))

    def remove_messages(self, message_ids: Sequence[str]) -> None:
        self._db.change(delete(messages).where(messages.c.id.in_(message_ids)))

    def update(self, conversation_id: str, **values: Any) -> None:
        """Change columns of a conversation; raise `UnknownConversation` if it is not stored.

        Use `set_scope` for the columns that belong to the scope.
        """
        if not self._db.change(update(conversations).where(conversations.c.id == conversation_id).values(**values)):
            self.get(conversation_id)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """Replace the scope of a conversation; raise `UnknownConversation` if the conversation is not stored."""
        self.get(conversation_id)
        condition = conversation_collections.c.conversation_id == conversation_id
        query = update(conversations).where(conversations.c.id == conversation_id)
        with self._db.begin() as connection:
            connection.execute(query.values(documents=list(scope.documents), as_of=scope.as_of))
            connection.execute(delete(conversation_collections).where(condition))
            _add_collections(connection, conversation_id, scope.collections)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation and its messages."""
        self._db.change(
            delete(messages).where(messages.c.conversation_id == conversation_id),
            delete(conversations).where(conversations.c.id == conversation_id),
        )

    def export_conversations(self) -> list[dict[str, Any]]:
        """Return the conversations with their messages as dictionaries, oldest first; see `import_conversation`."""
        values = []
        names = ("conversation_id", "title", "created_at", "updated_at", "pinned", "model", "instructions", "tags")
        for one in sorted(self.all(), key=lambda conversation: conversation.created_at):
            scope = {"documents": one.scope.documents, "collections": one.scope.collections, "as_of": one.scope.as_of}
            query = select(messages.c.role, messages.c.text, messages.c.answer, messages.c.created_at)
            query = query.where(messages.c.conversation_id == one.conversation_id)
            rows = self._db.fetch(query.order_by(messages.c.created_at, messages.c.id))
            columns = {name: getattr(one, name) for name in names}
            values.append({**columns, **scope, "messages": [dict(row._mapping) for row in rows]})
        return values

    def import_conversation(self, values: Mapping[str, Any]) -> bool:
        """Add a conversation that `export_conversations` returned; return false if its id is stored already."""
        row = {name: value for name, value in values.items() if name not in ("messages", "collections")}
        conversation_id = row["id"] = row.pop("conversation_id")
        rows = [{"id": create_id(), "conversation_id": conversation_id, **one} for one in values["messages"]]
        with self._db.begin() as connection:
            if connection.execute(select(conversations.c.id).where(conversations.c.id == conversation_id)).first():
                return False
            connection.execute(insert(conversations).values(**row))
            _add_collections(connection, conversation_id, values["collections"])
            if rows:
                connection.execute(insert(messages), rows)
        return True

    def count(self) -> int:
        return int(self._db.fetch_values(select(func.count()).select_from(conversations))[0])


def _find_in_messages(connection: Connection, words: str) -> dict[str, str]:
    """Return the text around the words in the first message that contains them, by conversation id."""
    contains_words = messages.c.text.icontains(words, autoescape=True)
    query = select(messages.c.conversation_id, messages.c.text).where(contains_words)
    found: dict[str, str] = {}
    for conversation_id, text in connection.execute(query.order_by(messages.c.created_at, messages.c.id)):
        found.setdefault(conversation_id, _cut_around(text, words))
    return found


def _cut_around(text: str, words: str) -> str:
    match = re.search(re.escape(words), text, re.IGNORECASE)
    offset = match.start() if match else 0
    start, end = max(0, offset - _CHARS_BEFORE), offset + len(words) + _CHARS_AFTER
    part = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{part}{'…' if end < len(text) else ''}"


def _message_from_row(row: Any) -> Message:
    return Message(
        message_id=row.id,
        role=row.role,
        text=row.text,
        created_at=row.created_at,
        answer=answer_from_json(row.answer) if row.answer else None,
    )


def _add_collections(connection: Connection, conversation_id: str, collections: Sequence[str]) -> None:
    rows = [{"conversation_id": conversation_id, "collection": name} for name in dict.fromkeys(collections)]
    if rows:
        connection.execute(insert(conversation_collections), rows)


def _read_collections(connection: Connection, query: Select[Any]) -> dict[str, list[str]]:
    """Return the names of the collections that a query finds, by conversation id."""
    return group_values(connection.execute(query.order_by(conversation_collections.c.collection)))


def _conversation_from_row(row: Any, collections: Mapping[str, Sequence[str]]) -> Conversation:
    return Conversation(
        conversation_id=row.id,
        title=row.title,
        created_at=row.created_at,
        updated_at=row.updated_at,
        pinned=bool(row.pinned),
        scope=Scope(tuple(row.documents), tuple(collections.get(row.id, ())), row.as_of),
        model=row.model,
        instructions=row.instructions,
        tags=tuple(row.tags),
    )
