"""Run functions as generators that yield progress events and return the result of the function."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TypeVar

from rag_core.answering.trace import AnswerTrace
from rag_core.types.answers import Stage
from rag_core.types.retrieval import Timer

T = TypeVar("T")


def run_to_end(steps: Generator[object, None, T]) -> T:
    """Run a generator, ignore its events, and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


def run_step(name: str, label: str, work: Callable[[], T]) -> Generator[Stage, None, T]:
    """Run ``work`` and return its result; yield an event before and an event after it, even if ``work`` fails.

    ``name`` identifies the step, and ``label`` describes it to the reader.
    """
    yield Stage(name, label)
    try:
        return work()
    finally:
        yield Stage(name, label, done=True)


def run_plan(label: str, timer: Timer, work: Callable[[], T], number: int = 1) -> Generator[Stage, None, T]:
    """Run a step that asks a language model what to do; measure its time as ``plan``.

    ``number`` distinguishes several such steps for one question.
    """

    def timed() -> T:
        with timer.measure("plan"):
            return work()

    return (yield from run_step(f"plan_{number}", label, timed))


def run_search(text: str, trace: AnswerTrace, work: Callable[[], T], where: str = "") -> Generator[Stage, None, T]:
    """Run ``work``, which searches for ``text``, as a step, and record the step in the trace.

    ``where`` is added to the description, such as `` in report.pdf``.
    """
    trace.steps.append(f"Searched{where} for “{text}”")
    return (yield from run_step(f"search_{len(trace.steps)}", f"Searching{where} for “{text}”", work))


def report_tokens(name: str, label: str, steps: Generator[None, None, T]) -> Generator[Stage, None, T]:
    """Run a generator that yields after each token; yield an event each time, so that the user can stop the work."""
    yield Stage(name, label)
    with closing(steps):
        try:
            while True:
                next(steps)
                yield Stage(name, label)
        except StopIteration as end:
            result: T = end.value
        except Exception:
            # Failed work ends with an event, as in `run_step`. A `finally` block would also yield when the generator is
            # closed, which is an error.
            yield Stage(name, label, done=True)
            raise
    yield Stage(name, label, done=True)
    return result
