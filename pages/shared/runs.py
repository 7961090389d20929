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

# The name of the stage in which a run waits for attached files.
WAITING = "index"
_POLL_S = 0.2
# Seconds to wait for the whole file after its first pages can be searched. Most files are complete by then.
_PATIENCE_S = 3.0


@dataclass(frozen=True)
class Progress:
    """The progress of an answer.

    ``marked`` are the statements of the text that have been marked so far. ``restarted`` says why the text was begun
    anew; empty if it was not.
    """

    stages: tuple[Stage, ...] = ()
    text: str = ""
    marked: tuple[Claim, ...] = ()
    restarted: str = ""
    done: bool = False


@dataclass
class Run:
    """A running answer.

    Attributes
    ----------
    continued : Message or None
        The message of the interrupted answer that the run continues.
    found : SearchResult or None
        What the search has found, as soon as it has ended.
    problem : str
        The message that explains why the answer is incomplete.
    rewritten : str
        The rewritten question that was searched for; empty if the question was not rewritten.
    answer : Answer or None
        The complete answer.
    stopping : Event
        Set when the run is asked to end.
    changed : Condition
        Notified whenever ``progress`` changes.
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
        """Change fields of ``progress``, and wake the threads that wait for a change."""
        with self.changed:
            self.progress = replace(self.progress, **changes)
            self.changed.notify_all()

    def show_stage(self, stage: Stage) -> None:
        """Add a stage to the progress, or replace the stage of the same name; a stage that is not done moves last."""
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
    """Wait until the job of each attached file has ended, or the file's first pages are searchable for `_PATIENCE_S`.

    Return ``True`` then, and ``False`` if the run is stopped earlier.
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
