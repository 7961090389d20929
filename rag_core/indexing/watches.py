"""Watched folders. The library is updated when their files are added, changed or removed."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Collection, Mapping, MutableSequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

from rag_core.errors import RagError, SettingsError, StoreUnavailable, UnknownDocument
from rag_core.indexing.documents import Documents
from rag_core.indexing.folders import FolderListing, list_folder, resolve_url
from rag_core.indexing.naming import Naming
from rag_core.indexing.queue import IndexingQueue
from rag_core.runtime.stores import Stores
from rag_core.store.file_names import clean_collection, clean_folder, clean_name
from rag_core.store.remote_folders import find_check_interval
from rag_core.types.documents import DEFAULT_COLLECTION, DocumentStatus
from rag_core.types.jobs import Job, SyncResult, WatchedFolder

log = logging.getLogger(__name__)


class Watches:
    """Lists watched folders, and updates the library when their files change.

    Parameters
    ----------
    stores : Stores
    indexer : IndexingQueue
    documents : Documents

    Attributes
    ----------
    interval_s : float
        Seconds between two checks of all folders.
    """

    interval_s = 30.0

    def __init__(self, stores: Stores, indexer: IndexingQueue, documents: Documents) -> None:
        self._stores = stores
        self._submission = indexer.submission
        self._documents = documents
        self._naming = Naming(stores)
        self._sync_lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Check every watched folder at intervals, in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="watching", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop checking and wait for a running check."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def list(self) -> list[WatchedFolder]:
        """Return the watched folders in the order in which they were added."""
        return self._stores.watches.all()

    def find(self, url: str) -> WatchedFolder | None:
        """Return the watched folder at ``url``, even if it cannot be reached; ``None`` if the folder is not watched.

        Raises
        ------
        SettingsError
            The URL's scheme is unknown or its driver is not installed.
        """
        known = {watch.url: watch for watch in self.list()}
        return known.get(url) or known.get(resolve_url(url))

    def add(self, url: str, *, collection: str = DEFAULT_COLLECTION) -> WatchedFolder:
        """Watch the folder at a local path or fsspec URL, and return the watched folder.

        If the folder is watched already, ``collection`` is ignored. The documents of the folder are added by `sync`, or
        in the background after `start`.

        Raises
        ------
        SettingsError
            The folder cannot be reached.
        """
        collection = clean_collection(collection)
        try:
            return self.find(url) or self._stores.watches.add(list_folder(url).url, collection)
        except (StoreUnavailable, SettingsError) as error:
            raise SettingsError(f"{url} cannot be watched: {error}") from None

    def remove(self, watch_id: str) -> None:
        """Stop watching a folder; its documents stay."""
        self._stores.watches.remove(watch_id)

    def sync(self, watch_id: str) -> SyncResult | None:
        """Update the documents of a watched folder now; return ``None`` if the folder is no longer watched.

        Documents from a folder or subfolder that cannot be read stay.
        """
        watch = next((folder for folder in self.list() if folder.watch_id == watch_id), None)
        return self._sync(watch) if watch else None

    def _sync(self, watch: WatchedFolder) -> SyncResult:
        with self._sync_lock:
            try:
                listing = list_folder(watch.url)
            except (StoreUnavailable, SettingsError) as error:
                self._stores.watches.record_check(watch.watch_id, str(error))
                return SyncResult(watch.watch_id, (), (), (), str(error))
            result = self._update_documents(watch, listing)
            self._stores.watches.record_check(watch.watch_id, result.problem)
            return result

    def _update_documents(self, watch: WatchedFolder, listing: FolderListing) -> SyncResult:
        watches = self._stores.watches
        known = watches.files(watch.watch_id)
        # Documents that were added from this folder. They are removed when the folder contains none of their files.
        owned = {row.document_id for row in known.values() if row.owned}
        # The documents of files that are unchanged or in a subfolder that cannot be read, by path.
        current = {
            path: row.document_id
            for path, row in known.items()
            if listing.stamps.get(path) == row.stamp or any(path.startswith(f"{folder}/") for folder in listing.unread)
        }
        jobs: dict[str, Job] = {}
        problems = [f"{folder} cannot be read ({reason})." for folder, reason in listing.unread.items()]
        for path in [path for path in listing.stamps if path not in current]:
            former = known[path].document_id if path in known else None
            try:
                folder, data = _find_folder(watch, path), listing.read(path)
                job = self._submit_file(watch, listing.name(path), folder, data, former, owned, current)
            except (RagError, OSError, ValueError) as error:
                problems.append(f"{path}: {error}")
                if former:
                    current[path] = former
                continue
            jobs[path], current[path] = job, job.document_id
            if job.result is not DocumentStatus.DUPLICATE:
                if job.document_id != former:
                    owned.add(job.document_id)
                watches.set_file(watch.watch_id, path, listing.stamps[path], job.document_id, job.document_id in owned)
        unused = owned - set(current.values())
        failed = set()
        for document_id in unused:
            former_paths = [path for path, row in known.items() if row.document_id == document_id]
            is_kept = [
                self._release_name(document_id, listing.name(path), _find_folder(watch, path)) for path in former_paths
            ]
            if all(is_kept):
                self._stores.watches.transfer_ownership(document_id, watch.watch_id)
            elif not self._remove_document(watch, document_id, problems):
                failed.add(document_id)
        # Delete the rows of removed files last: if a document cannot be removed, the next check finds it by its row.
        removed = [path for path, row in known.items() if path not in current and row.document_id not in failed]
        for path in removed:
            watches.remove_file(watch.watch_id, path)
            self._release_name(known[path].document_id, listing.name(path), _find_folder(watch, path))
        for path, job in jobs.items():
            if job.result is DocumentStatus.DUPLICATE and not (path in known and known[path].document_id in failed):
                name, folder = clean_name(listing.name(path)), clean_folder(_find_folder(watch, path))
                self._naming.add_alias(str(job.document_id), name, watch.collection, folder)
                watches.set_file(watch.watch_id, path, listing.stamps[path], job.document_id, job.document_id in owned)
        return SyncResult(
            watch.watch_id,
            tuple(path for path in jobs if path not in known),
            tuple(path for path in jobs if path in known),
            tuple(sorted(removed)),
            "; ".join(problems),
            tuple(job.job_id for job in jobs.values()),
        )

    def _submit_file(
        self,
        watch: WatchedFolder,
        name: str,
        folder: str,
        data: bytes,
        former: str | None,
        owned: Collection[str],
        current: Mapping[str, str],
    ) -> Job:
        """Queue a file as the next version of its former document, or as a new document.

        ``former`` is the id of the document that the file had at the last check. The file becomes a new document if

        - the file had no document,
        - its former document also has another file, or
        - its former document was not added from this folder and has another name.
        """
        is_next_version = (
            former is not None
            and (former in owned or self._has_name(former, name, watch.collection))
            and former not in current.values()
            and not self._stores.watches.is_in_other_folder(former, watch.watch_id)
        )
        if former is not None and not is_next_version:
            self._release_name(former, name, folder)
        document_id = former if is_next_version else None
        return self._submission.submit(name, data, watch.collection, "keep", document_id=document_id, folder=folder)

    def _release_name(self, document_id: str, name: str, folder: str) -> bool:
        """Remove the name of a file from its document; return false if the document has no name of another file."""
        folder = clean_folder(folder)
        if (former := self._naming.find_name_of_file(document_id, clean_name(name), folder)) is not None:
            return self._naming.release(former)
        names = self._stores.names.names(document_id)
        return bool(names) and all(one.folder not in (None, folder) for one in names)

    def _has_name(self, document_id: str, name: str, collection: str) -> bool:
        """Return whether a document has this file name, possibly with folders before it and a number after it."""
        path = PurePosixPath(clean_name(name))
        numbered = r"(.*/)?" + re.escape(path.stem) + r"( \(\d+\))?" + re.escape(path.suffix)
        return any(
            document.collection == collection and re.fullmatch(numbered, document.name)
            for document in self._stores.documents.documents([document_id])
        )

    def _remove_document(self, watch: WatchedFolder, document_id: str, problems: MutableSequence[str]) -> bool:
        """Remove a document whose files were removed from this folder; return false if the removal failed.

        If other watched folders contain files of the document, the document stays, and those folders become its owners.
        """
        if self._stores.watches.transfer_ownership(document_id, watch.watch_id):
            return True
        try:
            self._documents.delete([document_id])
        except UnknownDocument:  # a user deleted the document
            log.debug("%s was deleted already", document_id)
        except RagError as error:
            problems.append(str(error))
            return False
        return True

    def _run(self) -> None:
        while not self._stop.wait(self.interval_s):
            try:
                for watch in self.list():
                    if is_due(watch):
                        self._check_folder(watch)
            except Exception:  # for example, the database failed; the next check may succeed
                log.exception("the watched folders could not be checked")

    def _check_folder(self, watch: WatchedFolder) -> None:
        try:
            self._sync(watch)
        except RagError as error:
            log.warning("%s: %s", watch.url, error)
            self._stores.watches.record_check(watch.watch_id, str(error))
        except Exception:  # an error in one folder must not stop the checks of other folders
            log.exception("checking %s failed", watch.url)
            problem = "An internal error occurred while the folder was checked; the log has the details."
            self._stores.watches.record_check(watch.watch_id, problem)


def is_due(watch: WatchedFolder) -> bool:
    """Return whether a folder must be checked now, because the minimum time since its last check has passed."""
    if watch.checked_at is None:
        return True
    return (datetime.now(UTC) - watch.checked_at).total_seconds() >= find_check_interval(watch.url)


def _find_folder(watch: WatchedFolder, path: str) -> str:
    return str(PurePosixPath(f"{watch.url}/{path}").parent)
