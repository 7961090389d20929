"""The last step of every task: end its version and its job according to the result, and wake waiting threads."""

from __future__ import annotations

import logging
import queue
import threading
from functools import partial

from rag_core.errors import StoreError
from rag_core.indexing.outages import OutageRetry
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import TaskResult, get_job_state
from rag_core.runtime.stores import Stores
from rag_core.runtime.tracing import add_span
from rag_core.types.documents import DocumentStatus

log = logging.getLogger(__name__)


class TaskCounter:
    """Counts the running tasks, and wakes threads that wait until a task has ended or a job was added."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        # Number of calls of `remove` and `notify` so far.
        self.changes = 0

    @property
    def is_zero(self) -> bool:
        return not self._count

    def add(self) -> None:
        """Count a task that starts."""
        with self._changed:
            self._count += 1

    def remove(self) -> None:
        """Stop counting a task that has ended."""
        with self._changed:
            self._count -= 1
            self._notify()

    def notify(self) -> None:
        with self._changed:
            self._notify()

    def _notify(self) -> None:
        self.changes += 1
        self._changed.notify_all()

    def wait(self, timeout_s: float, seen: int | None = None) -> None:
        """Wait until ``changes`` differs from ``seen``, by default its present value, or until the timeout."""
        with self._changed:
            seen = self.changes if seen is None else seen
            self._changed.wait_for(lambda: self.changes != seen, timeout_s)

    def wait_for_zero(self, stopping: threading.Event) -> None:
        """Wait until all tasks have ended or the process is stopping."""
        with self._changed:
            while self._count and not stopping.is_set():
                self._changed.wait(0.5)


class ResultStage:
    """Reads the results of all stages in a separate thread, and ends their versions and jobs.

    Parameters
    ----------
    stores : Stores
    removal : Removal
    results : queue of TaskResult
        Results to process; ``None`` stops the stage.
    reindexed : queue of TaskResult
        Receives the results of re-index tasks. `Reindexer` reads them and ends the job.
    counter : TaskCounter
        Counts the running tasks.
    passwords : dict of str to str
        Passwords by job id. The password of a job is deleted when the result of the job is processed.
    outages : OutageRetry
    """

    def __init__(
        self,
        stores: Stores,
        removal: Removal,
        results: queue.SimpleQueue[TaskResult | None],
        reindexed: queue.SimpleQueue[TaskResult],
        counter: TaskCounter,
        passwords: dict[str, str],
        outages: OutageRetry,
    ) -> None:
        self._stores = stores
        self._removal = removal
        self._results = results
        self._reindexed = reindexed
        self._counter = counter
        self._passwords = passwords
        self._outages = outages
        # Reasons of failure by job id. The message of a job that is given up after all attempts contains the reason.
        self.problems: dict[str, str] = {}
        # Results of re-index tasks that could not be stored, because a store failed; `retry` tries again.
        self._unended: list[TaskResult] = []
        self._thread = threading.Thread(target=self._run, name="results", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the results that are already in the queue."""
        self._results.put(None)
        self._thread.join()

    def retry(self) -> None:
        """End the versions in ``_unended``; call this method only while no task is running."""
        while self._unended:
            self._end(self._unended[0])
            del self._unended[0]

    def _run(self) -> None:
        while (result := self._results.get()) is not None:
            try:
                self._outages.run([result.task.job_id], partial(self._end, result))
            except Exception as error:  # the queue retries the job when no other task is running
                unexpected = None if isinstance(error, StoreError) else error
                log.warning("the result of %s is not stored yet: %s", result.task.name, error, exc_info=unexpected)
                if result.task.is_reindex:
                    self._unended.append(result)
            if result.task.is_reindex:
                self._reindexed.put(result)
            elif result.status is DocumentStatus.FAILED:
                self.problems[result.task.job_id] = result.reason
            self._counter.remove()
            _trace(result)

    def _end(self, result: TaskResult) -> None:
        task = result.task
        self._passwords.pop(task.job_id, None)
        if result.needs_password:
            self._stores.documents.update_version(task.version_id, needs_password=True)
        if not result.is_published:
            # Ending a version deletes unused embeddings. The publication stage takes the same lock, so that no
            # embedding is deleted before it is linked to a chunk.
            with self._removal.lock:
                self._removal.end_version(task.version_id, result.status, result.reason, keep=not task.activate)
        if not task.is_reindex:
            self._stores.jobs.finish(task.job_id, get_job_state(result.status), result.status, result.reason)


def _trace(result: TaskResult) -> None:
    ids = {"footnote.job_id": result.task.job_id, "footnote.document_id": result.task.document_id}
    counts = {"footnote.chunks": result.chunks, "footnote.embeddings": result.computed}
    add_span("index file", result.task.started_ns, **ids, **counts, **{"footnote.status": result.status.value})
