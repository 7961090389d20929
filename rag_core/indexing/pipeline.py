"""The objects that all stages of indexing share: queues, cancelled jobs, and the number of running tasks."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from rag_core.indexing.outages import OutageRetry
from rag_core.indexing.pace import EmbeddingPace
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import EmbeddingQueue, PublicationTask, TaskResult
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types.documents import VersionRow


class Pipeline:
    """The shared objects of the stages that a file passes through.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    generations : IndexGenerations
    removal : Removal
    describe_figures : callable
        See `FigureDescriber.request`.

    Attributes
    ----------
    chunked : EmbeddingQueue
        Tasks whose chunks are stored, for the embedding stage.
    embedded : queue of PublicationTask
        Tasks whose embeddings are stored, for the publication stage. ``None`` stops that stage.
    results : queue of TaskResult
        Results of all stages, for the result stage. ``None`` stops that stage.
    reindexed : queue of TaskResult
        Results of re-index tasks, for `Reindexer`.
    running : TaskCounter
        Counts the tasks between their start and the processing of their result.
    cancelled : set of str
        Ids of jobs that were cancelled while they ran. Each stage drops the tasks of these jobs.
    stopping : Event
        Set when the process ends. Unfinished jobs continue when the application starts again.
    passwords : dict of str to str
        Passwords of encrypted files by job id. They are never stored, so users must enter them again after a restart.
    pace : EmbeddingPace
    outages : OutageRetry
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        generations: IndexGenerations,
        removal: Removal,
        describe_figures: Callable[[VersionRow], object],
    ) -> None:
        self.settings = settings
        self.stores = stores
        self.generations = generations
        self.removal = removal
        self.describe_figures = describe_figures
        self.chunked = EmbeddingQueue()
        self.embedded: queue.SimpleQueue[PublicationTask | None] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[TaskResult | None] = queue.SimpleQueue()
        self.reindexed: queue.SimpleQueue[TaskResult] = queue.SimpleQueue()
        self.running = TaskCounter()
        self.cancelled: set[str] = set()
        self.stopping = threading.Event()
        self.passwords: dict[str, str] = {}
        self.pace = EmbeddingPace()
        self.outages = OutageRetry(stores.jobs, self.cancelled, self.stopping)

    @property
    def max_file_bytes(self) -> int:
        return self.settings.max_file_mb * 1_000_000


class TaskCounter:
    """Counts the running tasks, and wakes threads that wait until a task has ended or a job was added."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        # Number of calls of `remove` and `notify` so far.
        self.changes = 0

    @property
    def is_zero(self) -> bool:
        """Whether no task is running."""
        return not self._count

    def add(self) -> None:
        """Increase the number of running tasks, because a task starts."""
        with self._changed:
            self._count += 1

    def remove(self) -> None:
        """Decrease the number of running tasks, because a task has ended, and wake the waiting threads."""
        with self._changed:
            self._count -= 1
            self.notify()

    def notify(self) -> None:
        """Wake the waiting threads, because a job was added or something else has changed."""
        with self._changed:
            self.changes += 1
            self._changed.notify_all()

    def wait(self, timeout_s: float, seen: int | None = None) -> None:
        """Wait until ``changes`` differs from ``seen``, by default its present value, or until the timeout."""
        with self._changed:
            seen = self.changes if seen is None else seen
            self._changed.wait_for(lambda: self.changes != seen, timeout_s)

    def wait_for_zero(self, stopping: threading.Event) -> None:
        """Wait until all tasks have ended or the process is stopping."""
        with self._changed:
            while self._count and not stopping.is_set():
                self._changed.wait(0.5)
