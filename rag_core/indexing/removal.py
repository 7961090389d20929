"""Take documents and versions out of every store, count what is left, and end versions that are not published."""

from __future__ import annotations

import logging
import threading

from rag_core.errors import StoreError
from rag_core.runtime.stores import Stores
from rag_core.store.schema import versions
from rag_core.types import DeleteReceipt, DocumentStatus, VersionRow

log = logging.getLogger(__name__)


class Removal:
    """Removes versions and documents. The order makes a half-done removal invisible and repeatable:
    out of every search first, then out of the derived stores, last out of the database."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        # Held while a document is removed, and while a version is put into the derived stores: what is
        # written there for a document that is gone would stay for good.
        self.lock = threading.RLock()
        self._at_hand: set[str] = set()

    def document(self, document_id: str) -> DeleteReceipt:
        """Remove a document with all its versions, or what an attempt before left; raises `UnknownDocument`."""
        with self.lock:
            self._at_hand.add(document_id)
            try:
                self._stores.library.begin_removal(document_id)
                return self._hidden(document_id)
            finally:
                self._at_hand.remove(document_id)

    def unfinished(self) -> list[str]:
        """Names of documents whose removal was cut off."""
        at_hand = set(self._at_hand)
        removing = self._stores.library.removing()
        return sorted(name for one, name in removing.items() if one not in at_hand | self._at_hand)

    def finish(self) -> None:
        """Go on with the removals that were cut off."""
        with self.lock:
            for document_id in self._stores.library.removing():
                self._hidden(document_id)

    def _hidden(self, document_id: str) -> DeleteReceipt:
        library = self._stores.library
        name = library.name(document_id)
        held = library.versions_where(versions.c.document_id == document_id, versions.c.state == "removing")
        version_ids = [row.id for row in held]
        chunk_ids = library.chunk_ids(version_ids)
        embedding_ids = self._stores.vectors.ids_for_versions(version_ids)
        removed = sum(self.remove_version(row) for row in held)
        library.remove_document(document_id)
        remaining = {
            "database": len(library.chunk_ids(version_ids)),
            "words": self._stores.words.count(chunk_ids),
            "vectors": sum(
                self._stores.dense(generation).count(chunk_ids)
                for generation in {row.generation_id for row in held if row.generation_id}
            ),
            "token vectors": self._stores.vectors.count_unused(embedding_ids),
            "files": sum(self._left_over(digest) for digest in {row.sha256 for row in held}),
        }
        return DeleteReceipt(document_id, name, removed, remaining)

    def remove_version(self, row: VersionRow) -> int:
        """Remove one version (a row of `DocumentStore.versions_where`); returns how many chunks it had."""
        version_id, generation_id, digest = row.id, row.generation_id, row.sha256
        removed = self.clear_version(version_id, generation_id)
        with self._stores.file_lock:
            # The file first: where that fails, the row is left to say what is still to be done.
            if not self._stores.library.versions_where(versions.c.sha256 == digest, versions.c.id != version_id):
                self._stores.files.delete(digest)
            self._stores.library.remove_version(version_id)
        return removed

    def remove_generation(self, generation_id: int) -> None:
        """Remove a generation that does not answer, with its versions.

        What came to nothing stays listed with its file and its reason, and what a job still waits for begins again.
        """
        stores = self._stores
        # Held throughout, so that nothing is published into it meanwhile.
        with self.lock:
            wanted = {job.details["version_id"] for job in stores.jobs.all(active=True)}
            for row in stores.library.versions_where(versions.c.generation_id == generation_id):
                if row.id in wanted:
                    self.clear_version(row.id, generation_id)
                    stores.library.restart_version(row.id)
                elif row.state == "ended" and row.active_version is None:
                    self.clear_version(row.id, generation_id)
                    stores.library.update_version(row.id, generation_id=None)
                else:
                    self.remove_version(row)
            stores.drop_dense(generation_id)
            stores.library.drop_generation(generation_id)

    def clear_version(self, version_id: str, generation_id: int | None) -> int:
        """Empty a version, its row and file left; returns how many chunks it had."""
        chunk_ids = self._stores.library.chunk_ids([version_id])
        embedding_ids = self._stores.vectors.ids_for_versions([version_id])
        if chunk_ids:
            if generation_id is not None:
                self._stores.dense(generation_id).delete(chunk_ids)
            self._stores.words.delete(chunk_ids)
        self._stores.library.clear_version(version_id)
        self._stores.vectors.remove_unused(embedding_ids)
        return len(chunk_ids)

    def _left_over(self, digest: str) -> bool:
        """Whether a file is held that no version refers to."""
        referred = self._stores.library.versions_where(versions.c.sha256 == digest)
        return not referred and self._stores.files.exists(digest)

    def end_version(self, version_id: str, status: DocumentStatus, reason: str, *, keep: bool = False) -> None:
        """End a version that will not be published, and empty it.

        It stays listed with its reason if it is all that its document has, or if ``keep``; a former
        version is still searched.
        """
        row = self._stores.library.version(version_id)
        if row is None:
            return
        self._stores.library.end_version(version_id, status, reason)
        try:
            self.clear_version(version_id, row.generation_id)
        except StoreError as error:
            # Out of every search already; the next start removes the rest.
            log.warning("what %s left could not be removed yet: %s", row.name, error)
        others = self._stores.library.versions_where(
            versions.c.document_id == row.document_id, versions.c.id != version_id
        )
        if any(other.active_version == other.id for other in others):
            if not keep:
                self.remove_version(row)
            return
        for other in others:
            if other.state == "ended":
                self.remove_version(other)
