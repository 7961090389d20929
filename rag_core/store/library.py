"""Documents, versions, pages, chunks and generations: what is written, published and removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from rag_core.errors import UnknownDocument
from rag_core.store.codec import page_from_row, page_to_row, span_to_row
from rag_core.store.database import Database, as_utc, batches, new_id, now
from rag_core.store.schema import chunks, documents, generations, hidden_texts, jobs, pages, versions
from rag_core.types import ChunkSpan, DocumentInfo, DocumentStatus, Fingerprint, Page, PageState

SEARCHABLE = ("words", "full")
# What a document's row gives as it is stored, by field of `DocumentInfo`.
_LISTED = {
    "document_id": documents.c.id,
    "version_id": versions.c.id,
    "name": documents.c.name,
    "collection": documents.c.collection,
    **{
        name: versions.c[name]
        for name in (
            *("reason", "pages", "pages_text", "pages_ocr", "pages_empty", "pages_failed"),
            *("chunks", "size", "needs_password"),
        )
    },
}
_PAGES = select(pages, hidden_texts.c.text.label("hidden")).outerjoin(
    hidden_texts,
    and_(hidden_texts.c.version_id == pages.c.version_id, hidden_texts.c.page_index == pages.c.page_index),
)


class Library:
    """Reads and writes of everything about documents. One method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # generations

    def generations(self, state: str) -> list[tuple[int, Fingerprint]]:
        """Generations in a state (``building``, ``active`` or ``retired``), oldest first."""
        query = select(generations.c.id, generations.c.fingerprint).where(generations.c.state == state)
        with self._db.read() as connection:
            rows = connection.execute(query.order_by(generations.c.id)).all()
        return [(row.id, Fingerprint(**row.fingerprint)) for row in rows]

    def add_generation(self, fingerprint: Fingerprint, state: str) -> int:
        values = {"fingerprint": asdict(fingerprint), "state": state, "created_at": now()}
        with self._db.begin() as connection:
            connection.execute(insert(generations).values(values))
            return int(connection.execute(select(func.max(generations.c.id))).scalar_one())

    def swap_generation(self, generation_id: int) -> None:
        """Make a generation the active one, with every document that has a finished version in it.

        One transaction: a question sees all of the old index or all of the new.
        """
        built = select(versions.c.id).where(
            versions.c.document_id == documents.c.id,
            versions.c.generation_id == generation_id,
            versions.c.state == "full",
        )
        with self._db.begin() as connection:
            connection.execute(update(generations).where(generations.c.state == "active").values(state="retired"))
            connection.execute(update(generations).where(generations.c.id == generation_id).values(state="active"))
            connection.execute(
                update(documents).where(built.exists()).values(active_version=built.limit(1).scalar_subquery())
            )
            # What could not be built anew stays listed, with its file and its reason, to be retried.
            held = select(versions.c.id).where(versions.c.generation_id == generation_id)
            connection.execute(
                update(documents)
                .where(documents.c.active_version.is_not(None), documents.c.active_version.not_in(held))
                .values(active_version=None)
            )

    def drop_generation(self, generation_id: int) -> None:
        """Forget a generation that no version belongs to any more."""
        with self._db.begin() as connection:
            connection.execute(delete(generations).where(generations.c.id == generation_id))

    # documents and versions

    def find_content(self, sha256: str, *, waiting: bool = False) -> tuple[str, str] | None:
        """``(document_id, name)`` of a document that holds this content or is about to.

        A document whose content is about to be replaced no longer counts; with ``waiting`` only one
        that is still to be indexed does.
        """
        later = versions.alias()
        replaced = select(later.c.id).where(
            later.c.document_id == versions.c.document_id,
            later.c.state == "building",
            later.c.added_at > versions.c.added_at,
            later.c.sha256 != sha256,
        )
        held = [versions.c.state == "building", *([] if waiting else [documents.c.active_version == versions.c.id])]
        query = (
            select(documents.c.id, documents.c.name)
            .join(versions, versions.c.document_id == documents.c.id)
            .where(versions.c.sha256 == sha256, or_(*held), ~replaced.exists())
        )
        with self._db.read() as connection:
            row = connection.execute(query).first()
        return (row.id, row.name) if row else None

    def find_name(self, name: str, collection: str) -> str | None:
        """The document of that name in the collection, if there is one."""
        going = select(versions.c.id).where(versions.c.document_id == documents.c.id, versions.c.state == "removing")
        query = select(documents.c.id).where(
            documents.c.name == name, documents.c.collection == collection, ~going.exists()
        )
        with self._db.read() as connection:
            return connection.execute(query).scalar()

    def add_version(
        self,
        name: str,
        collection: str,
        sha256: str,
        size: int,
        *,
        document_id: str | None = None,
        generation_id: int | None = None,
    ) -> tuple[str, str]:
        """Begin a version, of a new document when ``document_id`` is ``None``; returns both ids."""
        version_id, moment = new_id(), now()
        with self._db.begin() as connection:
            if document_id is None:
                document_id = new_id()
                connection.execute(
                    insert(documents).values(
                        id=document_id, name=name, collection=collection, added_at=moment, active_version=None
                    )
                )
            values = {"id": version_id, "document_id": document_id, "generation_id": generation_id, "sha256": sha256}
            connection.execute(
                insert(versions).values(
                    **values, size=size, state="building", status=DocumentStatus.QUEUED.value, added_at=moment
                )
            )
        return document_id, version_id

    def version(self, version_id: str) -> Any:
        """The version's row joined with its document's, or ``None``."""
        query = (
            select(versions, documents.c.name, documents.c.collection, documents.c.active_version)
            .join(documents, documents.c.id == versions.c.document_id)
            .where(versions.c.id == version_id)
        )
        with self._db.read() as connection:
            return connection.execute(query).first()

    def versions_where(self, *conditions: Any) -> list[Any]:
        """Version rows, joined with their document's name and active version, oldest first."""
        query = (
            select(versions, documents.c.name, documents.c.collection, documents.c.active_version)
            .join(documents, documents.c.id == versions.c.document_id)
            .where(*conditions)
            .order_by(versions.c.added_at)
        )
        with self._db.read() as connection:
            return list(connection.execute(query).all())

    def update_version(self, version_id: str, **values: Any) -> None:
        with self._db.begin() as connection:
            connection.execute(update(versions).where(versions.c.id == version_id).values(**values))

    def save_pages(self, version_id: str, extracted: Sequence[Page]) -> None:
        """Store pages and count their states in the version."""
        rows = [{"version_id": version_id, **page_to_row(page)} for page in extracted]
        hidden = [
            {"version_id": version_id, "page_index": page.page_index, "text": page.hidden}
            for page in extracted
            if page.hidden
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
            for table, values in ((pages, rows), (hidden_texts, hidden)):
                connection.execute(delete(table).where(table.c.version_id == version_id))
                if values:
                    connection.execute(insert(table), values)
            connection.execute(update(versions).where(versions.c.id == version_id).values(**counts))

    def save_chunks(self, version_id: str, spans: Sequence[ChunkSpan]) -> list[int]:
        """Store a version's chunks in place of any it had; returns their ids in the given order."""
        rows = [{**span_to_row(span), "version_id": version_id} for span in spans]
        with self._db.begin() as connection:
            connection.execute(delete(chunks).where(chunks.c.version_id == version_id))
            if rows:
                connection.execute(insert(chunks), rows)
            connection.execute(update(versions).where(versions.c.id == version_id).values(chunks=len(rows)))
            query = select(chunks.c.id).where(chunks.c.version_id == version_id).order_by(chunks.c.ordinal)
            return [int(value) for value in connection.execute(query).scalars()]

    def publish(self, version_id: str, status: DocumentStatus, reason: str, *, active: bool) -> None:
        """Declare a version complete in every store and, if ``active``, make it the one searched."""
        with self._db.begin() as connection:
            done = update(versions).where(versions.c.id == version_id)
            connection.execute(done.values(state="full", status=status.value, reason=reason))
            if active:
                self._activate(connection, version_id)

    def publish_words(self, version_id: str) -> bool:
        """Let a new document be found by its words while its vectors are being made.

        Returns false, and changes nothing, where an earlier version is still being searched.
        """
        with self._db.begin() as connection:
            query = select(documents.c.active_version).join(versions, versions.c.document_id == documents.c.id)
            if connection.execute(query.where(versions.c.id == version_id)).scalar() is not None:
                return False
            connection.execute(update(versions).where(versions.c.id == version_id).values(state="words"))
            self._activate(connection, version_id)
            return True

    def _activate(self, connection: Connection, version_id: str) -> None:
        owner = select(versions.c.document_id).where(versions.c.id == version_id).scalar_subquery()
        connection.execute(update(documents).where(documents.c.id == owner).values(active_version=version_id))

    def end_version(self, version_id: str, status: DocumentStatus, reason: str) -> None:
        """Close a version that yields nothing; an earlier one stays searchable."""
        self._withdraw(version_id, state="ended", status=status.value, reason=reason, chunks=0)

    def restart_version(self, version_id: str) -> None:
        """Take a half-indexed version out of every search and let it begin again."""
        self._withdraw(version_id, state="building", status=DocumentStatus.QUEUED.value)

    def _withdraw(self, version_id: str, **values: Any) -> None:
        """Take a version out of every search and change its row, in one transaction."""
        with self._db.begin() as connection:
            connection.execute(
                update(documents).where(documents.c.active_version == version_id).values(active_version=None)
            )
            connection.execute(update(versions).where(versions.c.id == version_id).values(**values))

    def hide(self, document_id: str) -> None:
        """Take a document out of every search, in one update."""
        with self._db.begin() as connection:
            connection.execute(update(documents).where(documents.c.id == document_id).values(active_version=None))
            connection.execute(update(versions).where(versions.c.document_id == document_id).values(state="removing"))

    def ended_with_chunks(self) -> list[str]:
        """Versions that yield nothing but still have chunks."""
        held = select(chunks.c.id).where(chunks.c.version_id == versions.c.id)
        with self._db.read() as connection:
            query = select(versions.c.id).where(versions.c.state == "ended", held.exists())
            return list(connection.execute(query).scalars())

    def clear_version(self, version_id: str) -> None:
        """Delete a version's pages and chunks."""
        with self._db.begin() as connection:
            for table in (chunks, pages, hidden_texts):
                connection.execute(delete(table).where(table.c.version_id == version_id))

    def remove_version(self, version_id: str) -> None:
        """Delete a version that has been cleared."""
        with self._db.begin() as connection:
            connection.execute(delete(versions).where(versions.c.id == version_id))

    def remove_document(self, document_id: str) -> None:
        """Delete a document's row and its jobs', once its versions are gone."""
        with self._db.begin() as connection:
            connection.execute(delete(jobs).where(jobs.c.document_id == document_id))
            connection.execute(delete(documents).where(documents.c.id == document_id))

    def without_versions(self) -> list[str]:
        """Documents whose removal was cut off before its last step."""
        held = select(versions.c.id).where(versions.c.document_id == documents.c.id)
        with self._db.read() as connection:
            return list(connection.execute(select(documents.c.id).where(~held.exists())).scalars())

    def documents(self, document_ids: Sequence[str] | None = None) -> list[DocumentInfo]:
        """The library, newest first: each document with its active, else its latest, version."""
        any_version = versions.alias()
        latest = (
            select(any_version.c.id)
            .where(any_version.c.document_id == documents.c.id)
            .order_by(any_version.c.added_at.desc())
            .limit(1)
            .scalar_subquery()
        )
        query = (
            select(*_LISTED.values(), versions.c.status, documents.c.added_at, versions.c.generation_id)
            .select_from(documents)
            .join(versions, versions.c.id == func.coalesce(documents.c.active_version, latest))
            .where(versions.c.state != "removing")
            .order_by(documents.c.added_at.desc(), documents.c.name)
        )
        if document_ids is not None:
            query = query.where(documents.c.id.in_(document_ids))
        with self._db.read() as connection:
            # Not joined: a fingerprint would be parsed again for each of many documents.
            built = connection.execute(select(generations.c.id, generations.c.fingerprint)).all()
            embedders = {row.id: str(row.fingerprint.get("embedder", "")) for row in built}
            return [_document(row, embedders) for row in connection.execute(query)]

    def document(self, document_id: str) -> DocumentInfo:
        """One document; raises `UnknownDocument`."""
        found = self.documents([document_id])
        if not found:
            raise UnknownDocument("That document is no longer in the library. It may have been deleted.")
        return found[0]

    def resolve(self, names: Iterable[str]) -> list[str]:
        """Document ids for names or ids, in the given order; raises `UnknownDocument`."""
        wanted = list(dict.fromkeys(names))
        query = select(documents.c.id, documents.c.name)
        by_key: dict[str, list[str]] = {}
        with self._db.read() as connection:
            for run in batches(wanted, 400):
                rows = connection.execute(query.where(or_(documents.c.id.in_(run), documents.c.name.in_(run))))
                for row in rows:
                    for key in {row.id, row.name}:
                        by_key.setdefault(key, []).append(row.id)
        missing = [name for name in wanted if name not in by_key]
        if missing:
            raise UnknownDocument(
                f"No document is named {', '.join(repr(name[:120]) for name in missing[:5])}. "
                "The list of documents shows the names."
            )
        return list(dict.fromkeys(one for name in wanted for one in by_key[name]))

    # pages and chunks

    def pages(self, version_id: str, *, with_boxes: bool = False) -> list[Page]:
        """A version's pages in order."""
        query = _PAGES.where(pages.c.version_id == version_id).order_by(pages.c.page_index)
        with self._db.read() as connection:
            return [page_from_row(row, with_boxes=with_boxes) for row in connection.execute(query)]

    def page(self, version_id: str, page_index: int) -> Page | None:
        """One page with its word boxes, or ``None``."""
        query = _PAGES.where(pages.c.version_id == version_id, pages.c.page_index == page_index)
        with self._db.read() as connection:
            row = connection.execute(query).first()
        return page_from_row(row) if row else None

    def chunk_rows(self, version_id: str, page_index: int | None = None) -> list[Any]:
        """A version's chunk rows in order; only those that touch a page, if one is given."""
        query = select(chunks).where(chunks.c.version_id == version_id).order_by(chunks.c.ordinal)
        if page_index is not None:
            query = query.where(and_(chunks.c.page_index <= page_index, chunks.c.page_index_end >= page_index))
        with self._db.read() as connection:
            return list(connection.execute(query).all())

    def chunks_beside(self, version_id: str, ordinal: int) -> tuple[Any | None, Any | None]:
        """The rows of the chunks before and after one of a version, ``None`` at its ends."""
        beside = chunks.c.ordinal.in_([ordinal - 1, ordinal + 1])
        with self._db.read() as connection:
            rows = connection.execute(select(chunks).where(chunks.c.version_id == version_id, beside)).all()
        found = {row.ordinal: row for row in rows}
        return found.get(ordinal - 1), found.get(ordinal + 1)

    def visible_versions(self, document_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Versions that a search may see now, as ``version_id: state``."""
        query = (
            select(versions.c.id, versions.c.state)
            .select_from(versions)
            .join(documents, documents.c.active_version == versions.c.id)
        )
        if document_ids is not None:
            query = query.where(documents.c.id.in_(document_ids))
        with self._db.read() as connection:
            return {row.id: row.state for row in connection.execute(query)}

    def found_by_words_only(self, document_ids: Sequence[str] | None = None) -> int:
        """How many searchable documents have no vectors yet."""
        query = (
            select(func.count())
            .select_from(versions)
            .join(documents, documents.c.active_version == versions.c.id)
            .where(versions.c.state == "words")
        )
        if document_ids is not None:
            query = query.where(documents.c.id.in_(document_ids))
        with self._db.read() as connection:
            return int(connection.execute(query).scalar_one())

    def hidden_versions(self) -> bool:
        """Whether the stores hold anything that a search may not see now."""
        query = (
            select(versions.c.id)
            .join(documents, documents.c.id == versions.c.document_id)
            .where(versions.c.state != "ended")
            .where(or_(documents.c.active_version.is_(None), documents.c.active_version != versions.c.id))
        )
        with self._db.read() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, Any]:
        """Rows of the chunks among these that a search may see now, with document and page label."""
        query = (
            select(
                chunks,
                documents.c.id.label("document_id"),
                documents.c.name.label("document"),
                pages.c.page_label,
                versions.c.state.label("version_state"),
                hidden_texts.c.text.label("hidden"),
            )
            .join(documents, documents.c.active_version == chunks.c.version_id)
            .join(versions, versions.c.id == chunks.c.version_id)
            .join(
                pages,
                and_(pages.c.version_id == chunks.c.version_id, pages.c.page_index == chunks.c.page_index),
            )
            .outerjoin(
                hidden_texts,
                and_(
                    hidden_texts.c.version_id == chunks.c.version_id,
                    hidden_texts.c.page_index == chunks.c.page_index,
                ),
            )
        )
        found: dict[int, Any] = {}
        with self._db.read() as connection:
            for run in batches(list(chunk_ids)):
                found |= {row.id: row for row in connection.execute(query.where(chunks.c.id.in_(run)))}
        return found

    def chunk_ids(self, version_ids: Sequence[str]) -> list[int]:
        """Ids of the chunks of these versions."""
        found: list[int] = []
        with self._db.read() as connection:
            for run in batches(list(version_ids)):
                query = select(chunks.c.id).where(chunks.c.version_id.in_(run))
                found += connection.execute(query).scalars()
        return found

    def chunk_ids_all(self) -> list[int]:
        """Ids of every chunk that is stored."""
        with self._db.read() as connection:
            return list(connection.execute(select(chunks.c.id)).scalars())

    def counts(self) -> dict[str, int]:
        """Searchable documents, and the pages and chunks of their active versions."""
        active = select(
            func.count(),
            func.coalesce(func.sum(versions.c.pages), 0),
            func.coalesce(func.sum(versions.c.chunks), 0),
        ).join(documents, documents.c.active_version == versions.c.id)
        with self._db.read() as connection:
            searchable, page_count, chunk_count = connection.execute(active).one()
            listed = connection.execute(select(func.count()).select_from(documents)).scalar_one()
        return {"documents": listed, "searchable": searchable, "pages": page_count, "chunks": chunk_count}


def _document(row: Any, embedders: Mapping[int, str]) -> DocumentInfo:
    *values, status, added_at, generation_id = row
    return DocumentInfo(
        **dict(zip(_LISTED, values, strict=True)),
        status=DocumentStatus(status),
        added_at=as_utc(added_at),
        embedder=embedders.get(generation_id, ""),
    )
