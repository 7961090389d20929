"""The queue of indexing and re-indexing: files in, searchable documents out, whatever happens between."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from rag_core.errors import (
    DocumentTooLarge,
    EmptyDocument,
    EncryptedPdf,
    ExtractionFailed,
    RagError,
    RejectedDocument,
    StoreError,
    StoreUnavailable,
)
from rag_core.indexing.embedding_stage import EmbeddingStage
from rag_core.indexing.recovery import KEPT_JOBS, finish_removals, take_up_again
from rag_core.indexing.reindexing import Reindexing
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import Work, outcome
from rag_core.parsing import VERSION, Extractor
from rag_core.parsing.workers.document_reader import DocumentHeader
from rag_core.runtime.index_generations import Generation, Generations
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.database import now
from rag_core.store.file_names import clean_name
from rag_core.store.files import sha256_of
from rag_core.store.jobs import new_job
from rag_core.store.schema import versions
from rag_core.store.serialization import text_hash
from rag_core.types import DocumentStatus, Job, JobState, Page
from rag_core.types.documents import SameName

log = logging.getLogger(__name__)
REPORT_EVERY_S = 0.25
# A store that failed once may do better; one that failed so often needs somebody to see to it.
MOST_TRIES = 3
TIDY_EVERY_S = 3600.0
REMOVE_EVERY_S = 10.0
# Whoever waits for a job has seen by then that it ended.
SEEN_AFTER = timedelta(days=1)


class Indexer:
    """Two threads: one reads and chunks what is queued, one makes vectors and publishes.

    The queue is in the database, so that a restart goes on where the last process ended.
    """

    def __init__(self, settings: Settings, stores: Stores, generations: Generations, removal: Removal) -> None:
        self._largest = settings.max_file_mb * 1_000_000
        self._stores = stores
        self._generations = generations
        self._removal = removal
        self._extractor = Extractor(
            page_timeout_s=settings.page_timeout_s,
            memory_mb=settings.worker_memory_mb,
            max_pages=settings.max_pages,
            max_decompressed_mb=settings.max_decompressed_mb,
            ocr=settings.ocr,
        )
        self._cancelled: set[str] = set()
        # Kept in memory alone: a password is never stored, so a restart asks for it again.
        self._passwords: dict[str, str] = {}
        self._changed = threading.Condition()
        self._in_flight = 0
        # Jobs taken up since all were last seen to have ended: how often each, and what it failed of.
        self._taken: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        self._tidied = self._removed = time.monotonic()
        self._stopping = False
        self._embedding = EmbeddingStage(stores, removal, self.is_cancelled, self._work_ended)
        self._reindexing = Reindexing(stores, generations, removal, self)
        self._thread = threading.Thread(target=self._run, name="indexing", daemon=True)

    def start(self) -> None:
        """Begin to work on what is queued."""
        self._embedding.start()
        self._thread.start()

    def warm_up(self) -> None:
        """Prepare to read the first file."""
        self._extractor.warm_up()

    def stop(self) -> None:
        """Stop soon; what is unfinished goes on at the next start."""
        self._stopping = True
        self._notify()
        self._thread.join()
        self._embedding.stop()
        self._extractor.close()

    def submit(
        self,
        name: str,
        data: bytes,
        collection: str,
        on_same_name: SameName,
        password: str | None,
        *,
        document_id: str | None = None,
    ) -> Job:
        """Store a file and queue its indexing; see `Documents.submit`.

        ``document_id`` names the document whose next version this is, whatever the names.
        """
        stores, name, digest = self._stores, clean_name(name), sha256_of(data)
        with self._stores.keeping:
            twin = stores.library.find_content(digest)
            if twin:
                lost = twin[2] and not stores.files.exists(digest)
                if twin[2]:
                    stores.files.put(data)
                return self._duplicate(name, *twin, lost=lost)
            if document_id is None or not stores.library.documents([document_id]):
                document_id = stores.library.find_name(name, collection)
                if document_id and on_same_name == "keep":
                    name, document_id = self._free_name(name, collection), None
            if len(data) <= self._largest:  # else it is refused when its turn comes
                stores.files.put(data)
            job = self._begin(new_job("index", name), password, collection, digest, len(data), document_id=document_id)
        self._notify()
        return job

    def retry(self, document_id: str, password: str | None) -> Job:
        """Queue a document's file once more; see `Documents.retry`."""
        stores = self._stores
        with self._removal.lock, stores.keeping:
            row = stores.library.version(stores.library.document(document_id).version_id)
            twin = stores.library.find_content(row.sha256, waiting=True)
            if twin:
                return self._duplicate(row.name, *twin)
            if not stores.files.exists(row.sha256):
                raise StoreUnavailable(f"The file of {row.name} is not stored. Upload the document again.")
            again = new_job("index", row.name, details={"reread": True})
            job = self._begin(again, password, row.collection, row.sha256, row.size, document_id=document_id, base=row)
        self._notify()
        return job

    def _begin(self, row: Mapping[str, Any], password: str | None, *content: Any, **of: Any) -> Job:
        """Begin a version with the job that indexes it; see `Library.add_version`."""
        if password:  # before its job can be taken up
            self._passwords[row["id"]] = password
        try:
            self._stores.library.add_version(row["name"], *content, **of, job=row)
        except StoreError:
            self._passwords.pop(row["id"], None)
            raise
        return self._stores.jobs.get(row["id"])

    def clashes(self, name: str, data: bytes, collection: str) -> bool:
        """See `Documents.has_name_clash`."""
        library = self._stores.library
        if library.find_content(sha256_of(data)):
            return False
        document_id = library.find_name(clean_name(name), collection)
        held = library.versions_where(versions.c.document_id == document_id) if document_id else []
        # One that waits counts as well: it may be of the same batch, and would be gone before anyone saw it.
        return any(row.state == "building" or row.active_version == row.id for row in held)

    def reindex(self, document_ids: Sequence[str] | None, **changes: object) -> Job:
        """Queue a re-index; see `Index.rebuild`."""
        details = {
            "document_ids": list(document_ids) if document_ids is not None else None,
            "changes": changes,
        }
        name = "All documents" if document_ids is None else f"{len(document_ids)} documents"
        job = self._stores.jobs.add("reindex", name, details=details)
        self._notify()
        return job

    def cancel(self, job_id: str) -> None:
        """Stop a job; one that has ended is left as it is."""
        job = self._stores.jobs.get(job_id)
        if job.state is JobState.QUEUED and self._stores.jobs.start(job_id):
            try:
                self._end(job, DocumentStatus.CANCELLED, "Cancelled before it was indexed.")
            except StoreError:
                # It runs and nobody works on it: to be taken up, and ended, once the store does better.
                self._cancelled.add(job_id)
                self._taken[job_id] = 0
                raise
        elif job.state in (JobState.QUEUED, JobState.RUNNING):
            self._cancelled.add(job_id)
            self._notify()

    def is_cancelled(self, job_id: str) -> bool:
        return job_id in self._cancelled

    def wait_for_change(self, timeout_s: float) -> None:
        """Sleep until some job has ended, or the time is over."""
        with self._changed:
            self._changed.wait(timeout_s)

    # used by the re-index, which runs in the reading thread

    @property
    def stopping(self) -> bool:
        return self._stopping

    def index_queued(self) -> None:
        """Work on every file that is waiting."""
        for job in self._stores.jobs.queued("index"):
            if self._stopping:
                return
            if self._stores.jobs.start(job.job_id):
                self._taken[job.job_id] = self._taken.get(job.job_id, 0) + 1
                self._index(job)

    def embed(self, work: Work) -> None:
        """Hand a version over to the second stage."""
        with self._changed:
            self._in_flight += 1
        self._embedding.put(work)

    def drain(self) -> None:
        """Wait until the second stage has ended all that it was handed."""
        with self._changed:
            while self._in_flight and not self._stopping:
                self._changed.wait(0.5)

    def build(
        self,
        job_id: str,
        row: Any,
        generation: Generation,
        *,
        activate: bool,
        pages: Sequence[Page] | None,
    ) -> Work:
        """Read, chunk and word-index one version (a row of `Library.version`).

        ``pages`` are given where they were extracted before and need not be again.
        """
        version_id, name = row.id, row.name
        stores = self._stores
        stores.library.update_version(
            version_id, generation_id=generation.generation_id, status=DocumentStatus.INDEXING.value
        )
        extractor = generation.fingerprint.extractor
        if pages is None:
            pages, extractor = [], VERSION
            spans = generation.chunker().chunk(name, self._extract(job_id, row, pages))
        else:
            spans = generation.chunker().chunk(name, pages)
        stores.library.update_version(version_id, extractor=extractor)
        stores.library.save_pages(version_id, pages)
        if not spans:
            raise EmptyDocument(f"{name} holds no text that could be read on any of its {len(pages)} pages.")
        with self._removal.lock:
            chunk_ids = stores.library.save_chunks(version_id, spans)
            stores.words.add(chunk_ids, [(span.prefix, span.text, version_id) for span in spans])
        status, reason = outcome(pages)
        return Work(
            job_id=job_id,
            version_id=version_id,
            document_id=row.document_id,
            name=name,
            generation=generation,
            spans=spans,
            chunk_ids=chunk_ids,
            hashes=[text_hash(span.prefix, span.text) for span in spans],
            status=status,
            reason=reason,
            activate=activate,
        )

    # the reading thread

    def _run(self) -> None:
        while not self._stopping:
            try:
                self._work()
            except Exception:  # the store of the queue itself failed: the next turn may do better
                log.exception("the queue could not be worked on")
                self.wait_for_change(1.0)

    def _work(self) -> None:
        self.index_queued()
        waiting = [] if self._stopping else self._stores.jobs.queued("reindex")
        if waiting and self._stores.jobs.start(waiting[0].job_id):
            self._reindexing.run(waiting[0])
            self._notify()
        elif not self._stores.jobs.queued("index"):
            if not self._in_flight:
                self._tidy()
            self.wait_for_change(1.0)

    def _tidy(self) -> None:
        """See to jobs and removals that a failing store kept from ending, and to the list of ended jobs."""
        jobs = self._stores.jobs
        if self._taken:
            given_up = {
                job_id: f"Given up after {times} tries. {self._problems.get(job_id, 'A store failed each time.')}"
                for job_id, times in list(self._taken.items())
                if times >= MOST_TRIES
            }
            taken = list(self._taken)
            take_up_again(self._stores, self._removal, taken, given_up)
            again = jobs.states(taken)
            for job_id in taken:
                if again.get(job_id) is not JobState.QUEUED:
                    del self._taken[job_id]
            self._problems = {one: problem for one, problem in self._problems.items() if one in self._taken}
            self._notify()
        if time.monotonic() - self._removed > REMOVE_EVERY_S:
            finish_removals(self._stores, self._removal)
            self._removed = time.monotonic()
        if time.monotonic() - self._tidied > TIDY_EVERY_S:
            self._tidied = time.monotonic()
            jobs.forget_ended(KEPT_JOBS, ended_before=now() - SEEN_AFTER)

    def _index(self, job: Job) -> None:
        version_id = job.details["version_id"]
        try:
            row = self._stores.library.version(version_id)
            if row.size > self._largest and not self._stores.files.exists(row.sha256):
                raise DocumentTooLarge(
                    f"{row.name} has {row.size / 1e6:.0f} MB; the limit is {self._largest // 1_000_000} MB. "
                    "Split it, or raise RAG_MAX_FILE_MB."
                )
            work = self.build(job.job_id, row, self._generations.active(), activate=True, pages=None)
            work.reread = bool(job.details.get("reread"))
            if self.is_cancelled(job.job_id):
                self._end(job, DocumentStatus.CANCELLED, "Cancelled before it was indexed.")
                return
            self._stores.library.publish_words(version_id)
            self._stores.jobs.progress(job.job_id, "embedding", 0, len(work.spans))
            self.embed(work)
        except _Stopped:
            return
        except EncryptedPdf as error:
            self._stores.library.update_version(version_id, needs_password=True)
            self._end(job, DocumentStatus.REJECTED, str(error))
        except RejectedDocument as error:
            cancelled = self.is_cancelled(job.job_id)
            self._end(job, DocumentStatus.CANCELLED if cancelled else DocumentStatus.REJECTED, str(error))
        except RagError as error:
            self._problems[job.job_id] = str(error)
            self._end(job, DocumentStatus.FAILED, str(error))
        except Exception:  # a bug that one document brings out must not end the queue for all others
            log.exception("indexing %s failed", job.name)
            reason = f"An internal error while {job.name} was read; the log has the details. Retry it."
            self._end(job, DocumentStatus.FAILED, reason)

    def _extract(self, job_id: str, row: Any, pages: list[Page]) -> Iterator[Page]:
        """The pages of a version's file as they come, which are added to ``pages``."""
        name, total, reported = row.name, 0, 0.0
        with self._stores.files.local(row.sha256) as path:
            items = self._extractor.extract(
                path,
                name=name,
                password=self._passwords.get(job_id),
                cancelled=lambda: self._stopping or self.is_cancelled(job_id),
            )
            for item in items:
                if isinstance(item, DocumentHeader):
                    total = item.page_count
                    continue
                pages.append(item)
                yield item
                if time.monotonic() - reported > REPORT_EVERY_S:
                    reported = time.monotonic()
                    self._stores.jobs.progress(job_id, "reading", len(pages), total)
        if self._stopping:
            raise _Stopped
        if len(pages) < total and not self.is_cancelled(job_id):
            raise ExtractionFailed(f"Reading {name} ended after {len(pages)} of {total} pages. Retry it.")

    def _end(self, job: Job, status: DocumentStatus, reason: str) -> None:
        """End a job whose version comes to nothing."""
        version_id = job.details["version_id"]
        self._passwords.pop(job.job_id, None)
        if version_id:
            self._removal.abandon(version_id, status, reason)
        states = {DocumentStatus.CANCELLED: JobState.CANCELLED, DocumentStatus.FAILED: JobState.FAILED}
        self._stores.jobs.finish(job.job_id, states.get(status, JobState.DONE), status, reason)
        self._notify()

    def _work_ended(self, work: Work) -> None:
        self._passwords.pop(work.job_id, None)
        if work.error:
            self._problems[work.job_id] = work.error
        self._reindexing.work_ended(work)
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _duplicate(self, name: str, document_id: str, twin: str, complete: bool, *, lost: bool = False) -> Job:
        if complete:
            same = "it is in the library already" if twin == name else f"the same content is in the library as {twin}"
        else:
            what = "it is being indexed already" if twin == name else f"the same content is being indexed as {twin}"
            same = f"{what}. If that comes to nothing, add this file again"
        stored = "Its file was missing and is stored again" if lost else "Nothing was stored"
        result = {"result": DocumentStatus.DUPLICATE.value, "reason": f"{stored}: {same}.", "finished_at": now()}
        # Ended from the beginning: the reading thread must not take up what has no version.
        job = self._stores.jobs.add("index", name, document_id=document_id, state=JobState.DONE.value, **result)
        self._notify()
        return job

    def _free_name(self, name: str, collection: str) -> str:
        path = PurePosixPath(name)
        number = 2
        while self._stores.library.find_name(f"{path.stem} ({number}){path.suffix}", collection):
            number += 1
        return f"{path.stem} ({number}){path.suffix}"


class _Stopped(Exception):
    """The process is ending; the job stays as it is and goes on at the next start."""
