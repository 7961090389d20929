"""The thread pool that all searches share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from rag_core.errors import StoreUnavailable
from rag_core.system import count_available_cores

# Minimum number of threads. A question runs up to three searches at a time. If these hang, one thread is left for other
# questions.
MIN_THREADS = 4

T = TypeVar("T")
P = ParamSpec("P")


class SearchPool:
    """A pool of threads that runs the searches of all questions."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max(MIN_THREADS, count_available_cores()), thread_name_prefix="search")

    @contextmanager
    def open_tasks(self) -> Iterator[SearchTasks]:
        """Yield the executor for the tasks of one question.

        If the ``with`` block raises an error, tasks that have not started are cancelled, and the error is raised after
        the running tasks have ended.
        """
        tasks = SearchTasks(self._executor)
        try:
            yield tasks
        except BaseException:
            tasks.cancel()
            raise

    def close(self) -> None:
        """Cancel tasks that have not started, and wait until the running tasks have ended."""
        self._executor.shutdown(cancel_futures=True)


class SearchTasks(Executor):
    """An executor that starts the tasks of one question and can cancel all of them together."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self._executor = executor
        self._futures: list[Future[object]] = []

    def submit(self, task: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a task in the pool, and return its future.

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
        """Cancel tasks that have not started, and wait until the running tasks have ended."""
        wait([future for future in self._futures if not future.cancel()])
