"""Search a store that may hang, with a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError

from rag_core.errors import StoreUnavailable
from rag_core.types.retrieval import Hit


class GuardedSearch:
    """Runs searches of a store in separate threads with a time limit.

    After a search that exceeded the time limit, further searches fail at once until that search ends.

    Parameters
    ----------
    store : str
        Name of the store, for the error message.
    limit_s : float
        Time limit of a search in seconds.
    """

    def __init__(self, store: str, limit_s: float) -> None:
        self._store = store
        self._limit_s = limit_s
        self._hanging: Future[list[Hit]] | None = None
        self._lock = threading.Lock()

    def start(self, search: Callable[[], list[Hit]]) -> Future[list[Hit]]:
        """Start a search in the background, and return its future for `wait`.

        While an earlier search that exceeded the time limit is still running, ``search`` is not called, and the future
        raises `StoreUnavailable`.
        """
        future: Future[list[Hit]] = Future()
        with self._lock:
            is_hanging = self._hanging is not None and not self._hanging.done()
        if is_hanging:
            future.set_exception(self._create_timeout_error())
        else:
            # A daemon thread does not prevent the process from ending, unlike a thread of a pool.
            threading.Thread(target=_run, args=(search, future), name="search", daemon=True).start()
        return future

    def wait(self, future: Future[list[Hit]]) -> list[Hit]:
        """Return the hits of a search when it has ended. An error of the search is raised again.

        Raises
        ------
        StoreUnavailable
            The store did not answer within the time limit, or the search raised this error.
        """
        try:
            return future.result(self._limit_s)
        except FutureTimeoutError:
            with self._lock:
                self._hanging = future
            raise self._create_timeout_error() from None

    def _create_timeout_error(self) -> StoreUnavailable:
        return StoreUnavailable(f"The {self._store} do not answer within {self._limit_s:g} s.")


def _run(search: Callable[[], list[Hit]], future: Future[list[Hit]]) -> None:
    try:
        future.set_result(search())
    except BaseException as error:  # noqa: BLE001 - whoever waits for the result raises it
        future.set_exception(error)
