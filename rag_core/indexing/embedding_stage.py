"""The second stage of indexing: compute the embeddings of stored chunks, and the vectors of other encoders.

The stage runs in a separate thread, so that the next document can be parsed while earlier documents are embedded.
Queued tasks are embedded together, shortest texts first, because a batch of texts of similar length needs little
padding. Short documents are embedded before long documents, even between two calls of the embedder for a long document.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from rag_core.errors import ServerUnavailable
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.task import CANCELLED, EmbeddingTask, PublicationTask
from rag_core.store.database import group_values
from rag_core.types.chunks import Embedding, SparseVector, build_embedded_text
from rag_core.types.documents import DocumentStatus
from rag_core.types.protocols import TermEncoder

# Maximum number of chunks of several documents that are embedded together. A single document may have more chunks.
MAX_CHUNKS = 512
# Maximum number of texts in one call of the embedder. Cancelling and stopping take effect only between calls.
TEXTS_PER_CALL = 64
# Number of parallel calls: while the vectors of one call are stored, the vectors of the next call are computed.
PARALLEL_CALLS = 2
# A waiting document is embedded between two calls for a batch if the number of texts of the batch that are not embedded
# yet is at least this many times the number of chunks of the document.
MIN_LENGTH_RATIO = 2
# Seconds between two reports of the progress.
REPORT_EVERY_S = 0.25


class EmbeddingStage:
    """Embed the chunks of tasks, and pass the tasks on to the publication stage."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._stores = pipeline.stores
        self._executor = ThreadPoolExecutor(PARALLEL_CALLS, thread_name_prefix="embedding")
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self._stopping = False
        # Ids of the documents in batches that wait while shorter documents are embedded.
        self._waiting_documents: set[str] = set()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current calls of the embedder. Unfinished tasks run again when the application starts."""
        self._stopping = True
        self._pipeline.chunked.close()
        self._thread.join()
        self._executor.shutdown()

    def _run(self) -> None:
        while (first := self._pipeline.chunked.get()) and not self._stopping:
            self._process_by_space(self._take_tasks(first, MAX_CHUNKS))

    def _take_tasks(self, first: EmbeddingTask, max_chunks: int, excluded: Collection[str] = ()) -> list[EmbeddingTask]:
        """Return ``first`` and further waiting tasks, as long as they have at most ``max_chunks`` chunks in total.

        ``first`` is returned even if it alone has more chunks. Tasks of documents whose ids are in ``excluded`` stay in
        the queue.
        """
        taken, room = [first], max_chunks - len(first.spans)
        while following := self._pipeline.chunked.get(
            wait=False, max_chunks=room, excluded={*excluded, *(one.task.document_id for one in taken)}
        ):
            taken.append(following)
            room -= len(following.spans)
        return taken

    def _process_by_space(self, tasks: Sequence[EmbeddingTask]) -> None:
        for group in group_values((task.generation.space, task) for task in tasks).values():
            self._process(group)

    def _process_shorter(self, batch: _Batch, remaining: int) -> None:
        """Process waiting tasks that are much shorter than the rest of a batch, which has ``remaining`` texts."""
        excluded = {*self._waiting_documents, *(task.task.document_id for task in batch.tasks)}
        max_chunks = remaining // MIN_LENGTH_RATIO
        first = self._pipeline.chunked.get(wait=False, max_chunks=max_chunks, excluded=excluded)
        if first is None or self._stopping:
            return
        before, self._waiting_documents = self._waiting_documents, excluded
        try:
            self._process_by_space(self._take_tasks(first, max_chunks, excluded))
        finally:
            self._waiting_documents = before
            batch.restart_clock()

    def _process(self, tasks: Sequence[EmbeddingTask]) -> None:
        """Embed tasks together, and pass them to the publication stage.

        If embedding fails, the tasks are embedded one by one, so that only the faulty document fails.
        """
        batch = _Batch(tasks)
        try:
            self._pipeline.outages.run([task.task.job_id for task in tasks], lambda: self._embed(batch))
            self._encode(batch)
        except ServerUnavailable:
            # All tasks were cancelled, or the process stops and the tasks run again at the next start.
            if not self._pipeline.stopping.is_set():
                self._drop_cancelled(batch)
            return
        except BaseException as error:  # noqa: BLE001 - one document must not stop the queue; a Rust panic is not an Exception
            for task in batch.tasks:
                if len(batch.tasks) > 1:
                    self._process([task])
                else:
                    self._pipeline.results.put(task.build_failure(error, batch.computed[task]))
            return
        for task in batch.tasks:
            if self._stopping:
                return
            self._pipeline.embedded.put(PublicationTask(task, batch.computed[task], batch.encodings.get(task, {})))

    def _embed(self, batch: _Batch) -> None:
        """Compute and store the embeddings that are not stored yet."""
        embedder, space = batch.tasks[0].generation.embedder, batch.tasks[0].generation.space
        hashes = [digest for task in batch.tasks for digest in task.hashes]
        batch.record_missing(self._stores.embeddings.find_ids(space, hashes))
        order = sorted(batch.texts, key=lambda digest: batch.texts[digest][1])
        running: deque[tuple[list[bytes], Future[list[Embedding]]]] = deque()
        reported = 0.0
        for first in range(0, len(order), TEXTS_PER_CALL):
            self._process_shorter(batch, len(order) - first)
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

    def _encode(self, batch: _Batch) -> None:
        """Compute the vectors of all chunks for each retriever with an encoder, and store them in ``batch``."""
        for task in list(batch.tasks):
            encoders = task.generation.encoders.items()
            batch.encodings[task] = {name: self._encode_texts(batch, task, load()) for name, load in encoders}

    def _encode_texts(self, batch: _Batch, task: EmbeddingTask, encoder: TermEncoder) -> list[SparseVector]:
        """Return the vectors of a task's chunks. If the task is cancelled meanwhile, stop after some of the chunks."""
        texts = [build_embedded_text(span.prefix, span.text) for span in task.spans]
        vectors: list[SparseVector] = []
        for first in range(0, len(texts), TEXTS_PER_CALL):
            self._drop_cancelled(batch)
            if self._stopping or task not in batch.tasks:
                break
            vectors += encoder.encode(texts[first : first + TEXTS_PER_CALL])
            if not task.task.is_reindex:
                # The database may answer again before the chunks are published.
                with suppress(ServerUnavailable):
                    self._stores.jobs.set_progress(task.task.job_id, "encoding", len(vectors), len(texts))
        return vectors

    def _save(self, space: str, batch: _Batch, digests: Sequence[bytes], call: Future[list[Embedding]]) -> None:
        """Store the embeddings that a call of the embedder returns, except those that only cancelled tasks need."""
        vectors = dict(zip(digests, call.result(), strict=True))
        wanted = {digest: vector for digest, vector in vectors.items() if batch.is_wanted(digest)}
        self._stores.embeddings.save(space, wanted)
        self._pipeline.pace.record(*batch.record_saved(wanted))

    def _report(self, batch: _Batch) -> None:
        # All tasks of a batch are passed on together, so their embedding ends at the same time.
        ends_at = self._pipeline.pace.estimate_end(batch.tokens - batch.tokens_saved)
        for task in batch.tasks:
            if not task.task.is_reindex:
                self._stores.jobs.set_progress(
                    task.task.job_id, "embedding", batch.embedded[task], len(task.spans), ends_at=ends_at
                )

    def _drop_cancelled(self, batch: _Batch) -> None:
        """Remove cancelled tasks from a batch, and report their results."""
        for task in [task for task in batch.tasks if task.task.job_id in self._pipeline.cancelled]:
            batch.tasks.remove(task)
            self._pipeline.results.put(task.build_result(DocumentStatus.CANCELLED, CANCELLED, batch.computed[task]))


