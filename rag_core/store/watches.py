"""Watched folders, and which document each of their files is."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update

from rag_core.store.database import Database, as_utc, new_id, now
from rag_core.store.schema import watched_files, watches
from rag_core.types import WatchedFolder


class WatchStore:
    """Reads and writes of watched folders. One method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, url: str, collection: str) -> WatchedFolder:
        """Note a folder; the one that is noted already is given back."""
        known = [watch for watch in self.all() if watch.url == url]
        if known:
            return known[0]
        values = {"id": new_id(), "url": url, "collection": collection, "problem": "", "created_at": now()}
        with self._db.begin() as connection:
            connection.execute(insert(watches).values(**values))
        return next(watch for watch in self.all() if watch.url == url)

    def all(self) -> list[WatchedFolder]:
        """Every watched folder, in the order in which they were added."""
        files = (
            select(func.count()).where(watched_files.c.watch_id == watches.c.id).correlate(watches).scalar_subquery()
        )
        query = select(watches, files.label("files")).order_by(watches.c.created_at, watches.c.id)
        with self._db.read() as connection:
            return [
                WatchedFolder(
                    watch_id=row.id,
                    url=row.url,
                    collection=row.collection,
                    files=row.files,
                    checked_at=as_utc(row.checked_at) if row.checked_at else None,
                    problem=row.problem,
                )
                for row in connection.execute(query)
            ]

    def remove(self, watch_id: str) -> None:
        """Watch a folder no longer; its documents stay."""
        with self._db.begin() as connection:
            connection.execute(delete(watched_files).where(watched_files.c.watch_id == watch_id))
            connection.execute(delete(watches).where(watches.c.id == watch_id))

    def checked(self, watch_id: str, problem: str) -> None:
        """Note that a folder was looked at, and what was wrong."""
        with self._db.begin() as connection:
            connection.execute(
                update(watches).where(watches.c.id == watch_id).values(checked_at=now(), problem=problem)
            )

    def files(self, watch_id: str) -> dict[str, Any]:
        """Rows (``stamp``, ``document_id``, ``owned``) of the files taken from a folder, by path."""
        query = select(watched_files).where(watched_files.c.watch_id == watch_id)
        with self._db.read() as connection:
            return {row.path: row for row in connection.execute(query)}

    def note(self, watch_id: str, path: str, stamp: str, document_id: str | None, owned: bool) -> None:
        """Say which document a file is; ``owned`` if it came from here and goes when the file goes."""
        self.forget(watch_id, path)
        values = {"watch_id": watch_id, "path": path, "stamp": stamp, "document_id": document_id, "owned": owned}
        with self._db.begin() as connection:
            connection.execute(insert(watched_files).values(**values))

    def forget(self, watch_id: str, path: str) -> None:
        with self._db.begin() as connection:
            connection.execute(
                delete(watched_files).where(watched_files.c.watch_id == watch_id, watched_files.c.path == path)
            )

    def refers(self, document_id: str, but: str) -> bool:
        """Whether a file of any watched folder but one is this document."""
        query = select(watched_files.c.path).where(_of_others(document_id, but)).limit(1)
        with self._db.read() as connection:
            return connection.execute(query).first() is not None

    def pass_on(self, document_id: str, watch_id: str) -> bool:
        """Let a document go with the files of the other folders that have it; false where none has."""
        query = update(watched_files).where(_of_others(document_id, watch_id)).values(owned=True)
        with self._db.begin() as connection:
            return connection.execute(query).rowcount > 0


def _of_others(document_id: str, watch_id: str) -> ColumnElement[bool]:
    return and_(watched_files.c.document_id == document_id, watched_files.c.watch_id != watch_id)
