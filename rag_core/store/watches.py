"""Store watched folders, and the documents that belong to the files in them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update

from rag_core.store.database import Database, as_utc, create_id, now
from rag_core.store.schema import watched_files, watches
from rag_core.types.jobs import WatchedFolder


class WatchStore:
    """Watched folders and the files in them."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, url: str, collection: str) -> WatchedFolder:
        """Store a watched folder and return it. If a folder with this URL is stored already, return that folder."""
        existing = [watch for watch in self.all() if watch.url == url]
        if existing:
            return existing[0]
        values = {"id": create_id(), "url": url, "collection": collection, "problem": "", "created_at": now()}
        self._db.change(insert(watches).values(**values))
        return next(watch for watch in self.all() if watch.url == url)

    def all(self) -> list[WatchedFolder]:
        """Return all watched folders in the order in which they were added."""
        files = (
            select(func.count()).where(watched_files.c.watch_id == watches.c.id).correlate(watches).scalar_subquery()
        )
        query = select(watches, files.label("files")).order_by(watches.c.created_at, watches.c.id)
        return [
            WatchedFolder(
                watch_id=row.id,
                url=row.url,
                collection=row.collection,
                files=row.files,
                checked_at=as_utc(row.checked_at) if row.checked_at else None,
                problem=row.problem,
            )
            for row in self._db.fetch(query)
        ]

    def remove(self, watch_id: str) -> None:
        """Delete a watched folder and the list of its files; the documents stay."""
        with self._db.begin() as connection:
            connection.execute(delete(watched_files).where(watched_files.c.watch_id == watch_id))
            connection.execute(delete(watches).where(watches.c.id == watch_id))

    def record_check(self, watch_id: str, problem: str) -> None:
        """Store that a folder was checked now; ``problem`` is empty if the check succeeded."""
        self._db.change(update(watches).where(watches.c.id == watch_id).values(checked_at=now(), problem=problem))

    def files(self, watch_id: str) -> dict[str, Any]:
        """Return the rows (``stamp``, ``document_id``, ``owned``) of a folder's files by path."""
        query = select(watched_files).where(watched_files.c.watch_id == watch_id)
        return {row.path: row for row in self._db.fetch(query)}

    def set_file(self, watch_id: str, path: str, stamp: str, document_id: str | None, owned: bool) -> None:
        """Store the document of a file; ``owned`` says whether to delete the document when the file is removed."""
        self.remove_file(watch_id, path)
        values = {"watch_id": watch_id, "path": path, "stamp": stamp, "document_id": document_id, "owned": owned}
        self._db.change(insert(watched_files).values(**values))

    def remove_file(self, watch_id: str, path: str) -> None:
        self._db.change(delete(watched_files).where(watched_files.c.watch_id == watch_id, watched_files.c.path == path))

    def is_used_elsewhere(self, document_id: str, but: str) -> bool:
        """Return whether a watched folder other than ``but`` contains a file of this document."""
        query = select(watched_files.c.path).where(_is_in_other_watch(document_id, but)).limit(1)
        return self._db.fetch_first(query) is not None

    def transfer_ownership(self, document_id: str, watch_id: str) -> bool:
        """Let all other watched folders that have a file of this document own it; return false if there are none."""
        query = update(watched_files).where(_is_in_other_watch(document_id, watch_id)).values(owned=True)
        return self._db.change(query) > 0


def _is_in_other_watch(document_id: str, watch_id: str) -> ColumnElement[bool]:
    return and_(watched_files.c.document_id == document_id, watched_files.c.watch_id != watch_id)
