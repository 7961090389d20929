"""The end of every task: the version and the job end as the result says, and waiting threads wake."""

from __future__ import annotations

import logging
import queue
import threading

from rag_core.indexing.removal import Removal
from rag_core.indexing.task import TaskResult, job_state
from rag_core.runtime.stores import Stores
from rag_core.types import DocumentStatus

log = logging.getLogger(__name__)


class TaskCounter:
    """Counts the tasks that were begun and have not ended, and wakes the threads that wait for a change."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    @property
    def is_zero(self) -> bool:
        return not self._count

    def add(self) -> None:
        """Count a task that begins."""
        with self._changed:
            self._count += 1

    def remove(self) -> None:
        """Take off a task that has ended."""
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def wait(self, timeout_s: float) -> None:
        """Wait until something has changed, or the time is over."""
        with self._changed:
            self._changed.wait(timeout_s)

    def wait_for_zero(self, stopping: threading.Event) -> None:
        """Wait until every task has ended, or the process is stopping."""
        with self._changed:
            while self._count and not stopping.is_set():
                self._changed.wait(0.5)


class ResultStage:
    """Read the results of all stages, in a separate thread, and end their versions and jobs.

    Parameters
    ----------
    stores : Stores
    removal : Removal
    results : queue of TaskResult
        What to end; ``None`` ends the stage.
    reindexed : queue of TaskResult
        Receives the results of a re-index, which ends its job itself.
    counter : TaskCounter
        What each task is taken off once it has ended.
    passwords : dict of str to str
        By job; the password of a job is removed with its result.
    """

    def __init__(
        self,
        stores: Stores,
        removal: Removal,
        results: queue.SimpleQueue[TaskResult | None],
        reindexed: queue.SimpleQueue[TaskResult],
        counter: TaskCounter,
        passwords: dict[str, str],
    ) -> None:
        self._stores = stores
        self._removal = removal
        self._results = results
        self._reindexed = reindexed
        self._counter = counter
        self._passwords = passwords
        # By job: why it failed, for the message of a job that is given up because its end could not be stored.
        self.problems: dict[str, str] = {}
        self._thread = threading.Thread(target=self._run, name="results", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the results so far."""
        self._results.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (result := self._results.get()) is not None:
            try:
                self._end(result)
            except Exception:  # the queue sees to its job once nothing else is in flight
                log.exception("%s could not be ended", result.task.name)
            if result.task.is_reindex:
                self._reindexed.put(result)
            elif result.status is DocumentStatus.FAILED:
                self.problems[result.task.job_id] = result.reason
            self._counter.remove()

    def _end(self, result: TaskResult) -> None:
        task = result.task
        self._passwords.pop(task.job_id, None)
        if result.needs_password:
            self._stores.library.update_version(task.version_id, needs_password=True)
        if not result.is_published:
            # The publication stage must not lose a vector between looking it up and linking it.
            with self._removal.lock:
                self._removal.end_version(task.version_id, result.status, result.reason, keep=not task.activate)
        if not task.is_reindex:
            self._stores.jobs.finish(task.job_id, job_state(result.status), result.status, result.reason)
