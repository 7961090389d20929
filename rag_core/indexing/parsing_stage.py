"""The first stage of indexing: parse files, divide their text into chunks, and add the chunks to the word index.

The stage runs in the thread of `IndexingQueue`, one document at a time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from rag_core.chunking.chunker import DocumentChunker
from rag_core.chunking.document_titles import find_attributes
from rag_core.errors import (
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    ExtractionFailed,
    RagError,
    RejectedDocument,
    ServerUnavailable,
    StoreError,
    UnknownDocument,
)
from rag_core.indexing.attached_files import AttachedFiles
from rag_core.indexing.chunk_indexing import build_chunk_batch
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.submission import Submission
from rag_core.indexing.task import (
    CANCELLED,
    DELETED,
    ChunkedDocument,
    EmbeddingTask,
    IndexingTask,
    TaskResult,
    summarize_pages,
)
from rag_core.parsing.formats.accepted import reads_attachments
from rag_core.parsing.layout.printed_numbers import find_printed_numbers
from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.workers.document_reader import Attachment, DocumentHeader
from rag_core.runtime.index_generations import IndexGeneration
from rag_core.store.serialization import hash_text
from rag_core.types.chunks import ChunkSpan
from rag_core.types.documents import DocumentStatus, Page, VersionRow

log = logging.getLogger(__name__)
# Seconds between two reports of the progress.
REPORT_EVERY_S = 0.25
# Seconds of reading after which the pages read so far become searchable. The next time is twice as late, and so on.
FIRST_PAGES_AFTER_S = 3.0


class ParsingStage:
    """Parse versions, divide them into chunks, and add the chunks to the word index.

    Parameters
    ----------
    pipeline : Pipeline
    submission : Submission
        Queues the files that are attached to a file.
    run_smaller_file : callable
        Processes a much smaller queued file, so that the smaller file need not wait. Called a few times a second,
        between two pages of a large file, with the task of the large file.
    """

    def __init__(
        self, pipeline: Pipeline, submission: Submission, run_smaller_file: Callable[[IndexingTask], None]
    ) -> None:
        self._pipeline = pipeline
        self._stores = pipeline.stores
        self._submission = submission
        self._run_smaller_file = run_smaller_file
        self._parser = DocumentParser(ocr=pipeline.settings.ocr)

    def warm_up(self) -> None:
        """Start the parser's worker processes, so that the first file does not wait for them."""
        self._parser.warm_up()

    def close(self) -> None:
        self._parser.close()

    def run(self, task: IndexingTask) -> None:
        """Process a task, and pass it to the embedding stage. If the task ends here, report its result."""
        try:
            outcome = self._process(task)
        except BaseException as error:  # noqa: BLE001 - one document must not stop the queue; a Rust panic is not an Exception
            if self._pipeline.stopping.is_set():  # the task runs again when the application starts
                return
            outcome = self._build_failure(task, error)
        if isinstance(outcome, EmbeddingTask):
            self._pipeline.chunked.put(outcome)
        else:
            self._pipeline.results.put(outcome)

    def parse_and_chunk(self, task: IndexingTask) -> ChunkedDocument:
        """Return the pages and chunks of a task's version, and mark the version as being indexed.

        The files that are attached to the version's file are queued.

        Raises
        ------
        RejectedDocument, ExtractionFailed, UnknownDocument, EmbedderError, IndexMismatch, StoreError
        """
        library = self._stores.documents
        row = library.version(task.version_id)
        if row is None:
            raise UnknownDocument(DELETED)
        # The name may have changed since the job was added.
        task = replace(task, name=row.name)
        if task.parsed_version_id is None:
            self._check_size(task, row)
        generation = task.generation or self._pipeline.generations.active()
        values = {"generation_id": generation.generation_id, "status": DocumentStatus.INDEXING.value}
        library.update_version(task.version_id, **values)
        if task.parsed_version_id is None:
            attachments = self._create_attached_files(task, row)
            try:
                parser_version, pages, spans = self._parse(task, row.sha256, generation, attachments)
            finally:
                # Queue the attached files even if reading the document itself fails.
                note = attachments.describe()
                if attachments.jobs:
                    self._stores.jobs.add_details(
                        task.job_id, attached=attachments.jobs, attached_places=attachments.places
                    )
            return ChunkedDocument(task, generation, parser_version, pages, spans, note)
        parsed = library.version(task.parsed_version_id)
        if parsed is None:
            raise UnknownDocument(DELETED)
        pages = library.pages(parsed.id, with_layout=True)
        return ChunkedDocument(task, generation, parsed.extractor, pages, generation.chunker().chunk(task.name, pages))

    def _check_size(self, task: IndexingTask, row: VersionRow) -> None:
        """Raise `DocumentTooLarge` for a file that was too large to be stored."""
        if row.size > self._pipeline.max_file_bytes and not self._stores.files.exists(row.sha256):
            limit = self._pipeline.settings.max_file_mb
            raise DocumentTooLarge(
                f"{task.name} has {row.size / 1e6:.0f} MB; the limit is {limit} MB. Split it, or raise RAG_MAX_FILE_MB."
            )

    def _parse(
        self, task: IndexingTask, sha256: str, generation: IndexGeneration, attachments: AttachedFiles
    ) -> tuple[str, list[Page], list[ChunkSpan]]:
        """Return the parser version, the pages and the chunks of a file, and add its attached files to ``attachments``.

        If reading takes long, the pages read so far become searchable; see `_publish_first_pages`.
        """
        chunker = DocumentChunker(generation.chunker(), task.name)
        pages: list[Page] = []
        spans: list[ChunkSpan] = []
        header = DocumentHeader(0, "")
        total, reported, started, next_part_s = 0, 0.0, time.monotonic(), FIRST_PAGES_AFTER_S
        with self._stores.files.local(sha256) as path:
            items = self._parser.parse(
                path,
                name=task.name,
                password=task.password,
                ocr=task.ocr,
                cancelled=lambda: self._pipeline.stopping.is_set() or task.job_id in self._pipeline.cancelled,
            )
            for item in items:
                if isinstance(item, DocumentHeader):
                    header, total = item, item.page_count
                    continue
                if isinstance(item, Attachment):
                    attachments.add(item)
                    continue
                pages.append(item)
                spans += chunker.add(item)
                if time.monotonic() - started > next_part_s and len(pages) < total and spans:
                    self._publish_first_pages(ChunkedDocument(task, generation, header.parser_version, pages, spans))
                    next_part_s = 2 * (time.monotonic() - started)
                if time.monotonic() - reported > REPORT_EVERY_S:
                    reported = time.monotonic()
                    # The ratio of unread pages to read pages.
                    unread = (total - len(pages)) / len(pages)
                    tokens = sum(span.tokens for span in spans) * (1 + unread)
                    ends_at = self._pipeline.pace.estimate_end(tokens, after_s=(reported - started) * unread)
                    # The database may answer again before the pages are stored.
                    with suppress(ServerUnavailable):
                        self._stores.jobs.set_progress(task.job_id, "reading", len(pages), total, ends_at=ends_at)
                        self._run_smaller_file(task)
                    # Reading this file pauses while the smaller file is processed.
                    started += time.monotonic() - reported
        if len(pages) < total and task.job_id not in self._pipeline.cancelled:
            raise ExtractionFailed(f"Reading {task.name} ended after {len(pages)} of {total} pages. Retry it.")
        labels = None if header.metadata.labels else find_printed_numbers([page.text for page in pages])
        if labels:
            pages = [replace(page, page_label=label) for page, label in zip(pages, labels, strict=True)]
        return header.parser_version, pages, spans + chunker.finish()

    def _create_attached_files(self, task: IndexingTask, row: VersionRow) -> AttachedFiles:
        """Return the object that queues the files attached to a version.

        Attached files that were submitted when the version's content was indexed before are not submitted again,
        because users may have deleted their documents.
        """
        active = self._stores.documents.version(row.active_version) if row.active_version else None
        are_submitted = task.is_indexed_again and active is not None and reads_attachments(active.extractor)
        submit = partial(self._submission.submit, on_same_name="replace", is_separate=task.is_separate)
        return AttachedFiles(row, None if are_submitted else submit, self._pipeline.max_file_bytes, task.password)

    def _process(self, task: IndexingTask) -> EmbeddingTask | TaskResult:
        job_ids = [task.job_id]
        document = self._pipeline.outages.run(job_ids, lambda: self.parse_and_chunk(task))
        embedding_task = self._pipeline.outages.run(job_ids, lambda: self._store(document))
        if task.job_id in self._pipeline.cancelled:
            return TaskResult(task, DocumentStatus.CANCELLED, CANCELLED)
        if not task.is_reindex:
            self._pipeline.outages.run(job_ids, lambda: self._publish_words(embedding_task))
        return embedding_task

    def _publish_first_pages(self, document: ChunkedDocument) -> None:
        """Make the pages of a new document that were read so far searchable by their words.

        A version that replaces another version becomes searchable only as a whole.
        """
        task = document.task
        if task.is_reindex or not task.activate or task.job_id in self._pipeline.cancelled:
            return
        row = self._stores.documents.version(task.version_id)
        if row is None or row.active_version not in (None, row.id):
            return
        # If a database does not answer now, the pages become searchable later.
        with suppress(ServerUnavailable):
            self._store(document)
            self._stores.documents.publish_words(task.version_id)

    def _publish_words(self, embedding_task: EmbeddingTask) -> None:
        task = embedding_task.task
        self._stores.documents.publish_words(task.version_id)
        self._stores.jobs.set_progress(task.job_id, "embedding", 0, len(embedding_task.spans))

    def _store(self, document: ChunkedDocument) -> EmbeddingTask:
        """Store the pages and chunks of a document, add the chunks to the word index, and return the embedding task.

        Raise `EmptyDocument` if the document has no chunks.
        """
        stores, task, pages, spans = self._stores, document.task, document.pages, document.spans
        attributes = find_attributes(task.name, next(iter(pages), None))
        stores.documents.update_version(task.version_id, extractor=document.parser_version, **attributes._asdict())
        stores.documents.save_pages(task.version_id, pages)
        if not spans:
            raise EmptyDocument(f"{task.name} holds no text that could be read on any of its {len(pages)} pages.")
        opened = stores.open_indexes(document.generation.generation_id)
        indexes = [index for retriever, index in opened if retriever.reads == "text"]
        with self._pipeline.removal.lock:
            # Chunks of the first pages, or of an attempt that ended because a server did not answer. They are removed
            # after the new chunks are added, so that searches always find some chunks.
            former_ids = stores.documents.chunk_ids([task.version_id])
            chunk_ids = stores.documents.save_chunks(task.version_id, spans)
            batch = build_chunk_batch(chunk_ids, spans, task.version_id)
            for index in indexes:
                index.add(batch)
            if former_ids:
                stores.documents.remove_chunks(former_ids)
                for index in indexes:
                    index.delete(former_ids)
        status, reason = summarize_pages(pages)
        reason = " ".join(filter(None, (reason, document.note)))
        hashes = [hash_text(span.prefix, span.text) for span in spans]
        return EmbeddingTask(task, document.generation, spans, chunk_ids, hashes, status, reason)

    def _build_failure(self, task: IndexingTask, error: BaseException) -> TaskResult:
        """Return the result of a task that ended with an error."""
        if not isinstance(error, RagError):
            log.error("indexing %s failed", task.name, exc_info=error)
            reason = f"An internal error occurred while {task.name} was read; the log has the details. Retry it."
            return TaskResult(task, DocumentStatus.FAILED, reason, is_internal=True)
        if task.job_id in self._pipeline.cancelled:
            return TaskResult(task, DocumentStatus.CANCELLED, CANCELLED)
        if self._is_gone(task):
            return TaskResult(task, DocumentStatus.CANCELLED, DELETED)
        status = DocumentStatus.REJECTED if isinstance(error, RejectedDocument) else DocumentStatus.FAILED
        return TaskResult(task, status, str(error), needs_password=isinstance(error, EncryptedDocument))

    def _is_gone(self, task: IndexingTask) -> bool:
        """Return whether the version was removed while it was parsed; false if a store does not answer."""
        try:
            return self._stores.documents.version(task.version_id) is None
        except StoreError:
            return False
