"""Remove documents and versions from all stores, and end versions that will not be published."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from rag_core.errors import StoreError
from rag_core.indexing.naming import Naming
from rag_core.runtime.stores import Stores
from rag_core.store.document_names import DocumentName
from rag_core.store.schema import versions
from rag_core.store.snapshots import Content
from rag_core.types.documents import DeleteReceipt, DocumentStatus, VersionRow

log = logging.getLogger(__name__)


class Removal:
    """Removes documents and versions.

    A document is first hidden from every search. Then its data is deleted from the index of each retriever, and finally
    from the database. In this order, searches never find a partly removed document, and an interrupted removal can be
    repeated.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        # Held while a document is removed and while a version is written to an index. Otherwise, data could be written
        # for a document that was just removed, and would stay.
        self.lock = threading.RLock()
        self._in_progress: set[str] = set()
        self._naming = Naming(stores)

    def remove_document(self, document_id: str) -> list[DeleteReceipt]:
        """Remove a document and the documents that are attached to it, and return their receipts in this order.

        An attached document with other names is not removed, but keeps these names. Raise `UnknownDocument` if the
        document does not exist.
        """
        attached = self._naming.find_attached(document_id)
        return [self._remove_without_attached(document_id), *self.remove_attached(attached)]

    def remove_from(self, document_id: str, collections: Sequence[str]) -> list[DeleteReceipt]:
        """Remove the names of a document in some collections, and return the receipts.

        A document without names in other collections is removed. Otherwise, its content stays, and each removed name
        has a receipt. The receipts of documents that are attached in these collections follow.
        """
        names = self._stores.names.names(document_id)
        removed = [one for one in names if one.collection in collections]
        if len(removed) == len(names):
            return self.remove_document(document_id)
        attached = self._naming.find_attached(document_id, collections)
        for one in removed:
            self._naming.release(one)
        return [*(DeleteReceipt(document_id, one.name, 0, {}) for one in removed), *self.remove_attached(attached)]

    def remove_attached(self, names: Sequence[DocumentName]) -> list[DeleteReceipt]:
        """Remove names of attached files. Remove documents without another name, and return their receipts."""
        return [
            receipt
            for one in names
            if not self._naming.release(one)
            for receipt in self.remove_document(one.document_id)
        ]

    def _remove_without_attached(self, document_id: str) -> DeleteReceipt:
        with self.lock:
            self._in_progress.add(document_id)
            try:
                self._stores.documents.begin_removal(document_id)
                return self._remove_hidden(document_id)
            finally:
                self._in_progress.remove(document_id)

    def list_unfinished(self) -> list[str]:
        """Return the sorted names of the documents whose removal has started, but is not in progress now."""
        in_progress = set(self._in_progress)  # copied before the query: a removal may end meanwhile
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
        """Remove a document that searches no longer find; return a receipt with the data that the stores still have."""
        library = self._stores.documents
        name = library.name(document_id)
        rows = library.find_versions(versions.c.document_id == document_id, versions.c.state == "removing")
        version_ids = [row.id for row in rows]
        chunk_ids = library.chunk_ids(version_ids)
        embedding_ids = self._stores.embeddings.find_ids_of_versions(version_ids)
        generation_ids = {row.generation_id for row in rows if row.generation_id}
        removed = sum(self.remove_version(row) for row in rows)
        library.remove_document(document_id)
        self._stores.evaluations.remove_pseudo_labels_of(name)
        remaining = {
            "database": len(library.chunk_ids(version_ids)),
            **{
                retriever.store: sum(index.count(chunk_ids) for index in retriever.open_all(generation_ids))
                for retriever in self._stores.retrievers
            },
            "token vectors": self._stores.embeddings.count_unused(embedding_ids),
            "files": sum(self._is_orphaned(digest) for digest in {row.sha256 for row in rows}),
        }
        return DeleteReceipt(document_id, name, removed, remaining)

    def remove_version(self, row: VersionRow) -> int:
        """Remove a version, and its file if no other version needs it; return the number of deleted chunks."""
        version_id, generation_id, digest = row.id, row.generation_id, row.sha256
        removed = self.clear_version(version_id, generation_id)
        with self._stores.file_lock:
            # Delete the file before the row: if deleting the file fails, the row stays and the removal can be repeated.
            if not self._stores.documents.find_versions(versions.c.sha256 == digest, versions.c.id != version_id):
                self._stores.files.delete(digest)
                self._stores.locate_office_pdf(digest).unlink(missing_ok=True)
            self._stores.documents.remove_version(version_id)
        return removed

    def retire_version(self, row: VersionRow) -> None:
        """Remove what nobody needs of a replaced version.

        - An incomplete version is removed.
        - A complete version stays if a snapshot contains its content and no other version indexes this content in the
          same generation, because searches as of the snapshot need the version.
        - Any other version is removed if another version of the document has the same content. If none has, the row
          and the file of the version stay, so that users can restore it.
        """
        others = self.find_same_content(row)
        indexed = [one for one in others if one.state in ("full", "words") and one.generation_id == row.generation_id]
        if row.state == "full" and not indexed and self._is_in_snapshot(row):
            return
        if others or row.state != "full":
            self.remove_version(row)
        else:
            self._reduce_to_file(row)

    def find_same_content(self, row: VersionRow) -> list[VersionRow]:
        """Return the other versions of a document that have the same content, oldest first."""
        return self._stores.documents.find_versions(
            versions.c.document_id == row.document_id,
            versions.c.id != row.id,
            versions.c.sha256 == row.sha256,
        )

    def _reduce_to_file(self, row: VersionRow) -> None:
        """Delete all data of a version except its row and its file, and mark the version as replaced."""
        self.clear_version(row.id, row.generation_id)
        self._stores.documents.mark_version_replaced(row.id)

    def remove_content(self, row: VersionRow) -> None:
        """Remove a version that is not active, with its file, and remove its content from all snapshots.

        The content is removed from the snapshots first, so that no search finds a partly removed version.
        """
        with self.lock:
            self._stores.snapshots.remove_content(Content(row.document_id, row.sha256))
            self.remove_version(row)

    def remove_generation(self, generation_id: int) -> None:
        """Remove an inactive generation and its versions, with three exceptions.

        - A version that an unfinished job needs is queued again.
        - An ended version stays listed, with its file and reason, if its document has no active version.
        - The row and the file of a complete version stay if a snapshot contains its content and no other version of the
          document has this content.
        """
        stores = self._stores
        # While the lock is held, no version is published into the generation.
        with self.lock:
            wanted = {job.details["version_id"] for job in stores.jobs.all(active=True)}
            for row in stores.documents.find_versions(versions.c.generation_id == generation_id):
                if row.id in wanted:
                    self.clear_version(row.id, generation_id)
                    stores.documents.restart_version(row.id)
                elif row.state == "ended" and row.active_version is None:
                    self.clear_version(row.id, generation_id)
                    stores.documents.update_version(row.id, generation_id=None)
                elif row.state == "full" and not self.find_same_content(row) and self._is_in_snapshot(row):
                    self._reduce_to_file(row)
                else:
                    self.remove_version(row)
            for retriever in stores.retrievers:
                retriever.drop(generation_id)
            stores.documents.drop_generation(generation_id)

    def _is_in_snapshot(self, row: VersionRow) -> bool:
        return self._stores.snapshots.contains(Content(row.document_id, row.sha256))

    def clear_version(self, version_id: str, generation_id: int | None) -> int:
        """Delete all data of a version except its row and its file; return the number of deleted chunks."""
        chunk_ids = self._stores.documents.chunk_ids([version_id])
        embedding_ids = self._stores.embeddings.find_ids_of_versions([version_id])
        if chunk_ids:
            for _, index in self._stores.open_indexes(*([] if generation_id is None else [generation_id])):
                index.delete(chunk_ids)
        self._stores.documents.clear_version(version_id)
        self._stores.embeddings.remove_unused(embedding_ids)
        return len(chunk_ids)

    def _is_orphaned(self, digest: str) -> bool:
        """Return whether a file or its PDF is stored although no version refers to the file."""
        is_used = bool(self._stores.documents.find_versions(versions.c.sha256 == digest))
        is_stored = self._stores.files.exists(digest) or self._stores.locate_office_pdf(digest).exists()
        return is_stored and not is_used

    def end_version(self, version_id: str, status: DocumentStatus, reason: str, *, keep: bool = False) -> None:
        """End a version that will not be published, and delete its data except its row and its file.

        - If no version of the document is active, the row and the file stay, so that users see the reason. Other ended
          versions of the document are removed.
        - If another version is active, the row and the file are removed too. If ``keep`` is true, they stay, and other
          ended versions with the same content are removed.
        """
        row = self._stores.documents.version(version_id)
        if row is None:
            return
        self._stores.documents.mark_version_ended(version_id, status, reason)
        try:
            self.clear_version(version_id, row.generation_id)
        except StoreError as error:
            # Searches do not find the version, and the next start of the application deletes the rest of its data.
            log.warning("the data of %s could not be removed yet: %s", row.name, error)
        others = self._stores.documents.find_versions(
            versions.c.document_id == row.document_id, versions.c.id != version_id
        )
        is_replaced = any(other.active_version == other.id for other in others)
        if is_replaced and not keep:
            self.remove_version(row)
            return
        for other in others:
            if other.state == "ended" and (not is_replaced or other.sha256 == row.sha256):
                self.remove_version(other)
