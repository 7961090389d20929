"""The last step of every task: end its version and its job according to the result, and wake waiting threads."""

from __future__ import annotations

import logging
import threading
from functools import partial

from rag_core.errors import StoreError
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.task import TaskResult, get_job_state
from rag_core.runtime.tracing import add_span
from rag_core.types.documents import DocumentStatus

log = logging.getLogger(__name__)


class ResultStage:
    """Reads the results of all stages in a separate thread, and ends their versions and jobs."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._stores = pipeline.stores
        # Reasons of failures by job id, for the messages of jobs that fail after several attempts.
        self.problems: dict[str, str] = {}
        # Results of re-index tasks that are not stored yet, because a store failed. `retry` stores them.
        self._unstored: list[TaskResult] = []
        self._thread = threading.Thread(target=self._run, name="results", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the results that are already in the queue."""
        self._pipeline.results.put(None)
        self._thread.join()

    def retry(self) -> None:
        """Store the results that are not stored yet; call this method only while no task is running."""
        while self._unstored:
            self._end_task(self._unstored[0])
            del self._unstored[0]

    def _run(self) -> None:
        while (result := self._pipeline.results.get()) is not None:
            try:
                self._pipeline.outages.run([result.task.job_id], partial(self._end_task, result))
            except Exception as error:  # the queue retries the job when no other task is running
                unexpected = None if isinstance(error, StoreError) else error
                log.warning("the result of %s is not stored yet: %s", result.task.name, error, exc_info=unexpected)
                if result.task.is_reindex:
                    self._unstored.append(result)
            if result.task.is_reindex:
                self._pipeline.reindexed.put(result)
            elif result.status is DocumentStatus.FAILED:
                self.problems[result.task.job_id] = result.reason
            self._pipeline.running.remove()
            _trace_task(result)

    def _end_task(self, result: TaskResult) -> None:
        task = result.task
        self._pipeline.passwords.pop(task.job_id, None)
        if result.needs_password:
            self._stores.documents.update_version(task.version_id, needs_password=True)
        if not result.is_published:
            removal = self._pipeline.removal
            # Ending a version deletes unused embeddings. The publication stage takes the same lock, so that no
            # embedding is deleted before it is linked to a chunk.
            with removal.lock:
                removal.end_version(task.version_id, result.status, result.reason, keep=not task.activate)
        if not task.is_reindex:
            self._stores.jobs.finish(task.job_id, get_job_state(result.status), result.status, result.reason)


def _trace_task(result: TaskResult) -> None:
    ids = {"footnote.job_id": result.task.job_id, "footnote.document_id": result.task.document_id}
    counts = {"footnote.chunks": result.chunks, "footnote.embeddings": result.computed}
    add_span("index file", result.task.started_ns, **ids, **counts, **{"footnote.status": result.status.value})
