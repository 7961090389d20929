"""Repeat steps of indexing that failed because a server did not answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from typing import TypeVar

from rag_core.errors import ServerUnavailable
from rag_core.store.jobs import JobStore

log = logging.getLogger(__name__)
T = TypeVar("T")
# First and longest pause between two attempts, in seconds. Each pause is twice as long as the one before.
FIRST_PAUSE_S, MAX_PAUSE_S = 0.5, 30.0
_POLL_S = 0.1


class OutageRetry:
    """Runs steps of jobs, and repeats each step as long as a server does not answer.

    Parameters
    ----------
    jobs : JobStore
    cancelled : set of str
        Ids of cancelled jobs.
    stopping : Event
        Set when the process ends.
    """

    def __init__(self, jobs: JobStore, cancelled: Set[str], stopping: threading.Event) -> None:
        self._jobs = jobs
        self._cancelled = cancelled
        self._stopping = stopping

    def run(self, job_ids: Sequence[str], work: Callable[[], T]) -> T:
        """Call ``work`` until it does not raise `ServerUnavailable`, and return its result.

        Between the calls, the jobs say which server they wait for.

        Raises
        ------
        ServerUnavailable
            A server does not answer, and all jobs were cancelled or the process is stopping.
        """
        pause_s, has_waited = FIRST_PAUSE_S, False
        while True:
            try:
                result = work()
            except ServerUnavailable as error:
                if self._is_over(job_ids):
                    raise
                log.warning("%s", error)
                self._report(job_ids, f"Waiting for {error.server}, which does not answer.")
                self._pause(job_ids, pause_s)
                pause_s, has_waited = min(2 * pause_s, MAX_PAUSE_S), True
                if self._is_over(job_ids):
                    raise
            else:
                if has_waited:
                    self._report(job_ids, "")
                return result

    def _is_over(self, job_ids: Sequence[str]) -> bool:
        return self._stopping.is_set() or all(job_id in self._cancelled for job_id in job_ids)

    def _pause(self, job_ids: Sequence[str], seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._is_over(job_ids):
            self._stopping.wait(_POLL_S)

    def _report(self, job_ids: Sequence[str], reason: str) -> None:
        # The server that does not answer may be the database.
        with suppress(ServerUnavailable):
            for job_id in job_ids:
                self._jobs.set_reason(job_id, reason)
