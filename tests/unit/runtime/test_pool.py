"""The pool of search tasks."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from rag_core.errors import StoreUnavailable
from rag_core.runtime.pool import SearchPool


def test_tasks_of_failed_question_are_cancelled_or_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.runtime.pool.MIN_THREADS", 1)
    monkeypatch.setattr("rag_core.runtime.pool.count_available_cores", lambda: 1)
    pool, running, release = SearchPool(), threading.Event(), threading.Event()
    futures: list[Future[bool]] = []

    def fail() -> None:
        with pool.open_tasks() as tasks:
            futures.append(tasks.submit(lambda: running.set() or release.wait(30)))
            futures.append(tasks.submit(lambda: True))
            running.wait(30)
            threading.Timer(0.1, release.set).start()
            raise KeyError("a failed task")

    with pytest.raises(KeyError, match="a failed task"):
        fail()
    assert futures[0].result(0)
    assert futures[1].cancelled()
    pool.close()


def test_closed_pool_rejects_tasks() -> None:
    pool = SearchPool()
    pool.close()
    with pool.open_tasks() as tasks, pytest.raises(StoreUnavailable, match="Footnote is closing"):
        tasks.submit(int)
