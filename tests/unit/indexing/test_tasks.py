"""Tasks and the queue between the stages of indexing."""

from __future__ import annotations

import queue
import threading
from dataclasses import replace
from typing import Any, cast

import pytest

from rag_core.indexing import task
from rag_core.indexing.task import EmbeddingQueue, EmbeddingTask, IndexingTask, TaskResult, get_job_state
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState

INDEXING = IndexingTask("job", "version", "document", "a.pdf", password="secret")


def embedding_task() -> EmbeddingTask:
    return EmbeddingTask(INDEXING, cast("Any", None), [], [], [], DocumentStatus.INDEXED, "")


def test_password_is_not_in_repr_of_tasks() -> None:
    assert "secret" not in repr(INDEXING) + repr(embedding_task()) + repr(
        TaskResult(INDEXING, DocumentStatus.FAILED, "")
    )


def test_embedding_queue_is_bounded_except_for_repeated_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "MAX_WAITING", 2)
    waiting = EmbeddingQueue()
    tasks = [embedding_task() for _ in range(3)]
    for embedding in tasks[:2]:
        waiting.put(embedding)
    third = threading.Thread(target=waiting.put, args=(tasks[2],), daemon=True)
    third.start()
    third.join(0.1)
    assert third.is_alive()
    repeated = replace(tasks[0], is_repeated=True)
    waiting.put_back(repeated)
    assert [waiting.get() for _ in range(3)] == [*tasks[:2], repeated]
    third.join(10)
    assert waiting.get() is tasks[2]
    with pytest.raises(queue.Empty):
        waiting.get(wait=False)
    waiting.close()
    assert waiting.get() is None


@pytest.mark.parametrize(
    ("status", "state", "is_published", "has_failed"),
    [
        (DocumentStatus.INDEXED, JobState.DONE, True, False),
        (DocumentStatus.PARTIAL, JobState.DONE, True, False),
        (DocumentStatus.REJECTED, JobState.DONE, False, True),
        (DocumentStatus.FAILED, JobState.FAILED, False, True),
        (DocumentStatus.CANCELLED, JobState.CANCELLED, False, False),
    ],
)
def test_result_determines_the_job_state(
    status: DocumentStatus, state: JobState, is_published: bool, has_failed: bool
) -> None:
    result = TaskResult(INDEXING, status, "")
    assert (get_job_state(status), result.is_published, result.has_failed) == (state, is_published, has_failed)
