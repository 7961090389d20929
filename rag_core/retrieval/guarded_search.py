"""Dense retrieval that goes on without the store of the vectors, if that store does not respond."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError

from rag_core.errors import StoreUnavailable
from rag_core.types import Hit

# Maximum time that a question waits for the store.
SEARCH_WITHIN_S = 2.0
THREADS = 8


class GuardedSearch:
    """Runs searches of one store in separate threads, so that a store that hangs holds up no other work.

    After a search that did not end in time, further searches fail at once until it ends.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="dense")
        self._hanging: Future[list[Hit]] | None = None
        self._lock = threading.Lock()

    def start(self, search: Callable[[], list[Hit]]) -> Future[list[Hit]]:
        """Start a search in the background."""
        with self._lock:
            if self._hanging is not None and not self._hanging.done():
                future: Future[list[Hit]] = Future()
                future.set_exception(StoreUnavailable(f"The vectors do not answer within {SEARCH_WITHIN_S:g} s."))
                return future
            self._hanging = None
            return self._executor.submit(search)

    def wait(self, future: Future[list[Hit]]) -> list[Hit]:
        """Return the hits of a search.

        Raises
        ------
        StoreUnavailable
            The store failed, or did not respond in time.
        """
        try:
            return future.result(SEARCH_WITHIN_S)
        except FutureTimeoutError:
            with self._lock:
                self._hanging = future
            raise StoreUnavailable(f"The vectors do not answer within {SEARCH_WITHIN_S:g} s.") from None

    def close(self) -> None:
        """Stop; a search that hangs is not waited for."""
        self._executor.shutdown(wait=False, cancel_futures=True)
