"""Store the cards of documents."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import NamedTuple

from pydantic import TypeAdapter
from sqlalchemy import delete, insert, select

from rag_core.store.database import Database
from rag_core.store.document_queries import lock_active
from rag_core.store.schema import document_cards, documents, versions
from rag_core.types.cards import DocumentCard

_CARD = TypeAdapter(DocumentCard)


class CardlessVersion(NamedTuple):
    """The active version of a document, which has no complete card."""

    version_id: str
    document_id: str
    name: str


class CardStore:
    """The cards of document versions. Each method makes its changes in one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def find_cardless(self, limit: int) -> list[CardlessVersion]:
        """Return the fully indexed active versions without a complete card, newest document first.

        Only the ``limit`` documents that were added last are considered.
        """
        recent = select(documents.c.id).order_by(documents.c.added_at.desc()).limit(limit)
        complete_card = select(document_cards.c.version_id).where(
            document_cards.c.version_id == versions.c.id, document_cards.c.is_complete
        )
        query = (
            select(versions.c.id, documents.c.id, documents.c.name)
            .join(documents, documents.c.active_version == versions.c.id)
            .where(versions.c.state == "full", documents.c.id.in_(recent), ~complete_card.exists())
            .order_by(documents.c.added_at.desc())
        )
        return [CardlessVersion._make(row) for row in self._db.fetch(query)]

    def save(self, version_id: str, card: DocumentCard) -> None:
        """Store or replace the card of a version. Do nothing if the version is no longer active."""
        with self._db.begin() as connection:
            if not lock_active(connection, version_id):
                return
            connection.execute(delete(document_cards).where(document_cards.c.version_id == version_id))
            values = {"version_id": version_id, "is_complete": card.is_complete, "card": asdict(card)}
            connection.execute(insert(document_cards).values(**values))

    def load(self, document_ids: Collection[str]) -> dict[str, DocumentCard]:
        """Return the cards of active versions by document id; documents without such a card are left out."""
        query = select(documents.c.id, document_cards.c.card).join(
            documents, documents.c.active_version == document_cards.c.version_id
        )
        rows = self._db.fetch_batches(query, documents.c.id, document_ids)
        return {row.id: _CARD.validate_python(row.card) for row in rows}
