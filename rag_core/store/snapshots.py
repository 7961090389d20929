"""Store snapshots, and query the library as of a snapshot.

Content in a snapshot stays indexed, even if its document has other content now. The version with this content is then
in the state ``full`` but not active, so that searches of the present documents do not find it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, case, delete, func, insert, or_, select

from rag_core.errors import SnapshotError
from rag_core.store.database import Database, create_id, group_values, now, split_batches
from rag_core.store.document_queries import ALL_CHUNKS, PAGE_COUNTS, DocumentQueries, select_chunk_rows
from rag_core.store.schema import chunks, documents, generations, snapshot_contents, snapshots, versions
from rag_core.types.chunks import ChunkRow
from rag_core.types.documents import DocumentInfo, VersionRow
from rag_core.types.local_time import compute_end_of_day, to_local_time
from rag_core.types.snapshots import AsOf, Snapshot

_IS_SAME_CONTENT = (versions.c.document_id == snapshot_contents.c.document_id) & (
    versions.c.sha256 == snapshot_contents.c.sha256
)
# The condition that the content of a version is in a snapshot.
IS_IN_SNAPSHOT = select(snapshot_contents.c.snapshot_id).where(_IS_SAME_CONTENT).exists()
_ACTIVE_GENERATION = select(func.max(generations.c.id)).where(generations.c.state == "active").scalar_subquery()
# The condition that searches can find a version, in the present or as of a snapshot.
_IS_SEARCHABLE = versions.c.state.in_(("full", "words")) & (versions.c.generation_id == _ACTIVE_GENERATION)


class Content(NamedTuple):
    """The content of a document, identified by the SHA-256 of its file."""

    document_id: str
    sha256: str


class SnapshotStore:
    """The snapshots of the library. Each method makes its changes in one transaction.

    Parameters
    ----------
    database : Database
    library : DocumentQueries
    """

    def __init__(self, database: Database, library: DocumentQueries) -> None:
        self._db = database
        self._library = library

    def add(self, name: str, collection: str, as_of: datetime | None = None) -> Snapshot:
        """Create a snapshot of the documents of a collection, or of the whole library if ``collection`` is empty.

        Parameters
        ----------
        name, collection : str
        as_of : datetime, optional
            A past time. Of each document, the snapshot contains the newest version that was added at or before this
            time and whose file is still stored. By default, the snapshot contains the active versions.

        Raises
        ------
        SnapshotError
            The name is taken, or the snapshot would contain no document.
        """
        moment = now()
        snapshot_id = create_id()
        with self._db.begin() as connection:
            contents = _select_contents(connection, collection, as_of)
            if not contents:
                where = f" in the collection {collection!r}" if collection else ""
                if not as_of:
                    raise SnapshotError(f"There is no searchable document{where}, so no snapshot was created.")
                day = f"{to_local_time(as_of):%d %B %Y}"
                raise SnapshotError(
                    f"There is no document{where} that was added on or before {day} and is still searchable, so no "
                    "snapshot was created."
                )
            values = {"id": snapshot_id, "name": name, "collection": collection}
            if connection.execute(select(snapshots.c.id).where(snapshots.c.name == name)).first():
                raise SnapshotError(f"A snapshot named {name!r} exists already. Choose another name.")
            connection.execute(insert(snapshots).values(**values, as_of=as_of or moment, created_at=moment))
            rows = [{"snapshot_id": snapshot_id, **one._asdict()} for one in contents]
            connection.execute(insert(snapshot_contents), rows)
        return next(one for one in self.all() if one.snapshot_id == snapshot_id)

    def all(self) -> list[Snapshot]:
        """Return all snapshots, latest ``as_of`` first."""
        counts = {snapshot_id: numbers for snapshot_id, *numbers in self._db.fetch(_COUNTS)}
        columns = (snapshots.c[name] for name in ("id", "name", "collection", "as_of", "created_at"))
        rows = self._db.fetch(select(*columns).order_by(snapshots.c.as_of.desc(), snapshots.c.name))
        return [Snapshot(*row, *counts.get(row.id, (0, 0, 0))) for row in rows]

    def find(self, text: str) -> AsOf:
        """Return the snapshot named ``text`` or, if ``text`` is a date (YYYY-MM-DD), all snapshots up to its end.

        Raises
        ------
        SnapshotError
            There is no such snapshot.
        """
        stored = self.all()
        name = normalize_snapshot_name(text)
        for one in stored:
            if one.name == name:
                return AsOf(one.label, (one.snapshot_id,))
        names = ", ".join(repr(one.name) for one in stored[:5]) or "none; create one first"
        try:
            day = date.fromisoformat(name)
        except ValueError:
            raise SnapshotError(
                f"No snapshot is named {text[:120]!r}, and it is no date such as 2026-03-31. Snapshots: {names}."
            ) from None
        until = compute_end_of_day(day)
        earlier = [one for one in stored if one.as_of <= until]
        if not earlier:
            raise SnapshotError(f"There is no snapshot of {day:%d %B %Y} or before. Snapshots: {names}.")
        newest = earlier[0]
        return AsOf(f"{day:%d %B %Y}, by {newest.label}", tuple(one.snapshot_id for one in reversed(earlier)))

    def remove(self, name: str) -> None:
        """Remove the snapshot with a name; raise `SnapshotError` if there is none."""
        query = delete(snapshots).where(snapshots.c.name == normalize_snapshot_name(name))
        if not self._db.change(query):
            raise SnapshotError(f"No snapshot is named {name[:120]!r}. The list of snapshots shows the names.")

    def remove_content(self, content: Content) -> None:
        """Remove the content of a document from all snapshots."""
        of_document = delete(snapshot_contents).where(snapshot_contents.c.document_id == content.document_id)
        self._db.change(of_document.where(snapshot_contents.c.sha256 == content.sha256))

    def find_names(self, document_id: str) -> dict[str, list[str]]:
        """Return the names of the snapshots with a document, by the SHA-256 of the content in the snapshot."""
        query = (
            select(snapshot_contents.c.sha256, snapshots.c.name)
            .join(snapshots, snapshots.c.id == snapshot_contents.c.snapshot_id)
            .where(snapshot_contents.c.document_id == document_id)
            .order_by(snapshots.c.as_of, snapshots.c.name)
        )
        return group_values(self._db.fetch(query))

    def contains(self, content: Content) -> bool:
        """Return whether a snapshot contains the content of a document."""
        return content.sha256 in self.find_names(content.document_id)

    def find_superseded_contents(self) -> list[VersionRow]:
        """Return a version of each content that is in a snapshot but is no longer the present content of its document.

        Of several versions with the same content, the newest completely indexed version is returned, or the newest
        version if none is completely indexed.
        """
        rows = self._library.find_versions(IS_IN_SNAPSHOT, versions.c.state.in_(("full", "words", "replaced", "ended")))
        present = {Content(row.document_id, row.sha256) for row in rows if row.id == row.active_version}
        rows.sort(key=lambda row: (row.state == "full", row.added_at))
        best = {Content(row.document_id, row.sha256): row for row in rows}
        return [row for content, row in best.items() if content not in present]

    def find_snapshot_only_versions(self) -> set[str]:
        """Return the ids of the versions that searches find as of a snapshot, but not in the present."""
        query = (
            select(versions.c.id)
            .join(documents, documents.c.id == versions.c.document_id)
            .where(IS_IN_SNAPSHOT, _IS_SEARCHABLE, _IS_NOT_ACTIVE)
        )
        return set(self._db.fetch_values(query))

    def versions(self, as_of: AsOf, document_ids: Sequence[str] | None = None) -> dict[str, tuple[str, str]]:
        """Return the id and the state of the version that searches of the snapshots find, by document id.

        If several snapshots contain a document, its content in the newest of them counts. Documents whose content is
        not indexed are left out. With ``document_ids``, return only versions of these documents.
        """
        query = (
            select(snapshot_contents.c.snapshot_id, versions.c.document_id, versions.c.id, versions.c.state)
            .join(versions, _IS_SAME_CONTENT)
            .where(snapshot_contents.c.snapshot_id.in_(as_of.snapshot_ids), _IS_SEARCHABLE)
            # While content is indexed again, it has two versions for a short time. The newer version comes last.
            .order_by(versions.c.added_at)
        )
        newest = self._find_newest_snapshots(as_of)
        wanted = None if document_ids is None else set(document_ids)
        return {
            row.document_id: (row.id, row.state)
            for row in self._db.fetch(query)
            if newest.get(row.document_id) == row.snapshot_id and (wanted is None or row.document_id in wanted)
        }

    def chunks(self, as_of: AsOf | None, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the given chunks that are searchable in one of the snapshots, by chunk id.

        If ``as_of`` is ``None``, all snapshots are considered.
        """
        query = select_chunk_rows(ALL_CHUNKS.join(snapshot_contents, _IS_SAME_CONTENT)).where(_IS_SEARCHABLE)
        if as_of is not None:
            query = query.where(snapshot_contents.c.snapshot_id.in_(as_of.snapshot_ids))
        rows = self._db.fetch_batches(query.distinct(), chunks.c.id, chunk_ids, 500)
        return {row.id: row for row in map(ChunkRow._make, rows)}

    def _find_newest_snapshots(self, as_of: AsOf) -> dict[str, str]:
        """Return the id of the newest snapshot in ``as_of`` that contains a document, by document id."""
        of_snapshots = snapshot_contents.c.snapshot_id.in_(as_of.snapshot_ids)
        query = select(snapshot_contents.c.document_id, snapshot_contents.c.snapshot_id).where(of_snapshots)
        rows = sorted(self._db.fetch(query), key=lambda row: as_of.snapshot_ids.index(row.snapshot_id))
        return {row.document_id: row.snapshot_id for row in rows}

    def count_unsearchable(self, as_of: AsOf, document_ids: Sequence[str] | None = None) -> int:
        """Return the number of documents in the snapshots whose content is not indexed.

        With ``document_ids``, count only these documents.
        """
        newest = self._find_newest_snapshots(as_of)
        wanted = set(newest) if document_ids is None else set(newest) & set(document_ids)
        return len(wanted - self.versions(as_of, document_ids).keys())


