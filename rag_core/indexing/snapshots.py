"""Create, list and delete snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, tzinfo

from rag_core.errors import SnapshotError
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.recovery import remove_replaced
from rag_core.indexing.removal import Removal
from rag_core.runtime.stores import Stores
from rag_core.store.file_names import MAX_NAME_CHARS
from rag_core.store.snapshots import normalize_snapshot_name
from rag_core.types.jobs import Job
from rag_core.types.local_time import compute_end_of_day, get_today
from rag_core.types.snapshots import Snapshot


class Snapshots:
    """The snapshots of the library. A snapshot is a named set of documents, with their content at a date.

    Content in a snapshot stays in the index after another file has replaced it, for questions as of the snapshot. When
    a document is deleted, it is deleted from all snapshots.

    Parameters
    ----------
    stores : Stores
    removal : Removal
    indexer : IndexingQueue
    """

    def __init__(self, stores: Stores, removal: Removal, indexer: IndexingQueue) -> None:
        self._stores = stores
        self._removal = removal
        self._indexer = indexer

    def list(self) -> Sequence[Snapshot]:
        """Return all snapshots, newest date first."""
        return self._stores.snapshots.all()

    def create(
        self, name: str, *, collection: str = "", as_of: date | None = None, zone: tzinfo | None = None
    ) -> tuple[Snapshot, Job | None]:
        """Create a snapshot and, if the index lacks some of its content, queue the indexing of this content.

        Return the snapshot, and the job that indexes the content; the job is ``None`` if the index is complete.

        Parameters
        ----------
        name : str
        collection : str
            The collection whose documents the snapshot contains. Default: the whole library.
        as_of : date, optional
            A past date. For each document, the snapshot then contains the newest version that was added by the end of
            that day and whose file is still stored. Default: the documents as they are now.
        zone : tzinfo, optional
            The time zone of ``as_of``. Default: that of the machine.

        Raises
        ------
        SnapshotError
            The name is empty, too long, a date, or taken; the date is in the future; or there is no document.
        """
        with self._removal.lock:  # no version is published or removed meanwhile
            snapshot = self._stores.snapshots.add(_check_name(name), collection.strip(), _find_moment(as_of, zone))
        is_complete = snapshot.searchable == snapshot.documents
        return snapshot, None if is_complete else self._indexer.index_snapshots()

    def delete(self, name: str) -> None:
        """Delete a snapshot; raise `SnapshotError` if there is none with this name.

        Replaced content that no other snapshot contains is removed from the index; its file stays.
        """
        self._stores.snapshots.remove(name)
        remove_replaced(self._stores, self._removal)

    def index_missing(self) -> Job:
        """Queue the indexing of content that snapshots contain and the index does not."""
        return self._indexer.index_snapshots()


def _check_name(name: str) -> str:
    """Return the stored form of a snapshot's name; raise `SnapshotError` if it is empty, too long, or a date."""
    checked = normalize_snapshot_name(name)
    if not checked:
        raise SnapshotError("The name of the snapshot is empty. Enter a name, such as “Annual report 2025”.")
    if len(checked) > MAX_NAME_CHARS:
        raise SnapshotError(f"The name of the snapshot has {len(checked)} characters; the limit is {MAX_NAME_CHARS}.")
    try:
        date.fromisoformat(checked)
    except ValueError:
        return checked
    raise SnapshotError(
        f"{checked} is a date, which stands for the newest snapshot of that date or before. Choose another name."
    )


def _find_moment(as_of: date | None, zone: tzinfo | None) -> datetime | None:
    """Return the end of a past day; ``None`` for today or no date. Raise `SnapshotError` for a future day."""
    today = get_today(zone)
    if as_of is None or as_of == today:
        return None
    if as_of > today:
        raise SnapshotError(f"{as_of:%d %B %Y} is in the future. Choose today or a past date.")
    return compute_end_of_day(as_of, zone)
