"""The second stage of indexing: embeddings of stored chunks.

It runs in a separate thread, so that the next document is parsed while this one is embedded. All queued
tasks are embedded together, shortest texts first, because a batch of equally long texts needs no padding.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from rag_core.indexing.task import CANCELLED, CancelledJobs, EmbeddingQueue, EmbeddingTask, PublicationTask, TaskResult
from rag_core.runtime.stores import Stores
from rag_core.types import DocumentStatus, Embedding, embedded_text

MAX_CHUNKS = 512
# Texts per call of the embedder. Two calls run at a time, so that the embedder does not wait while vectors are
# stored. Cancelling and stopping take effect between calls.
TEXTS_PER_CALL = 64
PARALLEL_CALLS = 2
REPORT_EVERY_S = 0.25


class EmbeddingStage:
    """Embed the chunks of tasks and pass the tasks on to publication.

    Parameters
    ----------
    stores : Stores
    cancelled : CancelledJobs
    tasks : EmbeddingQueue
        Tasks to embed; the stage closes the queue to stop.
    embedded : queue of PublicationTask
        Receives each task once its vectors are stored.
    results : queue of TaskResult
        Receives the results of tasks that failed or were cancelled.
    """

    def __init__(
        self,
        stores: Stores,
        cancelled: CancelledJobs,
        tasks: EmbeddingQueue,
        embedded: queue.SimpleQueue[PublicationTask | None],
        results: queue.SimpleQueue[TaskResult | None],
    ) -> None:
        self._stores = stores
        self._cancelled = cancelled
        self._tasks = tasks
        self._embedded = embedded
        self._results = results
        self._executor = ThreadPoolExecutor(PARALLEL_CALLS, thread_name_prefix="embedding")
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self._stopping = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current calls of the embedder; unfinished tasks continue at the next start."""
        self._stopping = True
        self._tasks.close()
        self._thread.join()
        self._executor.shutdown()

    def _run(self) -> None:
        while (tasks := self._take_tasks()) and not self._stopping:
            groups: dict[str, list[EmbeddingTask]] = {}
            for task in tasks:
                groups.setdefault(task.generation.space, []).append(task)
            for group in groups.values():
                self._process(group)

    def _take_tasks(self) -> list[EmbeddingTask]:
        """Return the waiting tasks, up to a number of chunks; an empty list when it is time to stop."""
        first = self._tasks.get()
        taken = [first] if first else []
        while taken and sum(len(task.spans) for task in taken) < MAX_CHUNKS:
            try:
                following = self._tasks.get(wait=False)
            except queue.Empty:
                break
            if following is None:
                return []
            taken.append(following)
        return taken

    def _process(self, tasks: Sequence[EmbeddingTask]) -> None:
        """Embed tasks together, or one by one if that fails, so that one document cannot stop the queue."""
        batch = _Batch(tasks)
        try:
            self._embed(batch)
        except BaseException as error:  # noqa: BLE001 - one document must not stop the queue; Rust panics are no Exceptions
            if len(batch.tasks) > 1:
                for task in batch.tasks:
                    self._process([task])
            else:
                for task in batch.tasks:
                    self._results.put(task.failure(error, batch.computed[task]))
            return
        for task in batch.tasks:
            if self._stopping:
                return
            self._embedded.put(PublicationTask(task, batch.computed[task]))

    def _embed(self, batch: _Batch) -> None:
        """Compute and store missing embeddings."""
        embedder, space = batch.tasks[0].generation.embedder, batch.tasks[0].generation.space
        batch.find_missing(self._stores.embeddings.find_ids(space, batch.hashes()))
        order = sorted(batch.texts, key=lambda digest: batch.texts[digest][1])
        running: deque[tuple[list[bytes], Future[list[Embedding]]]] = deque()
        reported = 0.0
        for first in range(0, len(order), TEXTS_PER_CALL):
            self._drop_cancelled(batch)
            if self._stopping or not batch.tasks:
                break
            digests = [digest for digest in order[first : first + TEXTS_PER_CALL] if batch.is_wanted(digest)]
            running.append(
                (digests, self._executor.submit(embedder.embed, [batch.texts[digest][0] for digest in digests]))
            )
            if len(running) == PARALLEL_CALLS:
                self._save(space, batch, *running.popleft())
            if time.monotonic() - reported > REPORT_EVERY_S:
                reported = time.monotonic()
                self._report(batch)
        while running:
            self._save(space, batch, *running.popleft())
        self._drop_cancelled(batch)

    def _save(self, space: str, batch: _Batch, digests: Sequence[bytes], running: Future[list[Embedding]]) -> None:
        """Store the embeddings of a call, except those that only cancelled tasks need, because no chunk uses them."""
        vectors = dict(zip(digests, running.result(), strict=True))
        wanted = {digest: vector for digest, vector in vectors.items() if batch.is_wanted(digest)}
        self._stores.embeddings.save(space, wanted)
        batch.count_saved(wanted)

    def _report(self, batch: _Batch) -> None:
        for task in batch.tasks:
            if not task.task.is_reindex:
                self._stores.jobs.progress(task.task.job_id, "embedding", batch.embedded[task], len(task.spans))

    def _drop_cancelled(self, batch: _Batch) -> None:
        for task in [task for task in batch.tasks if task.task.job_id in self._cancelled]:
            batch.tasks.remove(task)
            self._results.put(task.result(DocumentStatus.CANCELLED, CANCELLED, batch.computed[task]))


class _Batch:
    """Tasks that are embedded together, their texts without embeddings, and the progress of each task."""

    def __init__(self, tasks: Sequence[EmbeddingTask]) -> None:
        self.tasks = list(tasks)
        self.texts: dict[bytes, tuple[str, int]] = {}  # with the length in tokens
        self.embedded: Counter[EmbeddingTask] = Counter()
        self.computed = Counter({task: task.computed for task in tasks})
        self._owners: dict[bytes, list[EmbeddingTask]] = {}

    def hashes(self) -> list[bytes]:
        return [digest for task in self.tasks for digest in task.hashes]

    def find_missing(self, known: Mapping[bytes, int]) -> None:
        """Record the texts that have no embeddings yet."""
        for task in self.tasks:
            for span, digest in zip(task.spans, task.hashes, strict=True):
                if digest in known:
                    self.embedded[task] += 1
                    continue
                self.texts[digest] = (embedded_text(span.prefix, span.text), span.tokens)
                self._owners.setdefault(digest, []).append(task)

    def is_wanted(self, digest: bytes) -> bool:
        """Return whether a task that is not cancelled has this text."""
        return any(task in self.tasks for task in self._owners[digest])

    def count_saved(self, digests: Mapping[bytes, Embedding]) -> None:
        """Count the texts as embedded for each task that has them, and as computed for the first of these tasks."""
        for digest in digests:
            self.computed[self._owners[digest][0]] += 1
            self.embedded.update(self._owners[digest])
