"""The state of a running answer, which the thread of the answer and the pages share."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState, Stage
from rag_core.types.conversations import Message, Scope
from rag_core.types.retrieval import SearchResult
from rag_core.types.searches import DEFAULT_WRITER, Writer

WAITING = "index"
_POLL_S = 0.2


@dataclass(frozen=True)
class Progress:
    """The progress of an answer."""

    stages: tuple[Stage, ...] = ()
    text: str = ""
    restarted: str = ""
    done: bool = False


@dataclass
class Run:
    """A running answer; ``problem`` tells the reader why there is no complete answer.

    If the run continues an interrupted answer, ``continued`` is the message of that answer.
    """

    conversation_id: str
    question: str
    scope: Scope
    history: Sequence[Message]
    job_ids: frozenset[str] = frozenset()
    search_for: str | None = None
    strategy: str = "plain"
    writer: Writer = DEFAULT_WRITER
    continued: Message | None = None
    found: SearchResult | None = None
    progress: Progress = Progress()
    problem: str = ""
    rewritten: str = ""
    answer: Answer | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def stop(self) -> None:
        """Ask the run to end. It then stores the text written so far."""
        self.stopping.set()

    def show(self, **changes: Any) -> None:
        with self.changed:
            self.progress = replace(self.progress, **changes)
            self.changed.notify_all()

    def show_stage(self, stage: Stage) -> None:
        """Add a stage to the progress, or replace the stage of the same name; one that is not done comes last."""
        stages = {one.name: one for one in self.progress.stages}
        if not stage.done:
            stages.pop(stage.name, None)
        stages[stage.name] = stage
        self.show(stages=tuple(stages.values()))

    def ends_within(self, seconds: float) -> bool:
        """Wait until the answer is stored, but at most ``seconds``; return whether it is stored."""
        with self.changed:
            return self.changed.wait_for(lambda: self.progress.done, seconds)

    def partial_answer(self, found: SearchResult, text: str, generator: str) -> Answer:
        """Return the text written so far as an answer, with the passages that the search found."""
        return Answer(
            question=self.question,
            state=AnswerState.ANSWERED,
            text=text,
            citations=(),
            passages=found.passages,
            gate=found.gate,
            generator=generator,
            timings_ms=found.timings_ms,
            notices=(*found.notices, *((self.problem,) if self.problem else ())),
            stopped=True,
            rewritten=self.rewritten,
            usage=found.usage,
            strategy=self.strategy,
            steps=found.steps,
            as_of=self.scope.as_of,
        )


def wait_for_jobs(engine: Engine, run: Run) -> bool:
    """Wait until the jobs of the attached files have ended; return ``False`` if the reader stops the run before."""
    while not run.stopping.is_set():
        waiting = [job for job in engine.jobs.list(active=True, limit=1000) if job.job_id in run.job_ids]
        if not waiting:
            if run.job_ids:
                run.show_stage(Stage(WAITING, "Files indexed", done=True))
            return True
        run.show_stage(Stage(WAITING, f"Waiting for {waiting[-1].name}"))
        time.sleep(_POLL_S)
    return False
