"""Work that reports its steps as events, and returns its result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

from rag_core.answering.trace import AnswerTrace
from rag_core.types import Stage
from rag_core.types.retrieval import Timer

T = TypeVar("T")


def run_to_end(steps: Generator[object, None, T]) -> T:
    """Run steps whose events nobody needs, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


def run_step(name: str, label: str, work: Callable[[], T]) -> Generator[Stage, None, T]:
    """Do work between an event before it and one after it, also if it fails; return its result."""
    yield Stage(name, label)
    try:
        return work()
    finally:
        yield Stage(name, label, done=True)


def run_plan(label: str, timer: Timer, work: Callable[[], T], number: int = 1) -> Generator[Stage, None, T]:
    """Ask a language model for a plan, as a step whose time counts as ``plan``."""

    def timed() -> T:
        with timer.measure("plan"):
            return work()

    return (yield from run_step(f"plan_{number}", label, timed))


def run_search(text: str, trace: AnswerTrace, work: Callable[[], T], where: str = "") -> Generator[Stage, None, T]:
    """Search, as a step that the trace mentions."""
    trace.steps.append(f"Searched{where} for “{text}”")
    return (yield from run_step(f"search_{len(trace.steps)}", f"Searching{where} for “{text}”", work))
