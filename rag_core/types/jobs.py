"""Background jobs and runs, and watched folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from rag_core.types.documents import DocumentStatus


class JobState(str, Enum):
    """The state of a background job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Job:
    """A background job. ``done`` of ``total`` pages, chunks or documents of the current stage are finished.

    ``kind`` is ``index``, ``reindex`` or ``themes``. ``seconds`` is the time since the job started; for a finished job,
    it is the duration of the job. ``remaining_s`` is an estimate of the time until all stages are complete; it is
    ``None`` if too little is finished to estimate it.
    """

    job_id: str
    kind: str
    name: str
    document_id: str | None
    state: JobState
    stage: str
    done: int
    total: int
    result: DocumentStatus | None
    reason: str
    seconds: float
    remaining_s: float | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder or fsspec URL that is synchronized with the library.

    ``problem`` describes what went wrong at the last check; it is empty if nothing went wrong.
    """

    watch_id: str
    url: str
    collection: str
    files: int
    checked_at: datetime | None
    problem: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of one check of a watched folder: the changed files, and the jobs that index them.

    ``added``, ``changed`` and ``removed`` contain paths relative to the folder. ``problem`` is empty if nothing went
    wrong.
    """

    watch_id: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    problem: str
    job_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunState:
    """The progress or the outcome of an evaluation or a training that runs in the background; no job is stored for it.

    Attributes
    ----------
    stage : str
        What is being done.
    done, total : int
        Number of finished steps of the stage, and of all its steps.
    running : bool
    problem : str
        Why the run ended early; empty otherwise.
    evaluation_ids : tuple of str
        The ids of the evaluations that are complete; empty for a training.
    """

    stage: str
    done: int
    total: int
    running: bool
    problem: str = ""
    evaluation_ids: tuple[str, ...] = ()
