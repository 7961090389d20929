"""Dense retrieval that goes on without the store of the vectors, if that store does not respond."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError

from rag_core.errors import StoreUnavailable
from rag_core.types import Hit

# Maximum time that a question waits for a store on a server, and for one in this process. The latter does not hang, but
# its first search loads a large library, which takes seconds on a busy machine.
SEARCH_WITHIN_S, EMBEDDED_SEARCH_WITHIN_S = 2.0, 30.0


class GuardedSearch:
    """Runs searches of one store in separate threads, so that a store that hangs holds up no other work.

    After a search that did not end in time, further searches fail at once until it ends.

    Parameters
    ----------
    is_embedded : bool
        Whether the store runs in this process.
    """

    def __init__(self, *, is_embedded: bool = False) -> None:
        self._is_embedded = is_embedded
        self._hanging: Future[list[Hit]] | None = None
        self._lock = threading.Lock()

    def start(self, search: Callable[[], list[Hit]]) -> Future[list[Hit]]:
        """Start a search in the background."""
        future: Future[list[Hit]] = Future()
        with self._lock:
            is_hanging = self._hanging is not None and not self._hanging.done()
        if is_hanging:
            future.set_exception(self._timeout())
        else:
            # The thread is a daemon and not one of a pool, which Python would join before the process can end.
            threading.Thread(target=_run, args=(search, future), name="dense", daemon=True).start()
        return future

    def wait(self, future: Future[list[Hit]]) -> list[Hit]:
        """Return the hits of a search.

        Raises
        ------
        StoreUnavailable
            The store failed, or did not respond in time.
        """
        try:
            return future.result(self._limit_s)
        except FutureTimeoutError:
            with self._lock:
                self._hanging = future
            raise self._timeout() from None

    @property
    def _limit_s(self) -> float:
        return EMBEDDED_SEARCH_WITHIN_S if self._is_embedded else SEARCH_WITHIN_S

    def _timeout(self) -> StoreUnavailable:
        return StoreUnavailable(f"The vectors do not answer within {self._limit_s:g} s.")


def _run(search: Callable[[], list[Hit]], future: Future[list[Hit]]) -> None:
    try:
        future.set_result(search())
    except BaseException as error:  # noqa: BLE001 - whoever waits for the result raises it
        future.set_exception(error)
