"""The state of a running answer, which the thread of the answer and the pages share."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.types.answers import Answer, AnswerState, Claim, Stage
from rag_core.types.conversations import Message, Scope
from rag_core.types.jobs import Job
from rag_core.types.retrieval import SearchResult
from rag_core.types.searches import DEFAULT_WRITER, Writer

WAITING = "index"
_POLL_S = 0.2
# Seconds to wait for the whole file after its first pages can be searched. Most files are complete by then.
_PATIENCE_S = 3.0


@dataclass(frozen=True)
class Progress:
    """The progress of an answer; ``marked`` are the statements of the text that have been marked so far."""

    stages: tuple[Stage, ...] = ()
    text: str = ""
    marked: tuple[Claim, ...] = ()
    restarted: str = ""
    done: bool = False


@dataclass
class Run:
    """A running answer; ``problem`` is the message that explains why the answer is incomplete.

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
    """Wait until the attached files are indexed, or their first pages can be searched for some seconds.

    Return ``False`` if the reader stops the run earlier.
    """
    searchable_since: dict[str, float] = {}
    while not run.stopping.is_set():
        waiting = [job for job in engine.jobs.list(active=True, limit=1000) if job.job_id in run.job_ids]
        for job in waiting:
            if job.job_id not in searchable_since and _is_searchable(engine, job):
                searchable_since[job.job_id] = time.monotonic()
        now = time.monotonic()
        unread = [job for job in waiting if now - searchable_since.get(job.job_id, now) < _PATIENCE_S]
        if not unread:
            if run.job_ids:
                read = "First pages read" if waiting else "Files indexed"
                run.show_stage(Stage(WAITING, read, done=True))
            return True
        run.show_stage(Stage(WAITING, f"Waiting for {unread[-1].name}"))
        time.sleep(_POLL_S)
    return False


def _is_searchable(engine: Engine, job: Job) -> bool:
    """Return whether searches already find parts of the version that a job indexes."""
    if job.document_id is None:
        return False
    try:
        document = engine.documents.get(job.document_id)
    except UnknownDocument:
        return False
    return document.chunks > 0 and document.version_id == job.details["version_id"]
