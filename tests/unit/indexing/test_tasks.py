"""Tasks and the queue between the stages of indexing."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, cast

import pytest

from rag_core.indexing import task
from rag_core.indexing.task import EmbeddingQueue, EmbeddingTask, IndexingTask, TaskResult, get_job_state
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState

INDEXING = IndexingTask("job", "version", "document", "a.pdf", password="secret")


def embedding_task(document_id: str = "document", chunks: int = 0) -> EmbeddingTask:
    spans = cast("Any", range(chunks))
    task = replace(INDEXING, document_id=document_id)
    return EmbeddingTask(task, cast("Any", None), spans, [], [], DocumentStatus.INDEXED, "")


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
    assert waiting.get(wait=False) is None
    waiting.close()
    assert waiting.get() is None


def test_short_documents_are_embedded_first_and_versions_keep_their_order() -> None:
    waiting = EmbeddingQueue()
    report, first, second, letter = (
        embedding_task(*one) for one in (("report", 900), ("plan", 40), ("plan", 3), ("letter", 5))
    )
    for one in (report, first, second, letter):
        waiting.put(one)
    assert waiting.get(max_chunks=5, excluded=["letter"], wait=False) is None
    assert [waiting.get() for _ in range(4)] == [letter, first, second, report]


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
