"""The indexing queue, which runs the jobs that index and re-index files.

    files, re-index → parsing → embedding queue → embedding → publication queue → publication
                         ↓                            ↓                                ↓
                         └──────────────────── result queue ← ─────────────────────────┘

Parsing, embedding, publication and the processing of results run in one thread each.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from rag_core.errors import RagError, ServerUnavailable, StoreError
from rag_core.indexing.embedding_stage import EmbeddingStage
from rag_core.indexing.parsing_stage import ParsingStage
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.publication import PublicationStage
from rag_core.indexing.recovery import KEPT_JOBS, finish_removals, resume_jobs
from rag_core.indexing.reindexing import Reindexer
from rag_core.indexing.results import ResultStage
from rag_core.indexing.submission import Submission
from rag_core.indexing.task import (
    CANCELLED,
    NOT_STARTED,
    IndexingTask,
    get_job_state,
)
from rag_core.store.database import now
from rag_core.types.documents import DocumentStatus
from rag_core.types.formatting import format_count
from rag_core.types.jobs import Job, JobState

log = logging.getLogger(__name__)
# A job fails after this many attempts. After as many failed attempts to read or change the stored jobs, the queue
# reports the failure to users and tries again less often.
MAX_ATTEMPTS = 3
# A queued file is processed between two pages of another file if the other file has at least this many times the bytes.
MIN_SIZE_RATIO = 2
# Number of queued files that one query reads. The number is small, so that a small file that is added now is read soon.
FILES_AT_ONCE = 20
# Seconds between two deletions of old ended jobs.
PRUNE_JOBS_EVERY_S = 3600.0
# Seconds between two attempts of the queue, before and after it has reported a failure.
PAUSE_S, STOPPED_PAUSE_S = 1.0, 10.0
# Seconds between two attempts to remove deleted and replaced data that is still stored.
REMOVE_EVERY_S = 10.0
# Ended jobs are kept for at least this time, so that threads that wait for a job can read its result.
KEEP_ENDED_FOR = timedelta(days=1)


class IndexingQueue:
    """Runs indexing and re-indexing jobs through all stages.

    The jobs are stored in the database, so that unfinished jobs continue after a restart. ``submission`` adds jobs.

    Parameters
    ----------
    pipeline : Pipeline
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._stores = pipeline.stores
        self._removal = pipeline.removal
        self.submission = Submission(pipeline)
        self._parsing = ParsingStage(pipeline, self.submission, self._run_smaller_file)
        self._embedding = EmbeddingStage(pipeline)
        self._publication = PublicationStage(pipeline)
        self._reindexer = Reindexer(pipeline)
        self._result_stage = ResultStage(pipeline)
        # Queued jobs that were read from the database.
        self._pending_jobs: deque[Job] = deque()
        # The tasks of the running re-index.
        self._reindex: Iterator[IndexingTask | None] | None = None
        self._reindex_had_turn = False
        # Whether a smaller file is being processed between two pages of a larger one.
        self._is_nested = False
        # Number of attempts by job id. The entry of a job is removed when the job has ended.
        self._attempts: Counter[str] = Counter()
        # A message for users while the queue cannot go on; otherwise empty.
        self.problem = ""
        self._jobs_pruned_at = self._removals_checked_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="indexing", daemon=True)

    def start(self) -> None:
        """Start the threads that run queued jobs."""
        self._result_stage.start()
        self._publication.start()
        self._embedding.start()
        self._thread.start()

    def warm_up(self) -> None:
        """Start the parser's worker processes, so that the first file does not wait for them."""
        self._parsing.warm_up()

    def stop(self) -> None:
        """Stop all stages, from the first to the last. Unfinished jobs continue when the application starts again."""
        self._pipeline.stopping.set()
        self._pipeline.running.notify()
        self._thread.join()
        self._embedding.stop()
        self._publication.stop()
        self._result_stage.stop()
        self._parsing.close()

    def reindex(self, document_ids: Sequence[str] | None, **changes: object) -> Job:
        """Queue a re-index with changed settings; see `Index.rebuild`."""
        name = "All documents" if document_ids is None else format_count(len(document_ids), "document")
        return self._add_reindex(name, None if document_ids is None else list(document_ids), changes)

    def index_snapshots(self) -> Job:
        """Queue the indexing of content that snapshots contain and the index does not."""
        return self._add_reindex("Snapshots", None, {}, snapshots=True)

    def _add_reindex(
        self, name: str, document_ids: list[str] | None, changes: Mapping[str, object], **details: object
    ) -> Job:
        details |= {"document_ids": document_ids, "changes": changes}
        job = self._stores.jobs.add("reindex", name, details=details)
        self._pipeline.running.notify()
        return job

    def cancel(self, job_id: str) -> None:
        """Cancel a job; do nothing if it has ended."""
        job = self._stores.jobs.get(job_id)
        if job.state is JobState.QUEUED and self._stores.jobs.start(job_id):
            reason = CANCELLED if job.kind == "index" else NOT_STARTED
            try:
                self._end_job(job_id, job.details["version_id"], DocumentStatus.CANCELLED, reason)
            except StoreError:
                # The job is marked as running, but no thread runs it. These two entries make the queue end the job as
                # soon as the store works again.
                self._pipeline.cancelled.add(job_id)
                self._attempts[job_id] = 0
                raise
        elif job.state in (JobState.QUEUED, JobState.RUNNING):
            self._pipeline.cancelled.add(job_id)
        else:
            return
        self._pipeline.running.notify()

    def is_cancelled(self, job_id: str) -> bool:
        """Return whether a job was cancelled while it ran."""
        return job_id in self._pipeline.cancelled

    def wake(self) -> None:
        """Clear `problem`, and let a queue that waits after failed attempts try again at once."""
        self.problem = ""
        self._pipeline.running.notify()

    @property
    def changes(self) -> int:
        """Number of changes so far, such as a job that was added or a task that has ended."""
        return self._pipeline.running.changes

    def wait_for_change(self, timeout_s: float, seen: int | None = None) -> None:
        """Wait until `changes` differs from ``seen``, by default its present value, or until the timeout."""
        self._pipeline.running.wait(timeout_s, seen)

    def drain(self) -> None:
        """Wait until all tasks have ended or the process is stopping."""
        self._pipeline.running.wait_for_zero(self._pipeline.stopping)

    # methods of the thread that chooses tasks and parses them

    def _run(self) -> None:
        failures = 0
        while not self._pipeline.stopping.is_set():
            try:
                self._run_next_task()
                failures, self.problem = 0, ""
            except ServerUnavailable as error:
                log.warning("the indexing queue waits: %s", error)
                # Attempts that an outage interrupts do not count.
                self._attempts = Counter(dict.fromkeys(self._attempts, 0))
                self.wait_for_change(PAUSE_S)
            except Exception as error:  # for example, the database failed; the next attempt may succeed
                failures += 1
                if failures == 1 and not isinstance(error, StoreError):
                    log.exception("the indexing queue failed")
                if failures >= MAX_ATTEMPTS:
                    self.problem = _describe_failure(error)
                self.wait_for_change(PAUSE_S if failures < MAX_ATTEMPTS else STOPPED_PAUSE_S)

    def _run_next_task(self) -> None:
        """Parse the next task: a queued file, or else a document of the running re-index.

        Queued files are read from the database in batches. Between two batches, one task of the re-index runs, so that
        a re-index progresses and can be cancelled while users keep adding files.
        """
        # Read the number of changes before the jobs: if a job is added after its query, the wait below ends at once.
        seen = self.changes
        task = None
        if self._pending_jobs or self._reindex is None or self._reindex_had_turn:
            task = self._next_file_task()
            self._reindex_had_turn = False
        if task is None:
            self._reindex = self._reindex or self._start_reindex()
            if self._reindex is None:
                if self._pipeline.running.is_zero and self._retry_and_clean():
                    seen += 1  # `_retry_and_clean` notified the waiting threads
                self.wait_for_change(PAUSE_S, seen)
                return
            task = self._next_reindex_task(self._reindex)
            self._reindex_had_turn = True
        if task is not None:
            self._parse(task)

    def _parse(self, task: IndexingTask) -> None:
        self._pipeline.running.add()
        self._parsing.run(task)

    def _next_file_task(self) -> IndexingTask | None:
        if not self._pending_jobs:
            smallest = self._stores.jobs.queued("index", smallest_first=True, limit=FILES_AT_ONCE)
            oldest = self._stores.jobs.queued("index", limit=1)
            # Include the oldest job, so that a large file does not wait for ever.
            self._pending_jobs.extend({one.job_id: one for one in [*smallest, *oldest]}.values())
        while self._pending_jobs:
            # Remove a job only after the database has marked it as running. If the database fails, the job stays first.
            task = self._start_file(self._pending_jobs[0])
            self._pending_jobs.popleft()
            if task is not None:
                return task
        return None

    def _start_file(self, job: Job) -> IndexingTask | None:
        """Start a job and return its task; ``None`` if the job was cancelled meanwhile."""
        # Add the entry before the job starts: if the database marks the job as running but its response is lost, the
        # queue finds the entry and queues the job again.
        self._attempts[job.job_id] += 0
        if not self._stores.jobs.start(job.job_id):
            return None
        self._attempts[job.job_id] += 1
        return IndexingTask(
            job.job_id,
            job.details["version_id"],
            job.document_id or "",
            job.name,
            is_indexed_again=bool(job.details.get("reread")),
            password=self._pipeline.passwords.get(job.job_id),
            ocr=job.details.get("ocr"),
            is_separate=bool(job.details.get("separate")),
        )

    def _run_smaller_file(self, task: IndexingTask) -> None:
        """Parse the smallest queued file of another document, if it is much smaller than the file of ``task``."""
        if task.is_reindex or self._is_nested:
            return
        queued = self._stores.jobs.queued("index", smallest_first=True, limit=FILES_AT_ONCE)
        job = next((one for one in queued if one.document_id != task.document_id), None)
        if job is None:
            return
        version = self._stores.documents.version
        row, other = version(task.version_id), version(job.details["version_id"])
        if row is None or other is None or other.size * MIN_SIZE_RATIO > row.size:
            return
        smaller = self._start_file(job)
        if smaller is not None:
            self._is_nested = True
            try:
                self._parse(smaller)
            finally:
                self._is_nested = False

    def _start_reindex(self) -> Iterator[IndexingTask | None] | None:
        """Start the oldest queued re-index and return its tasks; ``None`` if none is queued or it was cancelled."""
        queued = self._stores.jobs.queued("reindex")
        if queued and self._stores.jobs.start(queued[0].job_id):
            self._attempts[queued[0].job_id] += 1
            return self._reindexer.run(queued[0])
        return None

    def _next_reindex_task(self, tasks: Iterator[IndexingTask | None]) -> IndexingTask | None:
        """Return the next task of the running re-index; ``None`` if the re-index has ended."""
        self._reindex = None
        for task in tasks:
            if task is not None:
                self._reindex = tasks
                return task
            self.drain()  # no file may start before the re-index continues; see `Reindexer.run`
        self._pipeline.running.notify()
        return None

    def _retry_and_clean(self) -> bool:
        """Retry jobs and removals that a failed store interrupted, and delete old jobs.

        Call this method only while no task runs. Return whether jobs were retried, in which case the waiting threads
        were woken.
        """
        jobs, problems = self._stores.jobs, self._result_stage.problems
        has_attempts = bool(self._attempts)
        self._result_stage.retry()
        if has_attempts:
            given_up = {
                job_id: f"Failed after {attempts} attempts. {problems.get(job_id, 'A store failed each time.')}"
                for job_id, attempts in list(self._attempts.items())
                if attempts >= MAX_ATTEMPTS
            }
            job_ids = list(self._attempts)
            resume_jobs(self._stores, self._removal, job_ids, given_up)
            states = jobs.states(job_ids)
            for job_id in job_ids:
                if states.get(job_id) is not JobState.QUEUED:
                    del self._attempts[job_id]
            for job_id in problems.keys() - self._attempts.keys():
                del problems[job_id]
            self._pipeline.running.notify()
        if time.monotonic() - self._removals_checked_at > REMOVE_EVERY_S:
            finish_removals(self._stores, self._removal)
            self._removals_checked_at = time.monotonic()
        if time.monotonic() - self._jobs_pruned_at > PRUNE_JOBS_EVERY_S:
            self._jobs_pruned_at = time.monotonic()
            jobs.remove_ended(KEPT_JOBS, ended_before=now() - KEEP_ENDED_FOR)
        return has_attempts

    def _end_job(self, job_id: str, version_id: str | None, status: DocumentStatus, reason: str) -> None:
        """End a job that no stage has started to process."""
        self._pipeline.passwords.pop(job_id, None)
        if version_id:
            # Ending a version deletes unused embeddings. Publication takes the same lock, so that no embedding is
            # deleted before publication links it to a chunk.
            with self._removal.lock:
                self._removal.end_version(version_id, status, reason)
        self._stores.jobs.finish(job_id, get_job_state(status), status, reason)


def _describe_failure(error: Exception) -> str:
    reason = str(error) if isinstance(error, RagError) else "An internal error occurred; the log has the details."
    return (
        f"Indexing waits, because {MAX_ATTEMPTS} attempts have failed. {reason} Queued files stay queued: Footnote "
        "tries again every few seconds while it runs, and the command add --resume waits for them."
    )
