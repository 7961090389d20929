"""Folders kept in step with the library: what is added, changed or removed there is so here."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rag_core.errors import RagError, SettingsError, StoreUnavailable, UnknownDocument
from rag_core.services.indexing import Indexer
from rag_core.services.stores import Stores
from rag_core.store.files import browse
from rag_core.types import DeleteReceipt, DocumentStatus, Sync, Watch

log = logging.getLogger(__name__)


class Watching:
    """Compares watched folders with what was taken from them.

    Parameters
    ----------
    stores : Stores
    indexer : Indexer
    delete : callable
        Removes documents by id.
    interval_s : float
        Seconds between two looks at a folder, once `start` was called.
    """

    def __init__(
        self,
        stores: Stores,
        indexer: Indexer,
        delete: Callable[[Sequence[str]], list[DeleteReceipt]],
        interval_s: float,
    ) -> None:
        self._stores = stores
        self._indexer = indexer
        self._delete = delete
        self._interval_s = interval_s
        self._syncing = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look at every watched folder from time to time, in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="watching", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def add(self, url: str, collection: str) -> Watch:
        """Begin to watch a folder or fsspec URL; one that is watched already is given back.

        Raises
        ------
        SettingsError
            It cannot be reached.
        """
        try:
            listing = browse(url)
        except (StoreUnavailable, SettingsError) as error:
            raise SettingsError(f"{url} cannot be watched: {error}") from None
        return self._stores.watches.add(listing.url, collection)

    def sync(self, watch: Watch) -> Sync:
        """Bring the library in step with one folder.

        A folder that cannot be reached changes nothing: documents are removed only where the folder
        answers and does not hold their file.
        """
        with self._syncing:
            try:
                listing = browse(watch.url)
            except (StoreUnavailable, SettingsError) as error:
                self._stores.watches.checked(watch.watch_id, str(error))
                return Sync(watch.watch_id, (), (), (), str(error))
            known = self._stores.watches.files(watch.watch_id)
            added: list[str] = []
            changed: list[str] = []
            problems: list[str] = []
            for path, stamp in listing.stamps.items():
                if path in known and known[path].stamp == stamp:
                    continue
                try:
                    self._take(watch, path, stamp, listing.read(path), known.get(path))
                except (StoreUnavailable, OSError) as error:
                    problems.append(f"{path}: {error}")
                    continue
                (changed if path in known else added).append(path)
            removed = list(self._removed(watch, set(known) - set(listing.stamps), known))
            problem = "; ".join(problems)
            self._stores.watches.checked(watch.watch_id, problem)
            return Sync(watch.watch_id, tuple(added), tuple(changed), tuple(removed), problem)

    def _take(self, watch: Watch, path: str, stamp: str, data: bytes, former: Any) -> None:
        """Queue a new or changed file, and note which document it is."""
        document_id = former.document_id if former is not None and former.owned else None
        job = self._indexer.submit(
            path.rsplit("/", 1)[-1], data, watch.collection, "keep", None, document_id=document_id
        )
        owned = job.result is not DocumentStatus.DUPLICATE or job.document_id == document_id
        self._stores.watches.note(watch.watch_id, path, stamp, job.document_id, owned)

    def _removed(self, watch: Watch, paths: set[str], known: dict[str, Any]) -> Iterator[str]:
        for path in sorted(paths):
            file = known[path]
            self._stores.watches.forget(watch.watch_id, path)
            if file.owned and not self._stores.watches.refers(file.document_id):
                try:
                    self._delete([file.document_id])
                except UnknownDocument:  # deleted by hand before
                    log.debug("%s was gone already", path)
            yield path

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            for watch in self._stores.watches.listed():
                try:
                    self.sync(watch)
                except RagError as error:
                    log.warning("%s: %s", watch.url, error)