class _Batch:
    """Tasks that are embedded together, the texts that still need embeddings, and the progress of each task."""

    def __init__(self, tasks: Sequence[EmbeddingTask]) -> None:
        self.tasks = list(tasks)
        self.texts: dict[bytes, tuple[str, int]] = {}  # hash: (text, number of tokens)
        # Numbers by task: chunks that have an embedding, and embeddings that were computed.
        self.embedded: Counter[EmbeddingTask] = Counter()
        self.computed = Counter({task: task.computed for task in tasks})
        self.encodings: dict[EmbeddingTask, Mapping[str, Sequence[SparseVector]]] = {}
        self.tokens = self.tokens_saved = 0
        self._saved_at = time.monotonic()
        # The tasks that contain each text of `texts`, by hash.
        self._owners: dict[bytes, list[EmbeddingTask]] = {}

    def record_missing(self, known: Mapping[bytes, int]) -> None:
        """Record the texts that have no embedding yet; ``known`` contains the hashes of the other texts."""
        self.texts.clear()
        self.embedded.clear()
        self._owners.clear()
        for task in self.tasks:
            for span, digest in zip(task.spans, task.hashes, strict=True):
                if digest in known:
                    self.embedded[task] += 1
                    continue
                self.texts[digest] = (build_embedded_text(span.prefix, span.text), span.tokens)
                self._owners.setdefault(digest, []).append(task)
        self.tokens = sum(tokens for _, tokens in self.texts.values())

    def is_wanted(self, digest: bytes) -> bool:
        """Return whether a task that was not cancelled contains the text with this hash."""
        return any(task in self.tasks for task in self._owners[digest])

    def restart_clock(self) -> None:
        """Exclude the time until now from the duration that the next call of `record_saved` returns."""
        self._saved_at = time.monotonic()

    def record_saved(self, digests: Mapping[bytes, Embedding]) -> tuple[int, float]:
        """Record that embeddings were stored; return the number of tokens, and the seconds since the previous call.

        Each text counts as embedded for every task that contains it, and as computed for the first of these tasks.
        """
        tokens = sum(self.texts[digest][1] for digest in digests)
        self.tokens_saved += tokens
        seconds, self._saved_at = time.monotonic() - self._saved_at, time.monotonic()
        for digest in digests:
            self.computed[self._owners[digest][0]] += 1
            self.embedded.update(self._owners[digest])
        return tokens, seconds
