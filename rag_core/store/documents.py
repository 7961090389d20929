"""Change documents, versions, pages, chunks and index generations in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from rag_core.errors import CollectionError
from rag_core.store.database import create_id, now, split_batches
from rag_core.store.document_queries import IS_BEING_REMOVED, DocumentQueries
from rag_core.store.figures import move_descriptions
from rag_core.store.schema import (
    aliases,
    chunks,
    document_cards,
    documents,
    generations,
    hidden_texts,
    jobs,
    page_tables,
    pages,
    versions,
)
from rag_core.store.serialization import chunk_to_row, pack_tables, page_to_row, unpack_headings
from rag_core.store.themes import remove_theme_texts
from rag_core.types.chunks import ChunkSpan, Fingerprint
from rag_core.types.documents import DocumentStatus, Page, PageHeading, PageState, VersionRow

# Condition of updates: once the removal of a document has started, the states of its versions must not change.
_IS_NOT_BEING_REMOVED = versions.c.state != "removing"


class KnownContent(NamedTuple):
    """A document with a given content. ``is_complete`` says whether this content is completely indexed."""

    document_id: str
    name: str
    is_complete: bool


class DocumentStore(DocumentQueries):
    """Queries and changes of the library. Each method makes its changes in one transaction."""

    # generations

    def generations(self, *states: str) -> list[tuple[int, Fingerprint]]:
        """Return the id and the fingerprint of the generations in these states, oldest first.

        The states are ``building``, ``active`` and ``retired``.
        """
        query = select(generations.c.id, generations.c.fingerprint).where(generations.c.state.in_(states))
        rows = self._db.fetch(query.order_by(generations.c.id))
        return [(row.id, Fingerprint(**row.fingerprint)) for row in rows]

    def set_generation_parser(self, generation_id: int, extractor: str) -> None:
        """Replace the parser versions in the fingerprint of a generation."""
        of_generation = generations.c.id == generation_id
        with self._db.begin() as connection:
            stored = connection.execute(select(generations.c.fingerprint).where(of_generation)).scalar_one()
            changed = {**stored, "extractor": extractor}
            connection.execute(update(generations).where(of_generation).values(fingerprint=changed))

    def add_generation(self, fingerprint: Fingerprint, state: str) -> int:
        """Add a generation in a state (see `generations`) and return its id."""
        values = {"fingerprint": asdict(fingerprint), "state": state, "created_at": now()}
        with self._db.begin() as connection:
            connection.execute(insert(generations).values(values))
            return int(connection.execute(select(func.max(generations.c.id))).scalar_one())

    def swap_generation(self, generation_id: int) -> None:
        """Activate a generation, and retire the generation that was active.

        - A document with a complete version of its present content in the new generation gets this active version.
        - Any other document has no active version from now on.

        All changes are made in one transaction, so that a question searches either the old or the new index.
        """
        former = versions.alias()
        content = (
            select(former.c.sha256)
            .where(former.c.id == documents.c.active_version)
            .correlate(documents)
            .scalar_subquery()
        )
        # A generation can also contain former content of a document, for snapshots. This content is not activated.
        built = select(versions.c.id).where(
            versions.c.document_id == documents.c.id,
            versions.c.generation_id == generation_id,
            versions.c.state == "full",
            versions.c.sha256 == func.coalesce(content, versions.c.sha256),
        )
        in_generation = select(versions.c.id).where(versions.c.generation_id == generation_id)
        self._db.change(
            update(generations).where(generations.c.state == "active").values(state="retired"),
            update(generations).where(generations.c.id == generation_id).values(state="active"),
            update(documents)
            .where(built.exists())
            .values(active_version=built.order_by(versions.c.added_at.desc()).limit(1).scalar_subquery()),
            # Searches no longer find documents without a version in the new generation. The documents stay listed with
            # their file and reason, so that users can retry them.
            update(documents)
            .where(documents.c.active_version.is_not(None), documents.c.active_version.not_in(in_generation))
            .values(active_version=None),
        )

    def drop_generation(self, generation_id: int) -> None:
        """Delete a generation that has no versions left."""
        self._db.change(delete(generations).where(generations.c.id == generation_id))

    # versions, from submission to publication

    def find_document_with_content(
        self, sha256: str, *, only_queued: bool = False, collection: str | None = None
    ) -> KnownContent | None:
        """Return a searchable or queued document with this content; ``None`` if there is none.

        Documents whose content a queued file will replace are ignored. A document in which the content is completely
        indexed is preferred.

        Parameters
        ----------
        sha256 : str
            SHA-256 of the content.
        only_queued : bool
            Whether to consider only versions in the state ``building``.
        collection : str, optional
            The collection of the document's first name. By default, all collections are considered.
        """
        later = versions.alias()
        replaced = select(later.c.id).where(
            later.c.document_id == versions.c.document_id,
            later.c.state == "building",
            later.c.added_at > versions.c.added_at,
            later.c.sha256 != sha256,
        )
        is_queued = versions.c.state == "building"
        query = (
            select(documents.c.id, documents.c.name, versions.c.state)
            .join(versions, versions.c.document_id == documents.c.id)
            .where(versions.c.sha256 == sha256, ~replaced.exists())
            .where(is_queued if only_queued else or_(is_queued, documents.c.active_version == versions.c.id))
            .order_by(versions.c.state != "full")
        )
        if collection is not None:
            query = query.where(documents.c.collection == collection)
        row = self._db.fetch_first(query)
        return KnownContent(row.id, row.name, row.state == "full") if row else None

    def add_version(
        self,
        name: str,
        collection: str,
        sha256: str,
        size: int,
        *,
        folder: str | None = None,
        document_id: str | None = None,
        generation_id: int | None = None,
        base: VersionRow | None = None,
        job: Mapping[str, Any] | None = None,
    ) -> tuple[str, str]:
        """Add a version to a new or stored document, and return the ids of the document and the version.

        Parameters
        ----------
        name, collection : str
            Name and collection of a new document; ignored with ``document_id``.
        sha256 : str
            SHA-256 of the file.
        size : int
            Size of the file in bytes.
        folder : str, optional
            Folder of a new document's file; ignored with ``document_id``.
        document_id : str, optional
            The stored document. By default, a new document is added.
        generation_id : int, optional
            By default, the generation is chosen when indexing starts.
        base : VersionRow, optional
            The version whose content is indexed again. The new version is dated 1 µs after it instead of now.
        job : mapping, optional
            Row of the job that indexes the version; see `build_job_row`. The row is completed by the two ids and added
            in the same transaction, because a version without a job would never be indexed.
        """
        version_id = create_id()
        # Content that is indexed again keeps its time, so that it does not replace content that was added later.
        moment = now() if base is None else base.added_at + timedelta(microseconds=1)
        values: dict[str, Any] = {"id": version_id, "generation_id": generation_id, "sha256": sha256, "size": size}
        values |= {"state": "building", "status": DocumentStatus.QUEUED.value, "added_at": moment}
        with self._db.begin() as connection:
            if document_id is None:
                document_id = create_id()
                document = {"id": document_id, "name": name, "collection": collection, "folder": folder}
                connection.execute(insert(documents).values(**document, added_at=moment))
            connection.execute(insert(versions).values(**values, document_id=document_id))
            if job is not None:
                connection.execute(insert(jobs).values({**job, "document_id": document_id, "version_id": version_id}))
        return document_id, version_id

    def version_dates(self, version_ids: Collection[str]) -> dict[str, datetime]:
        """Return the times at which versions were added, by version id."""
        rows = self._db.fetch_batches(select(versions.c.id, versions.c.added_at), versions.c.id, version_ids)
        return {row.id: row.added_at for row in rows}

    def version_ages(self, version_ids: Collection[str]) -> dict[str, float]:
        """Return the days since versions were added, as fractional numbers, by version id."""
        moment = now()
        dates = self.version_dates(version_ids)
        return {version_id: (moment - added) / timedelta(days=1) for version_id, added in dates.items()}

    def move(self, document_ids: Sequence[str], collection: str) -> None:
        """Move documents with all their names to a collection.

        Raises
        ------
        CollectionError
            The collection would contain a name twice. No document is moved.
        """
        parts = list(split_batches(list(document_ids)))
        tables = ((documents, documents.c.id), (aliases, aliases.c.document_id))
        with self._db.begin() as connection:
            stored: Counter[str] = Counter()
            moved: set[str] = set()
            for table, key in tables:
                for part in parts:
                    connection.execute(update(table).where(key.in_(part)).values(collection=collection))
                    moved.update(connection.execute(select(table.c.name).where(key.in_(part))).scalars())
                owner = select(documents.c.id).where(documents.c.id == key, ~IS_BEING_REMOVED)
                stored.update(
                    connection.execute(
                        select(table.c.name).where(table.c.collection == collection, owner.exists())
                    ).scalars()
                )
            for name in sorted(moved):
                if stored[name] > 1:
                    raise CollectionError(
                        f"{name} would be in the collection {collection!r} twice. Nothing was moved; move only one of "
                        "the two, or delete one."
                    )

    def set_tags(self, tags: Mapping[str, Sequence[str]]) -> None:
        """Replace the tags of documents; ``tags`` maps document ids to the new tags."""
        with self._db.begin() as connection:
            for document_id, chosen in tags.items():
                connection.execute(update(documents).where(documents.c.id == document_id).values(tags=list(chosen)))

    def update_version(self, version_id: str, **values: Any) -> None:
        """Change columns of a version."""
        self._db.change(update(versions).where(versions.c.id == version_id).values(**values))

    def page_headings(self, version_id: str) -> list[PageHeading]:
        """Return the labels and headings of the pages of a version, in order."""
        query = select(pages.c.page_index, pages.c.page_label, pages.c.heading, pages.c.headings)
        rows = self._db.fetch(query.where(pages.c.version_id == version_id).order_by(pages.c.page_index))
        return [PageHeading(row.page_index, row.page_label, row.heading, unpack_headings(row.headings)) for row in rows]

    def save_pages(self, version_id: str, extracted: Sequence[Page]) -> None:
        """Replace the stored pages of a version, with their hidden texts and tables, and store the `PAGE_COUNTS`."""
        rows = [{"version_id": version_id, **page_to_row(page)} for page in extracted]
        hidden = [
            {"version_id": version_id, "page_index": page.page_index, "text": page.hidden}
            for page in extracted
            if page.hidden
        ]
        tables = [
            {"version_id": version_id, "page_index": page.page_index, "tables": pack_tables(page.tables)}
            for page in extracted
            if page.tables
        ]
        states = [page.state for page in extracted]
        counts = {
            "pages": len(states),
            "pages_text": sum(state in (PageState.TEXT, PageState.MIXED) for state in states),
            "pages_ocr": sum(state in (PageState.OCR, PageState.MIXED) for state in states),
            "pages_empty": states.count(PageState.EMPTY),
            "pages_failed": states.count(PageState.FAILED),
        }
        with self._db.begin() as connection:
            for table, values in ((pages, rows), (hidden_texts, hidden), (page_tables, tables)):
                connection.execute(delete(table).where(table.c.version_id == version_id))
                if values:
                    connection.execute(insert(table), values)
            connection.execute(update(versions).where(versions.c.id == version_id).values(**counts))

    def save_chunks(self, version_id: str, spans: Sequence[ChunkSpan]) -> list[int]:
        """Add chunks to a version, and return their ids in the order of their ordinals.

        Former chunks of the version are kept, but the stored number of chunks is the number of the new chunks.
        """
        rows = [{**chunk_to_row(span), "version_id": version_id} for span in spans]
        former = select(func.coalesce(func.max(chunks.c.id), 0)).where(chunks.c.version_id == version_id)
        with self._db.begin() as connection:
            last = connection.execute(former).scalar_one()
            if rows:
                connection.execute(insert(chunks), rows)
            connection.execute(update(versions).where(versions.c.id == version_id).values(chunks=len(rows)))
            is_new = (chunks.c.version_id == version_id) & (chunks.c.id > last)
            query = select(chunks.c.id).where(is_new).order_by(chunks.c.ordinal)
            return [int(value) for value in connection.execute(query).scalars()]

    def remove_chunks(self, chunk_ids: Sequence[int]) -> None:
        """Delete chunks."""
        with self._db.begin() as connection:
            for part in split_batches(list(chunk_ids)):
                connection.execute(delete(chunks).where(chunks.c.id.in_(part)))

    def publish(
        self, version_id: str, status: DocumentStatus, reason: str, *, active: bool, reread: bool = False
    ) -> bool:
        """Mark a version as complete and, if ``active`` is true, make it the active version of its document.

        Return true, or return false and change nothing if the version cannot be made active, because

        - its document is being removed, or
        - ``reread`` is true and the document has an active version with other content.
        """
        version, former = versions.alias(), versions.alias()
        other_content = select(former.c.id).where(
            former.c.id == documents.c.active_version,
            version.c.id == version_id,
            former.c.sha256 != version.c.sha256,
        )
        with self._db.begin() as connection:
            if active and not self._activate(connection, version_id, *([~other_content.exists()] if reread else [])):
                return False
            values = {"state": "full", "status": status.value, "reason": reason}
            connection.execute(update(versions).where(versions.c.id == version_id).values(**values))
            return True

    def publish_words(self, version_id: str) -> None:
        """Make a version searchable by words while its embeddings are being computed.

        Change nothing if its document has an active version or is being removed.
        """
        with self._db.begin() as connection:
            if self._activate(connection, version_id, documents.c.active_version.is_(None)):
                connection.execute(update(versions).where(versions.c.id == version_id).values(state="words"))

    def _activate(self, connection: Connection, version_id: str, *conditions: Any) -> bool:
        """Make a version the active version of its document.

        Return false, and change nothing, if the document violates a condition or is being removed.
        """
        owner_id = select(versions.c.document_id).where(versions.c.id == version_id, _IS_NOT_BEING_REMOVED)
        query = update(documents).where(documents.c.id == owner_id.scalar_subquery(), *conditions)
        return connection.execute(query.values(active_version=version_id)).rowcount == 1

    # removal of versions and documents

    def mark_version_ended(self, version_id: str, status: DocumentStatus, reason: str) -> None:
        """Mark a version that will not be published as ended, and hide it if searches find it by its words.

        Another active version of the document stays active.
        """
        self._withdraw(version_id, state="ended", status=status.value, reason=reason, chunks=0)

    def mark_version_replaced(self, version_id: str) -> None:
        """Mark a version as replaced by another version. Delete its data before; see `clear_version`."""
        self.update_version(version_id, state="replaced", generation_id=None, chunks=0)

    def restart_version(self, version_id: str) -> None:
        """Hide a partly indexed version from searches, and mark it as queued."""
        self._withdraw(version_id, state="building", status=DocumentStatus.QUEUED.value, generation_id=None)

    def _withdraw(self, version_id: str, **values: Any) -> None:
        """Hide a version from searches and, unless it is being removed, change its row, in one transaction."""
        self._db.change(
            update(documents).where(documents.c.active_version == version_id).values(active_version=None),
            update(versions).where(versions.c.id == version_id, _IS_NOT_BEING_REMOVED).values(**values),
        )

    def begin_removal(self, document_id: str) -> None:
        """Hide a document from searches, and mark its versions for removal."""
        self._db.change(
            update(documents).where(documents.c.id == document_id).values(active_version=None),
            update(versions).where(versions.c.document_id == document_id).values(state="removing"),
        )

    def find_ended_with_chunks(self) -> list[str]:
        """Return the ids of ended versions that still have chunks."""
        chunk = select(chunks.c.id).where(chunks.c.version_id == versions.c.id)
        return self._db.fetch_values(select(versions.c.id).where(versions.c.state == "ended", chunk.exists()))

    def clear_version(self, version_id: str) -> None:
        """Delete the pages, tables, chunks, card and entities of a version, and the summaries of themes that quote it.

        The descriptions of its figures are moved to another active version or deleted; see `move_descriptions`.
        """
        with self._db.begin() as connection:
            move_descriptions(connection, version_id)
            remove_theme_texts(connection, version_id)
            for table in (chunks, pages, hidden_texts, page_tables, document_cards):
                connection.execute(delete(table).where(table.c.version_id == version_id))

    def remove_version(self, version_id: str) -> None:
        """Delete the row of a version. Call `clear_version` before."""
        self._db.change(delete(versions).where(versions.c.id == version_id))

    def remove_document(self, document_id: str) -> None:
        """Delete the row and the jobs of a document. Do nothing if the document has a version."""
        has_version = select(versions.c.id).where(versions.c.document_id == document_id).exists()
        with self._db.begin() as connection:
            statement = delete(documents).where(documents.c.id == document_id, ~has_version)
            if connection.execute(statement).rowcount:
                connection.execute(delete(jobs).where(jobs.c.document_id == document_id))
