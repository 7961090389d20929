"""Store what language models write about the figures of documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import delete, func, insert, select, tuple_, update

from rag_core.store.database import AnyRow, Database, create_id, group_values, now
from rag_core.store.document_queries import lock_active
from rag_core.store.schema import chunks, documents, figure_descriptions, versions
from rag_core.store.serialization import chunk_to_row
from rag_core.types.chunks import ChunkSpan
from rag_core.types.documents import PageKey
from rag_core.types.figures import FigureDescription

_TABLE = figure_descriptions
_IS_PLACED = _TABLE.c.page_index.is_not(None)


class FigureStore:
    """The descriptions of figures. Each method makes its changes in one transaction.

    When a version is replaced, its descriptions are moved to the new version. A moved description has no place until
    its figure is found in the new version.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def find(self, places: Collection[PageKey]) -> dict[PageKey, list[FigureDescription]]:
        """Return the descriptions of figures by version id and page index, in the order of the page's text.

        Pages without descriptions are left out.
        """
        columns = _TABLE.c.page_index, _TABLE.c.start, _TABLE.c.end, _TABLE.c.text, _TABLE.c.model
        query = select(_TABLE.c.version_id, *columns).order_by(_TABLE.c.start)
        rows = self._db.fetch_batches(query, tuple_(_TABLE.c.version_id, _TABLE.c.page_index), places)
        return group_values(
            ((version_id, page_index), FigureDescription(page_index, *values))
            for version_id, page_index, *values in rows
        )

    def has_any(self, document_id: str) -> bool:
        """Return whether any version of a document has descriptions."""
        return self._db.fetch_first(_select_first_of_document(document_id)) is not None

    def find_by_picture(self, document_id: str, digest: str) -> AnyRow | None:
        """Return the row of a description of the picture with this digest, in any version of a document.

        Return ``None`` if no such description is stored.
        """
        return self._db.fetch_first(_select_first_of_document(document_id).where(_TABLE.c.digest == digest))

    def list_placed(self, version_id: str) -> list[AnyRow]:
        """Return the rows of a version's descriptions that have a place."""
        return list(self._db.fetch(select(_TABLE).where(_TABLE.c.version_id == version_id, _IS_PLACED)))

    def add(self, version_id: str, page_index: int, span: tuple[int, int], description: Mapping[str, Any]) -> None:
        """Store a description; do nothing if the version is no longer active.

        ``span`` contains the start and the end of the caption in the page's text. ``description`` contains ``digest``,
        ``text`` and ``model``. A copy of a description also contains ``created_at``.
        """
        values = {"id": create_id(), "version_id": version_id, "page_index": page_index, "created_at": now()}
        values |= {"start": span[0], "end": span[1], **description}
        with self._db.begin() as connection:
            if lock_active(connection, version_id):
                connection.execute(insert(_TABLE).values(**values))

    def remove_unplaced(self, version_id: str) -> None:
        """Delete the descriptions of a version that have no place, because the version lacks their figures."""
        self._db.change(delete(_TABLE).where(_TABLE.c.version_id == version_id, ~_IS_PLACED))

    def find_unindexed(self, version_id: str) -> list[AnyRow]:
        """Return the rows of a version's descriptions that have a place, but are not found by searches yet.

        Such a description has no chunk or, after an interruption, a chunk without an embedding.
        """
        query = select(_TABLE).outerjoin(chunks, chunks.c.id == _TABLE.c.chunk_id)
        return list(
            self._db.fetch(query.where(_TABLE.c.version_id == version_id, _IS_PLACED, chunks.c.embedding_id.is_(None)))
        )

    def save_chunks(self, version_id: str, rows: Iterable[AnyRow], spans: Iterable[ChunkSpan]) -> list[int]:
        """Store a chunk for each row of `find_unindexed`; return the ids of the chunks in the same order."""
        ids = []
        with self._db.begin() as connection:
            for row, span in zip(rows, spans, strict=True):
                has_chunk = row.chunk_id is not None
                statement = update(chunks).where(chunks.c.id == row.chunk_id) if has_chunk else insert(chunks)
                values = {**chunk_to_row(span), "version_id": version_id}
                ids.append(int(connection.execute(statement.values(values).returning(chunks.c.id)).scalar_one()))
                connection.execute(update(_TABLE).where(_TABLE.c.id == row.id).values(chunk_id=ids[-1]))
            total = select(func.count()).where(chunks.c.version_id == version_id).scalar_subquery()
            connection.execute(update(versions).where(versions.c.id == version_id).values(chunks=total))
        return ids


def _select_first_of_document(document_id: str) -> Any:
    query = select(_TABLE).join(versions, versions.c.id == _TABLE.c.version_id)
    return query.where(versions.c.document_id == document_id).limit(1)


def move_descriptions(connection: Any, version_id: str) -> None:
    """Move the descriptions of a version to the active version of its document.

    A description is deleted instead if no other version is active, or if the active version has a description of the
    same picture. Moved descriptions have no place. The job that describes figures compares pictures to find new places.
    """
    query = select(documents.c.active_version).join(versions, versions.c.document_id == documents.c.id)
    active_id = connection.execute(query.where(versions.c.id == version_id)).scalar()
    of_version = _TABLE.c.version_id == version_id
    if active_id not in (None, version_id):
        described = select(_TABLE.c.digest).where(_TABLE.c.version_id == active_id)
        values = {"version_id": active_id, "page_index": None, "start": None, "end": None, "chunk_id": None}
        connection.execute(update(_TABLE).where(of_version, _TABLE.c.digest.not_in(described)).values(values))
    connection.execute(delete(_TABLE).where(of_version))
