"""Store what language models write about the figures of documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import delete, func, insert, select, tuple_, update

from rag_core.store.database import AnyRow, Database, create_id, now
from rag_core.store.schema import chunks, documents, figure_descriptions, versions
from rag_core.store.serialization import chunk_to_row
from rag_core.types.chunks import ChunkSpan
from rag_core.types.documents import PageKey
from rag_core.types.figures import FigureDescription

_TABLE = figure_descriptions
_IS_PLACED = _TABLE.c.page_index.is_not(None)


class FigureStore:
    """The descriptions of figures. Each method makes its changes in one transaction.

    A description has no place while its version was replaced and the figure was not found in the new version yet.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def find(self, places: Collection[PageKey]) -> dict[PageKey, list[FigureDescription]]:
        """Return the descriptions on pages, in order; pages without any are left out."""
        columns = _TABLE.c.page_index, _TABLE.c.start, _TABLE.c.end, _TABLE.c.text, _TABLE.c.model
        query = select(_TABLE.c.version_id, *columns).order_by(_TABLE.c.start)
        rows = self._db.fetch_batches(query, tuple_(_TABLE.c.version_id, _TABLE.c.page_index), places)
        found: dict[PageKey, list[FigureDescription]] = {}
        for version_id, *values in rows:
            found.setdefault((version_id, values[0]), []).append(FigureDescription(*values))
        return found

    def has_any(self, document_id: str) -> bool:
        """Return whether any version of a document has descriptions."""
        return self._db.fetch_first(_select_of_document(document_id)) is not None

    def find_known(self, document_id: str, digest: str) -> AnyRow | None:
        """Return the row of a description of the same picture in any version of a document."""
        return self._db.fetch_first(_select_of_document(document_id).where(_TABLE.c.digest == digest))

    def find_rows(self, version_id: str) -> list[AnyRow]:
        """Return the rows of a version whose figures were found on its pages."""
        return list(self._db.fetch(select(_TABLE).where(_TABLE.c.version_id == version_id, _IS_PLACED)))

    def add(self, version_id: str, page_index: int, span: tuple[int, int], known: Mapping[str, Any]) -> None:
        """Store a description, unless searches no longer find the version.

        ``known`` contains its ``digest``, ``text`` and ``model``, and ``created_at`` if it is a copy.
        """
        is_active = select(documents.c.id).where(documents.c.active_version == version_id)
        values = {"id": create_id(), "version_id": version_id, "page_index": page_index, "created_at": now(), **known}
        with self._db.begin() as connection:
            if connection.execute(is_active).first() is not None:
                connection.execute(insert(_TABLE).values(**values, start=span[0], end=span[1]))

    def remove_unplaced(self, version_id: str) -> None:
        """Delete the descriptions of former versions whose figures a version does not contain."""
        self._db.change(delete(_TABLE).where(_TABLE.c.version_id == version_id, ~_IS_PLACED))

    def find_unindexed(self, version_id: str) -> list[AnyRow]:
        """Return the rows of a version that have no chunk, or one without an embedding after an interruption."""
        query = select(_TABLE).outerjoin(chunks, chunks.c.id == _TABLE.c.chunk_id)
        return list(
            self._db.fetch(query.where(_TABLE.c.version_id == version_id, _IS_PLACED, chunks.c.embedding_id.is_(None)))
        )

    def save_chunks(self, version_id: str, rows: Iterable[AnyRow], spans: Iterable[ChunkSpan]) -> list[int]:
        """Store a chunk for each row of `find_unindexed`; return the ids of the chunks in the same order."""
        ids = []
        with self._db.begin() as connection:
            for row, span in zip(rows, spans, strict=True):
                known = row.chunk_id is not None
                statement = update(chunks).where(chunks.c.id == row.chunk_id) if known else insert(chunks)
                values = {**chunk_to_row(span), "version_id": version_id}
                ids.append(int(connection.execute(statement.values(values).returning(chunks.c.id)).scalar_one()))
                connection.execute(update(_TABLE).where(_TABLE.c.id == row.id).values(chunk_id=ids[-1]))
            total = select(func.count()).where(chunks.c.version_id == version_id).scalar_subquery()
            connection.execute(update(versions).where(versions.c.id == version_id).values(chunks=total))
        return ids


def _select_of_document(document_id: str) -> Any:
    query = select(_TABLE).join(versions, versions.c.id == _TABLE.c.version_id)
    return query.where(versions.c.document_id == document_id).limit(1)


def pass_on_descriptions(connection: Any, version_id: str) -> None:
    """Give the descriptions of a version to the one that searches use instead, or delete them.

    They lose their places, which the job that describes figures finds again by the pictures of the figures.
    """
    query = select(documents.c.active_version).join(versions, versions.c.document_id == documents.c.id)
    heir = connection.execute(query.where(versions.c.id == version_id)).scalar()
    of_version = _TABLE.c.version_id == version_id
    if heir not in (None, version_id):
        known = select(_TABLE.c.digest).where(_TABLE.c.version_id == heir)
        values = {"version_id": heir, "page_index": None, "start": None, "end": None, "chunk_id": None}
        connection.execute(update(_TABLE).where(of_version, _TABLE.c.digest.not_in(known)).values(values))
    connection.execute(delete(_TABLE).where(of_version))
