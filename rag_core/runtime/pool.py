"""The threads that search beside the one that a question came in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from rag_core.errors import StoreUnavailable
from rag_core.system import available_cores

# Threads at least: a question has up to three searches at a time, and others must not wait for one that hangs.
LEAST_THREADS = 4

T = TypeVar("T")
P = ParamSpec("P")


class SearchPool:
    """One pool of threads for all questions."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max(LEAST_THREADS, available_cores()), thread_name_prefix="search")

    @contextmanager
    def tasks(self) -> Iterator[SearchTasks]:
        """Run the tasks of one question; if one fails, the others are cancelled or waited for."""
        tasks = SearchTasks(self._executor)
        try:
            yield tasks
        except BaseException:
            tasks.cancel()
            raise

    def shutdown(self) -> None:
        """Wait for what runs, and start nothing more."""
        self._executor.shutdown(cancel_futures=True)


class SearchTasks(Executor):
    """The tasks of one question."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self._executor = executor
        self._futures: list[Future[object]] = []

    def submit(self, task: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Begin a task.

        Raises
        ------
        StoreUnavailable
            The application is closing.
        """
        try:
            future = self._executor.submit(task, *args, **kwargs)
        except RuntimeError as error:
            raise StoreUnavailable("Footnote is closing, so it searches no more. Start it again.") from error
        self._futures.append(future)  # type: ignore[arg-type]
        return future

    def cancel(self) -> None:
        """Cancel what has not begun, and wait for the rest."""
        wait([future for future in self._futures if not future.cancel()])
