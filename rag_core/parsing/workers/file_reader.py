"""One reader of one file: the pages asked of it, and the worker that takes the place of one that was lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rag_core.parsing.workers.process import WorkerDiedError, WorkerPool, WorkerProcess, WorkerTimedOutError

OPEN_TIMEOUT_S = 60.0
_CLOSE_TIMEOUT_S = 5.0


class FileReader:
    """Reads pages of a file in the order in which they are asked for.

    Parameters
    ----------
    pool : WorkerPool
    opening : dict
        The request that opens the file.
    page_timeout_s : float
    cancelled : callable
        Asked several times a second while an answer is waited for; once it says so, `ReadCancelledError` is raised.

    Attributes
    ----------
    recognised : bool
        Set by the owner once a page went through text recognition.
    """

    def __init__(
        self, pool: WorkerPool, opening: dict[str, Any], page_timeout_s: float, cancelled: Callable[[], bool]
    ) -> None:
        self.recognised = False
        self._pool = pool
        self._opening = opening
        self._page_timeout_s = page_timeout_s
        self._cancelled = cancelled
        self._worker: WorkerProcess | None = None
        self._is_opening = False
        self._able = True
        self._asked: deque[int] = deque()

    @property
    def waiting(self) -> int:
        """Pages asked for and not received."""
        return len(self._asked)

    def begin(self) -> None:
        """Have a worker open the file, and read what it is asked for from then on; nothing is waited for."""
        self._worker = self._pool.acquire()
        self._is_opening = True
        self._worker.send(self._opening)
        for index in self._asked:
            self._send(index)

    def opened(self) -> dict[str, Any]:
        """What a worker says of the file, which may be an error; waited for.

        Raises
        ------
        WorkerDiedError, WorkerTimedOutError
        """
        if self._worker is None:
            self.begin()
        answer = self._receive(OPEN_TIMEOUT_S)
        self._is_opening = False
        return answer

    def ready(self) -> bool:
        """Whether pages may be asked for: not while the file is being opened, nor where that came to nothing."""
        if self._worker is not None and self._is_opening:
            if not self._worker.has_answered:
                return False
            try:
                self._able = "error" not in self.opened()
            except (WorkerDiedError, WorkerTimedOutError):
                self._able = False
        return self._able

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send anything but the request for a page, and wait for its answer; raises as `opened` does."""
        assert self._worker is not None
        self._worker.send(request)
        return self._receive(timeout_s)

    def request(self, index: int) -> None:
        """Ask for a page."""
        self._asked.append(index)
        if self._worker is not None:
            self._send(index)

    def receive(self) -> dict[str, Any]:
        """The answer for the page asked for first.

        Raises
        ------
        WorkerDiedError, WorkerTimedOutError
            The page is lost; those asked for after it are not.
        """
        try:
            if self._worker is None:
                self._open_again()
            return self._receive(self._page_timeout_s)
        finally:
            self._asked.popleft()

    def close(self) -> None:
        """Give the worker back to the pool, or end it."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if self._asked:
            worker.kill()
        elif self.recognised:
            worker.close()  # text recognition keeps half a gigabyte that an idle worker has no use for
        elif worker.alive:
            try:
                if self._is_opening:
                    worker.receive(_CLOSE_TIMEOUT_S, _never)
                worker.ask({"do": "close"}, _CLOSE_TIMEOUT_S)
            except (WorkerDiedError, WorkerTimedOutError):  # whatever it died of, it is no longer needed
                pass
        self._pool.release(worker)

    def _open_again(self) -> None:
        answer = self.opened()
        if "error" in answer and self._worker is not None:
            self._worker.kill()
            self._lose()
            raise WorkerDiedError(f"the file could not be opened again ({answer['error']}: {answer['detail']})")

    def _send(self, index: int) -> None:
        assert self._worker is not None
        self._worker.send({"do": "page", "index": index})

    def _receive(self, timeout_s: float) -> dict[str, Any]:
        assert self._worker is not None
        try:
            return self._worker.receive(timeout_s, self._cancelled)
        except (WorkerDiedError, WorkerTimedOutError):
            self._lose()
            raise

    def _lose(self) -> None:
        self._worker, self._is_opening = None, False


def _never() -> bool:
    return False
