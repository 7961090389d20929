"""Listing, cancelling and waiting for background jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from rag_core.indexing.queue import IndexingQueue
from rag_core.store.jobs import JobStore
from rag_core.types import Job, JobState

# Poll less often when reading the job table is slow, so that waiting does not slow down indexing.
POLL_SLOWDOWN = 10
# A single slow read, for example of a locked database, must not cause a long pause.
LONGEST_PAUSE_S = 1.0


class Jobs:
    """The jobs that index and re-index documents.

    Parameters
    ----------
    store : JobStore
    indexer : IndexingQueue
        The queue that runs them.
    """

    def __init__(self, store: JobStore, indexer: IndexingQueue) -> None:
        self._store = store
        self._indexer = indexer

    def list(self, active: bool = False, limit: int = 50) -> list[Job]:
        """Return queued, running and ended jobs, newest first; only those that have not ended if ``active``."""
        return self._store.all(active=active, limit=limit)

    def cancel(self, job_id: str) -> None:
        """Cancel a job soon. Its stored data is removed; an earlier version of the document stays."""
        self._indexer.cancel(job_id)

    def wait(self, job_ids: Sequence[str], on_progress: Callable[[Job], None] | None = None) -> Sequence[Job]:
        """Wait until these jobs have ended, and return them in the given order; see `as_completed`."""
        ended = {job.job_id: job for job in self.as_completed(job_ids, on_progress)}
        return [ended[job_id] for job_id in job_ids]

    def as_completed(self, job_ids: Sequence[str], on_progress: Callable[[Job], None] | None = None) -> Iterator[Job]:
        """Yield each of these jobs as soon as it has ended.

        Parameters
        ----------
        job_ids : sequence of str
        on_progress : callable, optional
            Called with each running job a few times a second, and once when it ends.

        Raises
        ------
        UnknownDocument
            A job is no longer listed, because its document was deleted.
        """
        pending = set(job_ids)
        while pending:
            started = time.monotonic()
            states = self._store.states(sorted(pending))
            read_s = time.monotonic() - started
            if gone := pending - states.keys():
                self._store.get(gone.pop())  # raises the error with its message
            for job_id, state in states.items():
                if state is JobState.QUEUED or (state is JobState.RUNNING and on_progress is None):
                    continue
                job = self._store.get(job_id)
                if on_progress is not None:
                    on_progress(job)
                if job.state not in (JobState.QUEUED, JobState.RUNNING):
                    pending.remove(job_id)
                    yield job
            if pending:
                self._indexer.wait_for_change(0.2)
                time.sleep(min(POLL_SLOWDOWN * read_s, LONGEST_PAUSE_S))
