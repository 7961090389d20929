"""Read pages of one file with one worker process, and replace the worker if it dies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rag_core.parsing.workers.process import WorkerDiedError, WorkerPool, WorkerProcess, WorkerTimedOutError

OPEN_TIMEOUT_S = 60.0
_CLOSE_TIMEOUT_S = 5.0


class FileReader:
    """Read pages of a file in the order of the requests.

    Parameters
    ----------
    pool : WorkerPool
    opening : dict
        The request that opens the file.
    page_timeout_s : float
    cancelled : callable
        Called several times a second while waiting for an answer. As soon as it returns true, `ReadCancelledError` is
        raised.

    Attributes
    ----------
    recognized : bool
        Whether text recognition has read a page of the file. The caller sets it.
    """

    def __init__(
        self, pool: WorkerPool, opening: dict[str, Any], page_timeout_s: float, cancelled: Callable[[], bool]
    ) -> None:
        self.recognized = False
        self._pool = pool
        self._opening = opening
        self._page_timeout_s = page_timeout_s
        self._cancelled = cancelled
        self._worker: WorkerProcess | None = None
        self._is_opening = False
        self._can_read = True
        self._requested: deque[int] = deque()

    @property
    def pending_count(self) -> int:
        """Number of pages that are requested and not yet received."""
        return len(self._requested)

    def start(self) -> None:
        """Send the opening request and all pending page requests to a worker, without waiting for answers."""
        self._worker = self._pool.acquire()
        self._is_opening = True
        self._worker.send(self._opening)
        for index in self._requested:
            self._send(index)

    def wait_until_open(self) -> dict[str, Any]:
        """Wait for the answer to the opening request, and return the answer, which may report an error.

        Raises
        ------
        WorkerDiedError, WorkerTimedOutError, ReadCancelledError
        """
        if self._worker is None:
            self.start()
        answer = self._receive(OPEN_TIMEOUT_S)
        self._is_opening = False
        return answer

    def can_request(self) -> bool:
        """Return whether pages may be requested.

        False while the worker has not answered the opening request, and for good if the file cannot be opened.
        """
        if self._worker is not None and self._is_opening:
            if not self._worker.has_answered:
                return False
            try:
                self._can_read = "error" not in self.wait_until_open()
            except (WorkerDiedError, WorkerTimedOutError):
                self._can_read = False
        return self._can_read

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a request for anything other than a page, and return the answer; see `wait_until_open` for errors.

        No page request may be pending. If the worker has ended, another one opens the file.
        """
        if self._worker is None:
            self._open_again()
        assert self._worker is not None
        self._worker.send(request)
        return self._receive(timeout_s)

    def request(self, index: int) -> None:
        """Request a page. Without a worker, the request is sent when `receive` starts one."""
        self._requested.append(index)
        if self._worker is not None:
            self._send(index)

    def receive(self) -> dict[str, Any]:
        """Wait for the answer to the oldest pending page request, and return the answer.

        Raises
        ------
        WorkerDiedError, WorkerTimedOutError
            The requested page is lost. The pages that were requested later can still be received.
        ReadCancelledError
        """
        try:
            if self._worker is None:
                self._open_again()
            return self._receive(self._page_timeout_s)
        finally:
            self._requested.popleft()

    def close(self) -> None:
        """Return the worker to the pool, or end it if it is busy or has loaded text recognition."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if self._requested:
            worker.kill()
        elif self.recognized:
            worker.close()  # an idle worker would keep the memory of text recognition
        elif worker.alive:
            try:
                if self._is_opening:
                    worker.receive(_CLOSE_TIMEOUT_S)
                worker.ask({"do": "close"}, _CLOSE_TIMEOUT_S)
            except (WorkerDiedError, WorkerTimedOutError):  # all requested pages have been received
                pass
        self._pool.release(worker)

    def _open_again(self) -> None:
        answer = self.wait_until_open()
        if "error" in answer and self._worker is not None:
            self._worker.kill()
            self._drop_worker()
            raise WorkerDiedError(f"the file could not be opened again ({answer['error']}: {answer['detail']})")

    def _send(self, index: int) -> None:
        assert self._worker is not None
        self._worker.send({"do": "page", "index": index})

    def _receive(self, timeout_s: float) -> dict[str, Any]:
        assert self._worker is not None
        try:
            return self._worker.receive(timeout_s, self._cancelled)
        except (WorkerDiedError, WorkerTimedOutError):
            self._drop_worker()
            raise

    def _drop_worker(self) -> None:
        self._worker, self._is_opening = None, False
