"""Progress events of generators."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from rag_core.answering.steps import report_tokens
from rag_core.types.answers import Stage


def write_tokens(closed: list[bool], problem: Exception | None = None) -> Generator[None, None, str]:
    try:
        yield
        yield
        if problem is not None:
            raise problem
        return "done"
    finally:
        closed.append(True)


def run_steps(steps: Generator[Stage, None, str]) -> tuple[list[Stage], str]:
    events: list[Stage] = []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as end:
            return events, end.value


def test_last_event_says_that_the_work_is_done() -> None:
    closed: list[bool] = []
    events, result = run_steps(report_tokens("write", "Writing", write_tokens(closed)))
    assert result == "done"
    assert [one.done for one in events] == [False, False, False, True]
    assert closed == [True]


def test_stopped_work_is_closed_without_a_further_event() -> None:
    closed: list[bool] = []
    steps = report_tokens("write", "Writing", write_tokens(closed))
    next(steps)
    next(steps)
    steps.close()
    assert closed == [True]


def test_problem_is_raised_after_the_last_event() -> None:
    closed: list[bool] = []
    steps = report_tokens("write", "Writing", write_tokens(closed, ValueError("no tokens")))
    events = [next(steps) for _ in range(4)]
    assert events[-1].done
    with pytest.raises(ValueError, match="no tokens"):
        next(steps)
    assert closed == [True]
