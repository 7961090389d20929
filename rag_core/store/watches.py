"""Store watched folders, and the documents of their files."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update

from rag_core.store.database import Database, create_id, now
from rag_core.store.schema import watched_files, watches
from rag_core.types.jobs import WatchedFolder


class WatchStore:
    """Watched folders and their files."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, url: str, collection: str) -> WatchedFolder:
        """Add a watched folder, unless its URL is stored already, and return the watched folder."""
        if not any(watch.url == url for watch in self.all()):
            values = {"id": create_id(), "url": url, "collection": collection, "problem": "", "created_at": now()}
            self._db.change(insert(watches).values(**values))
        return next(watch for watch in self.all() if watch.url == url)

    def all(self) -> list[WatchedFolder]:
        """Return all watched folders in the order in which they were added."""
        files = (
            select(func.count()).where(watched_files.c.watch_id == watches.c.id).correlate(watches).scalar_subquery()
        )
        # The columns are in the order of the fields of `WatchedFolder`.
        query = select(
            watches.c.id, watches.c.url, watches.c.collection, files, watches.c.checked_at, watches.c.problem
        ).order_by(watches.c.created_at, watches.c.id)
        return [WatchedFolder(*row) for row in self._db.fetch(query)]

    def remove(self, watch_id: str) -> None:
        """Delete a watched folder and the list of its files. The documents are kept."""
        self._db.change(
            delete(watched_files).where(watched_files.c.watch_id == watch_id),
            delete(watches).where(watches.c.id == watch_id),
        )

    def record_check(self, watch_id: str, problem: str) -> None:
        """Store the result of a check that has just ended; ``problem`` is empty if the check succeeded."""
        self._db.change(update(watches).where(watches.c.id == watch_id).values(checked_at=now(), problem=problem))

    def files(self, watch_id: str) -> dict[str, Any]:
        """Return the rows (``stamp``, ``document_id``, ``owned``) of a folder's files by path."""
        query = select(watched_files).where(watched_files.c.watch_id == watch_id)
        return {row.path: row for row in self._db.fetch(query)}

    def set_file(self, watch_id: str, path: str, stamp: str, document_id: str | None, owned: bool) -> None:
        """Store the document of a file. ``owned`` says whether to delete the document when the file is removed."""
        self.remove_file(watch_id, path)
        values = {"watch_id": watch_id, "path": path, "stamp": stamp, "document_id": document_id, "owned": owned}
        self._db.change(insert(watched_files).values(**values))

    def remove_file(self, watch_id: str, path: str) -> None:
        """Delete the row of a file. Its document is kept."""
        self._db.change(delete(watched_files).where(watched_files.c.watch_id == watch_id, watched_files.c.path == path))

    def is_in_other_folder(self, document_id: str, watch_id: str) -> bool:
        """Return whether another watched folder than ``watch_id`` contains a file of a document."""
        query = select(watched_files.c.path).where(_is_in_other_watch(document_id, watch_id)).limit(1)
        return self._db.fetch_first(query) is not None

    def transfer_ownership(self, document_id: str, watch_id: str) -> bool:
        """Make all watched folders except ``watch_id`` that contain a file of a document owners of the document.

        Return false if no other watched folder contains such a file.
        """
        query = update(watched_files).where(_is_in_other_watch(document_id, watch_id)).values(owned=True)
        return self._db.change(query) > 0


def _is_in_other_watch(document_id: str, watch_id: str) -> ColumnElement[bool]:
    return and_(watched_files.c.document_id == document_id, watched_files.c.watch_id != watch_id)