class SnapshotView:
    """The library as of some snapshots, with the methods of `DocumentStore` that searches call.

    Parameters
    ----------
    library : DocumentQueries
    store : SnapshotStore
    as_of : AsOf
    """

    def __init__(self, library: DocumentQueries, store: SnapshotStore, as_of: AsOf) -> None:
        self._library = library
        self._store = store
        self._as_of = as_of

    def documents(self, document_ids: Sequence[str] | None = None) -> list[DocumentInfo]:
        """Return the searchable documents of the snapshots, newest first; see `copy_with_version` for their data.

        With ``document_ids``, return only these documents.
        """
        found = self._store.versions(self._as_of, document_ids)
        ids = [version_id for version_id, _ in found.values()]
        rows: dict[str, VersionRow] = {}
        for batch in split_batches(ids):
            rows |= {row.document_id: row for row in self._library.find_versions(versions.c.id.in_(batch))}
        return [
            copy_with_version(one, row)
            for one in self._library.documents(document_ids)
            if (row := rows.get(one.document_id)) is not None
        ]

    def visible_versions(self, document_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the states of the versions that searches of the snapshots find, by version id."""
        return dict(self._store.versions(self._as_of, document_ids).values())

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the given chunks that searches of the snapshots find, by chunk id."""
        return self._store.chunks(self._as_of, chunk_ids)


def copy_with_version(document: DocumentInfo, row: VersionRow) -> DocumentInfo:
    """Return a document with the id, size, reason, and numbers of pages and chunks of one of its versions.

    Other data, such as the status and the year, stays as it is.
    """
    counts = {name: getattr(row, name) for name in PAGE_COUNTS}
    return replace(document, version_id=row.id, chunks=row.chunks, size=row.size, reason=row.reason, **counts)


_IS_NOT_ACTIVE = or_(documents.c.active_version.is_(None), documents.c.active_version != versions.c.id)
_IS_INDEXED = select(versions.c.id).where(_IS_SAME_CONTENT, _IS_SEARCHABLE).correlate(snapshot_contents).exists()
_IS_PRESENT = (
    select(versions.c.id)
    .join(documents, documents.c.active_version == versions.c.id)
    .where(_IS_SAME_CONTENT)
    .correlate(snapshot_contents)
    .exists()
)
_COUNTS: Select[Any] = select(
    snapshot_contents.c.snapshot_id,
    func.count().label("documents"),
    func.coalesce(func.sum(case((_IS_INDEXED, 1), else_=0)), 0).label("searchable"),
    func.coalesce(func.sum(case((_IS_PRESENT, 0), else_=1)), 0).label("superseded"),
).group_by(snapshot_contents.c.snapshot_id)


def _select_contents(connection: Connection, collection: str, as_of: datetime | None) -> list[Content]:
    """Return the content of each document of a collection, or of the library if ``collection`` is empty.

    The content is the present one, or the newest stored one at the time ``as_of``.
    """
    query = select(versions.c.document_id, versions.c.sha256).join(documents, documents.c.id == versions.c.document_id)
    if collection:
        query = query.where(documents.c.collection == collection)
    is_active = documents.c.active_version == versions.c.id
    if as_of is None:
        query = query.where(is_active)
    else:
        is_stored = or_(versions.c.state.in_(("full", "replaced")), is_active)
        query = query.where(versions.c.added_at <= as_of, is_stored).order_by(versions.c.added_at)
    return list({row.document_id: Content(*row) for row in connection.execute(query)}.values())


def normalize_snapshot_name(name: str) -> str:
    """Return the stored form of a snapshot's name, with single spaces between its words."""
    return " ".join(name.split())
