"""The last stage of indexing: add complete versions to the indexes of vectors and make them searchable.

The stage runs in a separate thread, so that the embedding stage, which is the slowest, does not wait for it.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from pathlib import PurePosixPath

from sqlalchemy import or_

from rag_core.errors import ServerUnavailable, StoreError
from rag_core.indexing.chunk_indexing import build_chunk_batch, index_chunks
from rag_core.indexing.naming import Naming
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.recovery import REPLACED, is_superseded
from rag_core.indexing.task import (
    CANCELLED,
    DELETED,
    EmbeddingTask,
    IndexingTask,
    PublicationTask,
    TaskResult,
)
from rag_core.store.schema import versions
from rag_core.types.documents import DocumentStatus, VersionRow
from rag_core.types.local_time import to_local_time

log = logging.getLogger(__name__)
OTHER_CONTENT = "Another file replaced it while it was indexed again."


class PublicationStage:
    """Publish versions whose embeddings are stored.

    If embeddings of a task were deleted before its publication, the task returns to the embedding stage, which computes
    them again.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._stores = pipeline.stores
        self._removal = pipeline.removal
        self._thread = threading.Thread(target=self._run, name="publication", daemon=True)
        self._naming = Naming(pipeline.stores)
        self._stopping = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current version. Waiting versions are indexed again when the application starts."""
        self._stopping = True
        self._pipeline.embedded.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (task := self._pipeline.embedded.get()) is not None and not self._stopping:
            outcome = self._process(task)
            if outcome is None:
                continue
            if isinstance(outcome, EmbeddingTask):
                self._pipeline.chunked.put_back(outcome)
                continue
            self._pipeline.results.put(outcome)
            if outcome.is_published and outcome.task.activate:
                self._prefetch(task)

    def _prefetch(self, task: PublicationTask) -> None:
        """Load the version's token vectors into the cache, because users often ask about new documents first."""
        name = task.embedded.task.name
        try:
            self._stores.embeddings.prefetch(task.embedded.chunk_ids)
        except StoreError as error:  # harmless: searches read the vectors from the database
            log.warning("the token vectors of %s could not be prefetched: %s", name, error)
        except BaseException:  # one document must not stop the queue; a Rust panic is not an Exception
            log.exception("the token vectors of %s could not be prefetched", name)

    def _process(self, task: PublicationTask) -> TaskResult | EmbeddingTask | None:
        """Publish a version and return its result.

        Return the embedding task instead if embeddings are missing, and ``None`` if the process stops while a server
        does not answer.
        """
        embedded = task.embedded
        if embedded.task.job_id in self._pipeline.cancelled:
            return embedded.build_result(DocumentStatus.CANCELLED, CANCELLED, task.computed)
        try:
            return self._pipeline.outages.run([embedded.task.job_id], lambda: self._publish(task))
        except ServerUnavailable:
            if self._pipeline.stopping.is_set():
                return None
            return embedded.build_result(DocumentStatus.CANCELLED, CANCELLED, task.computed)
        except BaseException as error:  # noqa: BLE001 - one document must not stop the queue; a Rust panic is not an Exception
            return embedded.build_failure(error, task.computed)

    def _publish(self, task: PublicationTask) -> TaskResult | EmbeddingTask:
        with self._removal.lock:
            return self._publish_locked(task)

    def _publish_locked(self, publication: PublicationTask) -> TaskResult | EmbeddingTask:
        """Publish a version while `Removal.lock` is held; return its result, or its task if embeddings are missing."""
        embedded, computed = publication.embedded, publication.computed
        stores, generation, task = self._stores, embedded.generation, embedded.task
        ids = stores.embeddings.find_ids(generation.space, list(embedded.hashes))
        row = stores.documents.version(task.version_id)
        if row is None or row.state == "removing":  # the document was deleted while it was embedded
            stores.embeddings.remove_unused(list(ids.values()))
            return embedded.build_result(DocumentStatus.CANCELLED, DELETED, computed)
        # A newer file of the document may have been published while this task was embedded a second time.
        if embedded.is_repeated and task.activate and is_superseded(stores, row):
            return embedded.build_result(DocumentStatus.CANCELLED, REPLACED, computed)
        if ids.keys() != set(embedded.hashes):  # a document with the same text was deleted, and the embeddings with it
            return replace(embedded, computed=computed, is_repeated=True)
        batch = build_chunk_batch(embedded.chunk_ids, embedded.spans, task.version_id)
        indexes = [one for one in stores.open_indexes(generation.generation_id) if one[0].reads != "text"]
        index_chunks(stores, indexes, batch, [ids[digest] for digest in embedded.hashes], publication.encodings)
        if task.activate:
            # The job is queued before the version is published, so that no crash can prevent it.
            self._pipeline.describe_figures(row)
        replaced = self._describe_replaced(row) if task.activate and not task.is_indexed_again else ""
        if not stores.documents.publish(
            task.version_id, embedded.status, embedded.reason, active=task.activate, reread=task.is_indexed_again
        ):
            return embedded.build_result(DocumentStatus.CANCELLED, OTHER_CONTENT, computed)
        if task.activate or task.is_for_snapshot:
            try:
                if task.is_for_snapshot:
                    self._retire_same_content(row)
                else:
                    self._retire_former(task, row.sha256)
            except StoreError as error:  # searches no longer find the former version, and the queue removes it later
                log.warning("the former version of %s could not be removed yet: %s", task.name, error)
        return embedded.build_result(embedded.status, " ".join(filter(None, (embedded.reason, replaced))), computed)

    def _describe_replaced(self, row: VersionRow) -> str:
        """Return a message about the content that a version replaces; empty if it replaces no other content."""
        former = self._stores.documents.version(row.active_version) if row.active_version else None
        if former is None or former.sha256 == row.sha256:
            return ""
        added = f"{to_local_time(former.added_at):%d %B %Y at %H:%M %Z}"
        kept = "whose file is kept until you remove it in Documents"
        return f"It replaces the version of {row.name} added on {added}, {kept}."

    def _retire_former(self, task: IndexingTask, digest: str) -> None:
        """Retire the former versions of a document, whose new content has the SHA-256 ``digest``.

        Replaced versions with other content stay, so that users can restore them. If a former version had other
        content, attached documents that are no longer attached are removed.
        """
        former = self._stores.documents.find_versions(
            versions.c.document_id == task.document_id,
            versions.c.id != task.version_id,
            versions.c.state != "building",
            or_(versions.c.state != "replaced", versions.c.sha256 == digest),
        )
        for row in former:
            self._removal.retire_version(row)
        if any(row.sha256 != digest for row in former):
            self._remove_former_attachments(task)

    def _retire_same_content(self, row: VersionRow) -> None:
        """Retire the other versions, in the same generation, of content that was indexed again for a snapshot."""
        for other in self._removal.find_same_content(row):
            if other.state != "building" and other.generation_id in (row.generation_id, None):
                self._removal.retire_version(other)

    def _remove_former_attachments(self, task: IndexingTask) -> None:
        """Remove the documents that were attached to the former version and are not attached to the new one."""
        places = self._stores.jobs.get(task.job_id).details.get("attached_places", [])
        current = {(str(folder), str(name)) for folder, name in places}
        names = self._naming.find_attached(task.document_id)
        self._removal.remove_attached(
            [one for one in names if (one.folder, PurePosixPath(one.name).name) not in current]
        )
