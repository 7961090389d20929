"""Query documents, versions, pages and chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    case,
    func,
    or_,
    select,
    tuple_,
    union,
    update,
)
from sqlalchemy import Table as SqlTable

from rag_core.errors import CollectionError, UnknownDocument
from rag_core.store.database import MAX_BOUND, AnyRow, Database, group_values
from rag_core.store.file_names import MAX_NAME_CHARS, normalize_name
from rag_core.store.schema import (
    aliases,
    chunks,
    documents,
    generations,
    hidden_texts,
    jobs,
    page_tables,
    pages,
    versions,
)
from rag_core.store.serialization import page_from_row, unpack_tables
from rag_core.types.chunks import ChunkRow
from rag_core.types.documents import DocumentInfo, DocumentStatus, Page, PageKey, VersionRow, blank_spans
from rag_core.types.tables import Span, Table

# Columns with the number of all pages of a version, and the numbers of its pages by state. A page of the state `MIXED`
# is counted in ``pages_text`` and in ``pages_ocr``.
PAGE_COUNTS = ("pages", "pages_text", "pages_ocr", "pages_empty", "pages_failed")
# Database columns by field of `DocumentInfo`.
_INFO_COLUMNS = {
    "document_id": documents.c.id,
    "version_id": versions.c.id,
    "name": documents.c.name,
    "collection": documents.c.collection,
    **{
        name: versions.c[name] for name in (*PAGE_COUNTS, "reason", "size", "needs_password", "company", "year", "kind")
    },
    # 0 while the version is not active, because searches do not find its chunks.
    "chunks": case((documents.c.active_version == versions.c.id, versions.c.chunks), else_=0).label("chunks"),
}
_UNKNOWN_DOCUMENT = "That document is no longer in the library. It may have been deleted."
# The condition that the removal of a document has started.
IS_BEING_REMOVED = (
    select(versions.c.id).where(versions.c.document_id == documents.c.id, versions.c.state == "removing").exists()
)
# Pairs of document id and collection: the collections in which a document has its first name or an alias.
_COLLECTIONS = union(
    select(documents.c.id, documents.c.collection).where(~IS_BEING_REMOVED),
    select(documents.c.id, aliases.c.collection)
    .join(aliases, aliases.c.document_id == documents.c.id)
    .where(~IS_BEING_REMOVED),
).subquery()
_FIRST_NAMES = select(documents.c.id, documents.c.name)


def _is_same_page(one: SqlTable, other: SqlTable) -> ColumnElement[bool]:
    return and_(one.c.version_id == other.c.version_id, one.c.page_index == other.c.page_index)


_PAGES = (
    select(pages, hidden_texts.c.text.label("hidden"), page_tables.c.tables)
    .outerjoin(hidden_texts, _is_same_page(hidden_texts, pages))
    .outerjoin(page_tables, _is_same_page(page_tables, pages))
)


class DocumentQueries:
    """Queries of the library. A method that needs several queries runs each query in a separate transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # documents

    def documents(self, document_ids: Sequence[str] | None = None) -> list[DocumentInfo]:
        """Return the given documents, or all documents if ``document_ids`` is ``None``, newest first.

        Each document has the data of its active version, or of its latest version if no version is active. Documents
        that are not stored or are being removed are left out.
        """
        any_version = versions.alias()
        latest = (
            select(any_version.c.id)
            .where(any_version.c.document_id == documents.c.id)
            .order_by(any_version.c.added_at.desc())
            .limit(1)
            .scalar_subquery()
        )
        query = (
            select(
                *_INFO_COLUMNS.values(),
                documents.c.tags,
                versions.c.status,
                documents.c.added_at,
                versions.c.generation_id,
            )
            .select_from(documents)
            .join(versions, versions.c.id == func.coalesce(documents.c.active_version, latest))
            .where(versions.c.state != "removing")
            .order_by(documents.c.added_at.desc(), documents.c.name)
        )
        alias_query = select(aliases.c.document_id, aliases.c.name).order_by(aliases.c.added_at)
        if document_ids is not None:
            query = query.where(documents.c.id.in_(document_ids))
            alias_query = alias_query.where(aliases.c.document_id.in_(document_ids))
        # The generations are not joined, because their JSON would be parsed again for each document.
        generation_rows = self._db.fetch(select(generations.c.id, generations.c.fingerprint))
        embedders = {row.id: str(row.fingerprint.get("embedder", "")) for row in generation_rows}
        other_names = group_values(self._db.fetch(alias_query))
        return [_document_from_row(row, embedders, other_names) for row in self._db.fetch(query)]

    def document(self, document_id: str) -> DocumentInfo:
        """Return a document; raise `UnknownDocument` if it is not stored or is being removed."""
        rows = self.documents([document_id])
        if not rows:
            raise UnknownDocument(_UNKNOWN_DOCUMENT)
        return rows[0]

    def outdated_ids(self, parser_versions: Collection[str]) -> list[str]:
        """Return the ids of the searchable documents that were read by a parser version not in ``parser_versions``."""
        query = select(documents.c.id).join(versions, versions.c.id == documents.c.active_version)
        return self._db.fetch_values(query.where(versions.c.extractor.not_in(parser_versions)))

    def name(self, document_id: str) -> str:
        """Return the name of a document, even during its removal; raise `UnknownDocument` if it is not stored."""
        row = self._db.fetch_first(select(documents.c.name).where(documents.c.id == document_id))
        if row is None:
            raise UnknownDocument(_UNKNOWN_DOCUMENT)
        return str(row.name)

    def removals_in_progress(self) -> dict[str, str]:
        """Return the names of the documents whose removal has started but is not finished, by document id."""
        has_version = select(versions.c.id).where(versions.c.document_id == documents.c.id).exists()
        query = _FIRST_NAMES.where(or_(IS_BEING_REMOVED, ~has_version))
        return {row.id: row.name for row in self._db.fetch(query)}

    def find_ids(self, names: Iterable[str]) -> list[str]:
        """Return the ids of the documents with the given names or ids, in the given order.

        If several documents have a name, as their first name or as an alias, the ids of all are returned.

        Raises
        ------
        UnknownDocument
            At least one of ``names`` is neither the name nor the id of a document.
        """
        wanted = list(dict.fromkeys(map(normalize_name, names)))
        by_key: dict[str, dict[str, None]] = {}
        for document_id, name in [
            *self._db.fetch_batches(_FIRST_NAMES, documents.c.id, wanted),
            *self._db.fetch_batches(_FIRST_NAMES, documents.c.name, wanted),
            *self._db.fetch_batches(select(aliases.c.document_id, aliases.c.name), aliases.c.name, wanted),
        ]:
            for key in (document_id, name):
                by_key.setdefault(key, {})[document_id] = None
        missing = [name for name in wanted if name not in by_key]
        if missing:
            raise UnknownDocument(
                f"No document is named {', '.join(repr(name[:120]) for name in missing[:5])}. "
                "The list of documents shows the names."
            )
        return list(dict.fromkeys(document_id for name in wanted for document_id in by_key[name]))

    def ids_in_collections(self, names: Sequence[str]) -> list[str]:
        """Return the ids of the documents in collections; raise `CollectionError` if a collection has no document.

        The id of a document with names in several of the collections is repeated.
        """
        rows = self._db.fetch(_COLLECTIONS.select().where(_COLLECTIONS.c.collection.in_(names)))
        existing = {row.collection for row in rows}
        for name in names:
            if name not in existing:
                raise CollectionError(
                    f"No document is in a collection named {name[:MAX_NAME_CHARS]!r}. "
                    "The list of documents shows the collections."
                )
        return [row.id for row in rows]

    def collections(self) -> dict[str, int]:
        """Return the number of documents in each collection; a document counts in each collection of its names."""
        has_version = select(versions.c.id).where(versions.c.document_id == _COLLECTIONS.c.id).exists()
        query = (
            select(_COLLECTIONS.c.collection, func.count().label("documents"))
            .where(has_version)
            .group_by(_COLLECTIONS.c.collection)
        )
        return {row.collection: row.documents for row in self._db.fetch(query)}

    def counts(self) -> dict[str, int]:
        """Return the number of ``documents``, of ``searchable`` documents, and of their ``pages`` and ``chunks``."""
        active = select(
            func.count(),
            func.coalesce(func.sum(versions.c.pages), 0),
            func.coalesce(func.sum(versions.c.chunks), 0),
        ).join(documents, documents.c.active_version == versions.c.id)
        ((searchable, page_count, chunk_count),) = self._db.fetch(active)
        (listed,) = self._db.fetch_values(select(func.count()).select_from(documents))
        return {"documents": listed, "searchable": searchable, "pages": page_count, "chunks": chunk_count}

    # versions

    def version(self, version_id: str) -> VersionRow | None:
        """Return a version; ``None`` if it is not stored."""
        return next(iter(self.find_versions(versions.c.id == version_id)), None)

    def find_versions(self, *conditions: ColumnElement[bool]) -> list[VersionRow]:
        """Return the versions that meet the conditions, oldest first."""
        of_document = VersionRow._fields.index("name")
        query = (
            select(
                *(versions.c[name] for name in VersionRow._fields[:of_document]),
                *(documents.c[name] for name in VersionRow._fields[of_document:]),
            )
            .join(documents, documents.c.id == versions.c.document_id)
            .where(*conditions)
            .order_by(versions.c.added_at)
        )
        return [VersionRow._make(row) for row in self._db.fetch(query)]

    def visible_versions(self, document_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the states of the versions that searches find now, by version id.

        With ``document_ids``, return only versions of these documents.
        """
        query = select(versions.c.id, versions.c.state).join(documents, documents.c.active_version == versions.c.id)
        return {row.id: row.state for row in self._db.fetch_batches(query, documents.c.id, document_ids)}

    def find_complete_versions(self, version_ids: Sequence[str]) -> set[str]:
        """Return the ids of the given versions that are completely indexed."""
        query = select(versions.c.id).where(versions.c.state == "full")
        return {row.id for row in self._db.fetch_batches(query, versions.c.id, version_ids)}

    def searchable_digests(self) -> frozenset[str]:
        """Return the SHA-256 digests of the files of all searchable documents."""
        query = select(versions.c.sha256).join(documents, documents.c.active_version == versions.c.id)
        return frozenset(self._db.fetch_values(query))

    def count_unfinished(self, document_ids: Sequence[str] | None = None) -> tuple[int, int]:
        """Return how many documents are searchable only by words so far, and how many are not searchable yet.

        With ``document_ids``, count only these documents.
        """
        by_words = (documents.c.active_version == versions.c.id) & (versions.c.state == "words")
        not_searchable = documents.c.active_version.is_(None) & (versions.c.state == "building")
        query = (
            select(versions.c.state, func.count(documents.c.id.distinct()))
            .join(documents, documents.c.id == versions.c.document_id)
            .where(or_(by_words, not_searchable))
            .group_by(versions.c.state)
        )
        by_state: Counter[str] = Counter()
        for state, number in self._db.fetch_batches(query, documents.c.id, document_ids):
            by_state[state] += number
        return by_state["words"], by_state["building"]

    def list_partly_read(self, document_ids: Sequence[str] | None = None) -> list[tuple[str, int, int]]:
        """Return the documents that are still being read, and of which only the first pages are searchable.

        Each document is returned as its name, the number of searchable pages, and the number of all pages. With
        ``document_ids``, return only these documents.
        """
        # The last page with chunks. A page is divided into chunks when the next page is read.
        last = select(func.max(chunks.c.page_index)).where(chunks.c.version_id == versions.c.id).scalar_subquery()
        query = (
            select(documents.c.name, (last + 1).label("pages"), jobs.c.total)
            .join(versions, documents.c.active_version == versions.c.id)
            .join(jobs, jobs.c.version_id == versions.c.id)
            .where(versions.c.state == "words", jobs.c.state == "running", jobs.c.stage == "reading")
            .order_by(documents.c.added_at)
        )
        rows = self._db.fetch_batches(query, documents.c.id, document_ids)
        return [(row.name, row.pages, row.total) for row in rows if row.pages < row.total]

    def find_inactive_versions(self) -> dict[str, int]:
        """Return the generation ids of the versions that are not active but may have chunks in indexes, by version id.

        Searches of the present documents must not find these versions.
        """
        # A quick check: usually, all versions with data are active.
        has_data = versions.c.state.not_in(("ended", "replaced"))
        stored = select(func.count()).select_from(versions).where(has_data).scalar_subquery()
        active = select(func.count(documents.c.active_version)).scalar_subquery()
        if not self._db.fetch_values(select(stored > active))[0]:
            return {}
        is_active = select(documents.c.id).where(documents.c.active_version == versions.c.id).exists()
        # Queued versions have no generation yet, and no index contains chunks of them.
        hidden = select(versions.c.id, versions.c.generation_id).where(
            has_data, versions.c.generation_id.is_not(None), ~is_active
        )
        return {row.id: row.generation_id for row in self._db.fetch(hidden)}

    # pages and chunks

    def pages(self, version_id: str, *, with_layout: bool = False) -> list[Page]:
        """Return the pages of a version in order, with their word boxes and tables only if ``with_layout`` is true."""
        query = _PAGES.where(pages.c.version_id == version_id).order_by(pages.c.page_index)
        return [page_from_row(row, with_layout=with_layout) for row in self._db.fetch(query)]

    def page(self, version_id: str, page_index: int) -> Page | None:
        """Return a page with its word boxes and tables; ``None`` if it is not stored."""
        query = _PAGES.where(pages.c.version_id == version_id, pages.c.page_index == page_index)
        row = self._db.fetch_first(query)
        return page_from_row(row) if row else None

    def pages_at(self, keys: Collection[PageKey]) -> dict[PageKey, Page]:
        """Return pages, without word boxes and tables, by version id and page index. Missing pages are left out."""
        rows = self._fetch_pages(_PAGES, pages, keys)
        return {(row.version_id, row.page_index): page_from_row(row, with_layout=False) for row in rows}

    def tables(self, keys: Collection[PageKey]) -> dict[PageKey, tuple[Table, ...]]:
        """Return the tables of pages by version id and page index. Pages without tables are left out."""
        rows = self._fetch_pages(select(page_tables), page_tables, keys)
        return {(row.version_id, row.page_index): unpack_tables(row.tables) for row in rows}

    def page_texts(self, keys: Collection[PageKey]) -> dict[PageKey, tuple[str, tuple[Span, ...]]]:
        """Return the texts of pages, and the spans of their headers and footers, by version id and page index."""
        query = select(pages.c.version_id, pages.c.page_index, pages.c.text, pages.c.skip)
        return {
            (row.version_id, row.page_index): (row.text, tuple((start, end) for start, end in row.skip))
            for row in self._fetch_pages(query, pages, keys)
        }

    def page_contents(self, keys: Sequence[PageKey]) -> dict[PageKey, tuple[str, tuple[Table, ...]]]:
        """Return the text and the tables of stored pages by version id and page index.

        In the text, headers and footers are replaced by blanks, except those that overlap a table.
        """
        columns = pages.c.version_id, pages.c.page_index, pages.c.text, pages.c.skip, page_tables.c.tables
        joined = pages.outerjoin(page_tables, _is_same_page(page_tables, pages))
        rows = self._fetch_pages(select(*columns).select_from(joined), pages, keys)
        contents = {}
        for row in rows:
            tables = unpack_tables(row.tables) if row.tables else ()
            outside = [
                (start, end)
                for start, end in row.skip
                if not any(one.start < end and start < one.end for one in tables)
            ]
            contents[row.version_id, row.page_index] = blank_spans(row.text, outside), tables
        return contents

    def _fetch_pages(self, query: Select[Any], table: SqlTable, keys: Collection[PageKey]) -> list[AnyRow]:
        key = tuple_(table.c.version_id, table.c.page_index)
        # A key consists of two bound values.
        return self._db.fetch_batches(query, key, keys, MAX_BOUND // 2)

    def texts_of_version(self, version_id: str) -> dict[int, str]:
        """Return the texts of all pages of a version by page index."""
        query = select(pages.c.page_index, pages.c.text).where(pages.c.version_id == version_id)
        return {row.page_index: row.text for row in self._db.fetch(query)}

    def chunk_rows(self, version_id: str, page_index: int | None = None) -> list[ChunkRow]:
        """Return the chunks of a version in order. With ``page_index``, return only chunks with text of this page."""
        query = select_chunk_rows(ALL_CHUNKS).where(chunks.c.version_id == version_id).order_by(chunks.c.ordinal)
        if page_index is not None:
            query = query.where(chunks.c.page_index <= page_index, chunks.c.page_index_end >= page_index)
        return [ChunkRow._make(row) for row in self._db.fetch(query)]

    def adjacent_chunks(self, version_id: str, ordinal: int) -> tuple[ChunkRow | None, ChunkRow | None]:
        """Return the chunks before and after the chunk ``ordinal``; ``None`` for a chunk that does not exist."""
        is_neighbour = chunks.c.ordinal.in_([ordinal - 1, ordinal + 1])
        query = select_chunk_rows(ALL_CHUNKS).where(chunks.c.version_id == version_id, is_neighbour)
        by_ordinal = {row.ordinal: row for row in map(ChunkRow._make, self._db.fetch(query))}
        return by_ordinal.get(ordinal - 1), by_ordinal.get(ordinal + 1)

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the given chunks that searches find now, by chunk id."""
        query = select_chunk_rows(chunks.join(documents, documents.c.active_version == chunks.c.version_id))
        rows = self._db.fetch_batches(query, chunks.c.id, chunk_ids)
        return {row.id: row for row in map(ChunkRow._make, rows)}

    def chunk_ranges(self, version_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the lowest and the highest chunk id of each version, by version id.

        Chunks of other versions can have ids between the two. Versions without chunks are left out.
        """
        query = select(chunks.c.version_id, func.min(chunks.c.id), func.max(chunks.c.id)).group_by(chunks.c.version_id)
        rows = self._db.fetch_batches(query, chunks.c.version_id, version_ids)
        return {version_id: (first, last) for version_id, first, last in rows}

    def chunk_ids(self, version_ids: Sequence[str]) -> list[int]:
        """Return the ids of the chunks of versions."""
        return [row.id for row in self._db.fetch_batches(select(chunks.c.id), chunks.c.version_id, version_ids)]

    def count_chunks(self) -> int:
        """Return the number of stored chunks of all versions."""
        return int(self._db.fetch_values(select(func.count(chunks.c.id)))[0])

    def all_chunk_ids(self) -> list[int]:
        """Return the ids of all stored chunks."""
        return self._db.fetch_values(select(chunks.c.id))


# The chunks of all versions, joined with their version and document.
ALL_CHUNKS = chunks.join(versions, versions.c.id == chunks.c.version_id).join(
    documents, documents.c.id == versions.c.document_id
)


def select_chunk_rows(chunks_with_documents: FromClause) -> Select[Any]:
    """Return a query whose rows have the fields of `ChunkRow`, in the same order.

    ``chunks_with_documents`` is a join that contains at least the tables `chunks` and `documents`.
    """
    chunk_columns = [chunks.c[name] for name in ChunkRow._fields[: ChunkRow._fields.index("document_id")]]
    with_pages = chunks_with_documents.join(pages, _is_same_page(pages, chunks))
    return select(
        *chunk_columns, documents.c.id, documents.c.name, pages.c.page_label, hidden_texts.c.text
    ).select_from(with_pages.outerjoin(hidden_texts, _is_same_page(hidden_texts, chunks)))


def lock_active(connection: Connection, version_id: str) -> bool:
    """Return whether a version is active; if so, keep it active until the transaction ends.

    A query would not lock the row: the document could be removed between the query and the next statement.
    """
    unchanged = update(documents).where(documents.c.active_version == version_id).values(active_version=version_id)
    return connection.execute(unchanged).rowcount > 0


def _document_from_row(
    row: Any, embedders: Mapping[int, str], other_names: Mapping[str, Sequence[str]]
) -> DocumentInfo:
    *values, tags, status, added_at, generation_id = row
    return DocumentInfo(
        **dict(zip(_INFO_COLUMNS, values, strict=True)),
        status=DocumentStatus(status),
        added_at=added_at,
        embedder=embedders.get(generation_id, ""),
        aliases=tuple(other_names.get(values[0], ())),
        tags=tuple(tags),
    )
