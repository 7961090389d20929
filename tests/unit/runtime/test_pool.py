"""The tasks of a question end together, and none begins once the pool is closed."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from rag_core.errors import StoreUnavailable
from rag_core.runtime.pool import SearchPool


def test_tasks_of_a_failed_question_are_cancelled_or_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.runtime.pool.LEAST_THREADS", 1)
    monkeypatch.setattr("rag_core.runtime.pool.available_cores", lambda: 1)
    pool, running, go_on = SearchPool(), threading.Event(), threading.Event()
    futures: list[Future[bool]] = []

    def fail() -> None:
        with pool.tasks() as tasks:
            futures.append(tasks.submit(lambda: running.set() or go_on.wait(30)))
            futures.append(tasks.submit(lambda: True))
            running.wait(30)
            threading.Timer(0.1, go_on.set).start()
            raise KeyError("a failed task")

    with pytest.raises(KeyError, match="a failed task"):
        fail()
    assert futures[0].result(0)
    assert futures[1].cancelled()
    pool.shutdown()


def test_a_closed_pool_says_that_the_application_is_closing() -> None:
    pool = SearchPool()
    pool.shutdown()
    with pool.tasks() as tasks, pytest.raises(StoreUnavailable, match="Footnote is closing"):
        tasks.submit(int)
