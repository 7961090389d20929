"""Accept new files and retries: detect duplicates, store the file, and queue the job that indexes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rag_core.errors import StoreError, StoreUnavailable, UnknownDocument
from rag_core.indexing.naming import Naming
from rag_core.indexing.pipeline import Pipeline
from rag_core.store.database import now
from rag_core.store.documents import KnownContent
from rag_core.store.file_names import clean_folder, clean_name
from rag_core.store.files import compute_sha256
from rag_core.store.jobs import build_job_row
from rag_core.store.schema import versions
from rag_core.types.documents import DocumentStatus, SameName
from rag_core.types.jobs import Job, JobState


class Submission:
    """Store files and queue the jobs that index them."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._stores = pipeline.stores
        self._naming = Naming(pipeline.stores)

    def submit(
        self,
        name: str,
        data: bytes,
        collection: str,
        on_same_name: SameName,
        *,
        password: str | None = None,
        document_id: str | None = None,
        folder: str | None = None,
        is_separate: bool = False,
    ) -> Job:
        """Store a file and queue its indexing; see `Documents.submit`.

        With ``document_id``, the file becomes the next version of that document, whatever its name is.
        """
        stores, name, digest = self._stores, clean_name(name), compute_sha256(data)
        # An upload in the browser has an empty folder. Only documents that earlier releases added have no folder.
        folder = clean_folder(folder or "")
        with stores.file_lock:
            if document_id is not None and stores.documents.documents([document_id]):
                replaced = self._naming.find_name_of_file(document_id, name, folder)
            else:
                document_id = None
                replaced = self._naming.find_replaced(name, collection, folder) if on_same_name == "replace" else None
            duplicate = stores.documents.find_document_with_content(
                digest, collection=collection if is_separate else None
            )
            # A file that replaces another document is stored although its content is in the library already.
            if duplicate and (document_id or replaced is None or replaced.document_id == duplicate.document_id):
                is_missing = duplicate.is_complete and not stores.files.exists(digest)
                if duplicate.is_complete:
                    stores.files.put(data)
                is_other_file = document_id is None and replaced is None
                alias = self._naming.add_alias(duplicate.document_id, name, collection, folder) if is_other_file else ""
                return self._add_duplicate(name, duplicate, was_missing=is_missing, alias=alias)
            owner = document_id or (replaced.document_id if replaced else None)
            if owner is None:
                name = self._naming.choose_name(name, collection, folder)
            elif replaced is not None:
                name = replaced.name
            # A larger file is rejected when its job starts.
            if len(data) <= self._pipeline.max_file_bytes:
                stores.files.put(data)
            is_shared = replaced is not None and len(stores.names.names(replaced.document_id)) > 1
            row = build_job_row("index", name, details={"separate": True} if is_separate else {})
            job = self._queue_version(
                row, password, collection, digest, len(data), document_id=None if is_shared else owner, folder=folder
            )
            # A replaced document that has other names keeps its content under these names.
            if is_shared and replaced is not None:
                self._naming.release(replaced)
            elif replaced is not None:
                self._naming.set_folder(replaced, folder)
            return job

    def retry(self, document_id: str, password: str | None, ocr: str | None) -> Job:
        """Queue a document's file to be indexed again; see `Documents.retry`."""
        stores = self._stores
        with self._pipeline.removal.lock, stores.file_lock:
            row = stores.documents.version(stores.documents.document(document_id).version_id)
            if row is None:
                raise UnknownDocument("That document is no longer in the library. It may have been deleted.")
            duplicate = stores.documents.find_document_with_content(row.sha256, only_queued=True)
            if duplicate:
                return self._add_duplicate(row.name, duplicate)
            if not stores.files.exists(row.sha256):
                raise StoreUnavailable(f"The file of {row.name} is not stored. Upload the document again.")
            # Attached files become separate documents, because the job that stored this option may have been deleted.
            details = {"reread": True, "separate": True, **({"ocr": ocr} if ocr else {})}
            job_row = build_job_row("index", row.name, details=details)
            return self._queue_version(
                job_row, password, row.collection, row.sha256, row.size, document_id=document_id, base=row
            )

    def has_name_clash(self, name: str, data: bytes, collection: str) -> bool:
        """Return whether a document with other content has the file's name; see `Documents.has_name_clash`."""
        library = self._stores.documents
        if library.find_document_with_content(compute_sha256(data)):
            return False
        document_id = self._stores.names.find(clean_name(name), collection)
        rows = library.find_versions(versions.c.document_id == document_id) if document_id else []
        # Count queued documents too: of two files with the same name in one upload, the second would replace the first
        # before users see it.
        return any(row.state == "building" or row.active_version == row.id for row in rows)

    def _queue_version(self, row: Mapping[str, Any], password: str | None, *content: Any, **options: Any) -> Job:
        """Add a version and the job that indexes it; see `DocumentStore.add_version`."""
        if password:  # stored before the job, which could start at once
            self._pipeline.passwords[row["id"]] = password
        try:
            self._stores.documents.add_version(row["name"], *content, **options, job=row)
        except StoreError:
            self._pipeline.passwords.pop(row["id"], None)
            raise
        self._pipeline.running.notify()
        return self._stores.jobs.get(row["id"])

    def _add_duplicate(self, name: str, known: KnownContent, *, was_missing: bool = False, alias: str = "") -> Job:
        """Add a job that has ended already, for a file whose content is in the library.

        ``was_missing`` says whether the file of the document was missing and is stored again. ``alias`` is the name
        that was added to the document; empty if none was added.
        """
        is_same_name = known.name == name and not alias
        other = known.name
        if known.is_complete:
            same = "it is in the library already" if is_same_name else f"the same content is in the library as {other}"
        else:
            state = "it is being indexed already" if is_same_name else f"the same content is being indexed as {other}"
            same = f"{state}. If that fails, add this file again"
        stored = " Its file was missing and is stored again." if was_missing else ""
        listed = f" That document is now also listed as {alias}." if alias else ""
        running = None if known.is_complete else self._stores.jobs.find_active(known.document_id)
        # The job is added in its final state, so that the queue does not run it: a duplicate has no version to index.
        job = self._stores.jobs.add(
            "index",
            name,
            document_id=known.document_id,
            state=JobState.DONE.value,
            finished_at=now(),
            details={"continues": running} if running else {},
            result=DocumentStatus.DUPLICATE.value,
            reason=f"{same[0].upper()}{same[1:]}.{stored}{listed}",
        )
        self._pipeline.running.notify()
        return job
