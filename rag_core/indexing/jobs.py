"""List, cancel and wait for background jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from rag_core.errors import IndexingStopped
from rag_core.indexing.queue import IndexingQueue
from rag_core.store.jobs import JobStore
from rag_core.types.jobs import Job, JobState

# Ratio of the pause after a read of the job table to the duration of the read. A slow table is read less often, so that
# waiting threads do not slow down indexing.
PAUSE_RATIO = 10
# Maximum pause in seconds. A single read can be slow, for example because the database is locked.
MAX_PAUSE_S = 1.0


class Jobs:
    """The jobs that index and re-index documents.

    Parameters
    ----------
    store : JobStore
    indexer : IndexingQueue
        The queue that runs the jobs.
    """

    def __init__(self, store: JobStore, indexer: IndexingQueue) -> None:
        self._store = store
        self._indexer = indexer

    @property
    def problem(self) -> str:
        """Why the queue cannot go on, for example because the disk is full, and what to do; empty if it works."""
        return self._indexer.problem

    def list(self, active: bool = False, limit: int | None = 50) -> list[Job]:
        """Return the newest ``limit`` jobs, or all jobs if ``limit`` is ``None``, newest first.

        If ``active`` is true, only queued and running jobs are considered.
        """
        return self._store.all(active=active, limit=limit)

    def get(self, job_id: str) -> Job:
        """Return a job; raise `UnknownDocument` if it is no longer listed."""
        return self._store.get(job_id)

    def cancel(self, job_id: str) -> None:
        """Cancel a job. A running job ends soon, but not at once.

        The data that the job has stored is removed. An earlier version of the document stays.
        """
        self._indexer.cancel(job_id)

    def wait(self, job_ids: Sequence[str], on_progress: Callable[[Job], None] | None = None) -> Sequence[Job]:
        """Wait until these jobs have ended, and return them in the given order; see `as_completed`."""
        ended = {job.job_id: job for job in self.as_completed(job_ids, on_progress)}
        return [ended[job_id] for job_id in job_ids]

    def as_completed(self, job_ids: Sequence[str], on_progress: Callable[[Job], None] | None = None) -> Iterator[Job]:
        """Yield each of these jobs as soon as the job has ended.

        Parameters
        ----------
        job_ids : sequence of str
        on_progress : callable, optional
            Called with each running job a few times a second, and with each job that has ended.

        Raises
        ------
        UnknownDocument
            A job is no longer listed, because its document was deleted.
        IndexingStopped
            The queue cannot go on; see `problem`.
        """
        pending = set(job_ids)
        self._indexer.wake()
        while pending:
            seen = self._indexer.changes
            started = time.monotonic()
            states = self._store.states(sorted(pending))
            read_s = time.monotonic() - started
            if gone := pending - states.keys():
                self._store.get(gone.pop())  # raises `UnknownDocument`
            for job_id, state in states.items():
                if state is JobState.QUEUED or (state is JobState.RUNNING and on_progress is None):
                    continue
                job = self._store.get(job_id)
                if on_progress is not None:
                    on_progress(job)
                if job.state not in (JobState.QUEUED, JobState.RUNNING):
                    pending.remove(job_id)
                    yield job
            if pending and self.problem:
                raise IndexingStopped(self.problem)
            if pending:
                self._indexer.wait_for_change(0.2, seen)
                time.sleep(min(PAUSE_RATIO * read_s, MAX_PAUSE_S))
