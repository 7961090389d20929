"""The thread pool for searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from rag_core.errors import StoreUnavailable
from rag_core.system import available_cores

# A question runs up to three searches at a time, and other questions must not wait for one that hangs.
LEAST_THREADS = 4

T = TypeVar("T")
P = ParamSpec("P")


class SearchPool:
    """One pool of threads for all questions."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max(LEAST_THREADS, available_cores()), thread_name_prefix="search")

    @contextmanager
    def tasks(self) -> Iterator[SearchTasks]:
        """Provide the tasks of one question; if the block raises, cancel the tasks or wait for them."""
        tasks = SearchTasks(self._executor)
        try:
            yield tasks
        except BaseException:
            tasks.cancel()
            raise

    def shutdown(self) -> None:
        """Wait for running tasks and cancel the others."""
        self._executor.shutdown(cancel_futures=True)


class SearchTasks(Executor):
    """The tasks of one question."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self._executor = executor
        self._futures: list[Future[object]] = []

    def submit(self, task: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a task.

        Raises
        ------
        StoreUnavailable
            The application is closing.
        """
        try:
            future = self._executor.submit(task, *args, **kwargs)
        except RuntimeError as error:
            raise StoreUnavailable("Footnote is closing and cannot search. Start it again.") from error
        self._futures.append(future)  # type: ignore[arg-type]
        return future

    def cancel(self) -> None:
        """Cancel tasks that have not started, and wait for the others."""
        wait([future for future in self._futures if not future.cancel()])
