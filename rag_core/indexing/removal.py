"""Removal of documents and versions from all stores, and the end of versions that are not published."""

from __future__ import annotations

import logging
import threading

from rag_core.errors import StoreError
from rag_core.runtime.stores import Stores
from rag_core.store.schema import versions
from rag_core.types import DeleteReceipt, DocumentStatus, VersionRow

log = logging.getLogger(__name__)


class Removal:
    """Removes documents and versions: first from every search, then from the derived stores, last from the
    database. In this order, an interrupted removal is invisible and can be repeated."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        # Locked while a document is removed and while a version is written to the derived stores: data that is
        # written there for a removed document would stay for ever.
        self.lock = threading.RLock()
        self._in_progress: set[str] = set()

    def remove_document(self, document_id: str) -> DeleteReceipt:
        """Remove a document with all its versions, or finish its removal; raise `UnknownDocument`."""
        with self.lock:
            self._in_progress.add(document_id)
            try:
                self._stores.documents.begin_removal(document_id)
                return self._remove_hidden(document_id)
            finally:
                self._in_progress.remove(document_id)

    def unfinished_names(self) -> list[str]:
        """Return the names of the documents whose removal was interrupted."""
        in_progress = set(self._in_progress)
        removing = self._stores.documents.removals_in_progress()
        return sorted(
            name for document_id, name in removing.items() if document_id not in in_progress | self._in_progress
        )

    def finish_interrupted(self) -> None:
        """Finish the removals that were interrupted."""
        with self.lock:
            for document_id in self._stores.documents.removals_in_progress():
                self._remove_hidden(document_id)

    def _remove_hidden(self, document_id: str) -> DeleteReceipt:
        library = self._stores.documents
        name = library.name(document_id)
        rows = library.versions_where(versions.c.document_id == document_id, versions.c.state == "removing")
        version_ids = [row.id for row in rows]
        chunk_ids = library.chunk_ids(version_ids)
        embedding_ids = self._stores.embeddings.ids_for_versions(version_ids)
        removed = sum(self.remove_version(row) for row in rows)
        library.remove_document(document_id)
        remaining = {
            "database": len(library.chunk_ids(version_ids)),
            "words": self._stores.word_index.count(chunk_ids),
            "vectors": sum(
                self._stores.dense_index(generation).count(chunk_ids)
                for generation in {row.generation_id for row in rows if row.generation_id}
            ),
            "token vectors": self._stores.embeddings.count_unused(embedding_ids),
            "files": sum(self._is_orphaned(digest) for digest in {row.sha256 for row in rows}),
        }
        return DeleteReceipt(document_id, name, removed, remaining)

    def remove_version(self, row: VersionRow) -> int:
        """Remove a version and return the number of its chunks."""
        version_id, generation_id, digest = row.id, row.generation_id, row.sha256
        removed = self.clear_version(version_id, generation_id)
        with self._stores.file_lock:
            # The file first: if that fails, the row stays and the removal can be repeated.
            if not self._stores.documents.versions_where(versions.c.sha256 == digest, versions.c.id != version_id):
                self._stores.files.delete(digest)
            self._stores.documents.remove_version(version_id)
        return removed

    def remove_generation(self, generation_id: int) -> None:
        """Remove an inactive generation with its versions.

        Ended versions stay listed with their file and reason, and versions that a job still needs are queued again.
        """
        stores = self._stores
        # Locked, so that no version is published into the generation.
        with self.lock:
            wanted = {job.details["version_id"] for job in stores.jobs.all(active=True)}
            for row in stores.documents.versions_where(versions.c.generation_id == generation_id):
                if row.id in wanted:
                    self.clear_version(row.id, generation_id)
                    stores.documents.restart_version(row.id)
                elif row.state == "ended" and row.active_version is None:
                    self.clear_version(row.id, generation_id)
                    stores.documents.update_version(row.id, generation_id=None)
                else:
                    self.remove_version(row)
            stores.drop_dense_index(generation_id)
            stores.documents.drop_generation(generation_id)

    def clear_version(self, version_id: str, generation_id: int | None) -> int:
        """Delete a version's data except its row and file, and return the number of its chunks."""
        chunk_ids = self._stores.documents.chunk_ids([version_id])
        embedding_ids = self._stores.embeddings.ids_for_versions([version_id])
        if chunk_ids:
            if generation_id is not None:
                self._stores.dense_index(generation_id).delete(chunk_ids)
            self._stores.word_index.delete(chunk_ids)
        self._stores.documents.clear_version(version_id)
        self._stores.embeddings.remove_unused(embedding_ids)
        return len(chunk_ids)

    def _is_orphaned(self, digest: str) -> bool:
        """Return whether a file is stored that no version refers to."""
        referred = self._stores.documents.versions_where(versions.c.sha256 == digest)
        return not referred and self._stores.files.exists(digest)

    def end_version(self, version_id: str, status: DocumentStatus, reason: str, *, keep: bool = False) -> None:
        """End a version that will not be published, and clear it.

        If another version is searched, the row is removed unless ``keep`` is true. Otherwise it stays listed
        with its reason and replaces other ended versions.
        """
        row = self._stores.documents.version(version_id)
        if row is None:
            return
        self._stores.documents.mark_version_ended(version_id, status, reason)
        try:
            self.clear_version(version_id, row.generation_id)
        except StoreError as error:
            # No search sees the version; the next start removes the rest.
            log.warning("the data of %s could not be removed yet: %s", row.name, error)
        others = self._stores.documents.versions_where(
            versions.c.document_id == row.document_id, versions.c.id != version_id
        )
        if any(other.active_version == other.id for other in others):
            if not keep:
                self.remove_version(row)
            return
        for other in others:
            if other.state == "ended":
                self.remove_version(other)
