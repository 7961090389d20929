"""Work that runs in a background thread."""

from __future__ import annotations

import threading
import time

import pytest

from rag_core.errors import LabelError
from rag_core.runtime.background import BackgroundRun
from rag_core.types.jobs import RunState


@pytest.fixture
def background() -> BackgroundRun:
    return BackgroundRun("test")


def wait_for_end(background: BackgroundRun) -> RunState:
    deadline = time.monotonic() + 30
    while (state := background.state) is None or state.running:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return state


def test_state_is_that_of_the_last_run(background: BackgroundRun) -> None:
    assert background.state is None

    def work() -> None:
        background.advance(done=1)
        background.change(evaluation_ids=("a",))
        background.advance(stage="Measuring", done=2)

    assert background.start("Asking", 2, work).stage == "Asking"
    assert wait_for_end(background) == RunState("Measuring", 2, 2, running=False, evaluation_ids=("a",))
    background.start("Asking", 0, lambda: None)
    assert wait_for_end(background) == RunState("Asking", 0, 0, running=False)


def test_second_run_does_not_start_while_the_first_is_active(background: BackgroundRun) -> None:
    release, started = threading.Event(), list[bool]()
    background.start("first", 1, lambda: started.append(release.wait(30)))
    assert background.start("second", 1, lambda: started.append(False)).stage == "first"
    release.set()
    background.close()
    assert started == [True]


def test_cancelled_run_ends_after_its_current_step(background: BackgroundRun) -> None:
    in_step, cancelled, steps = threading.Event(), threading.Event(), list[int]()

    def work() -> None:
        for number in range(3):
            in_step.set()
            cancelled.wait(30)
            background.advance(done=number + 1)
            steps.append(number)

    background.start("Asking", 3, work)
    in_step.wait(30)
    background.cancel()
    cancelled.set()
    assert wait_for_end(background) == RunState("Asking", 1, 3, running=False, problem="Stopped before the end.")
    assert steps == []
    background.start("Asking", 3, work)
    assert wait_for_end(background).done == 3  # the cancellation does not affect the next run


def test_work_that_completes_is_not_stopped_afterwards(background: BackgroundRun) -> None:
    def work() -> None:
        background.cancel()
        background.change(evaluation_ids=("stored",))

    background.start("Asking", 1, work)
    background.close()
    assert background.state == RunState("Asking", 0, 1, running=False, evaluation_ids=("stored",))


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (LabelError("There are no labels."), "There are no labels."),
        (KeyError("x"), "An internal error: KeyError: 'x'. The log has the details."),
    ],
)
def test_error_of_the_work_is_the_problem(background: BackgroundRun, error: Exception, problem: str) -> None:
    def work() -> None:
        raise error

    background.start("Asking", 1, work)
    assert wait_for_end(background).problem == problem
