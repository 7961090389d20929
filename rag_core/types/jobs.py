"""Background jobs, and watched folders."""

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
    """A background job.

    Attributes
    ----------
    kind : str
        ``index``, ``reindex`` or ``themes``.
    name : str
        What the job processes, such as the name of a document.
    document_id : str or None
        The document that is indexed; ``None`` for other kinds of jobs.
    stage : str
        The current stage.
    done, total : int
        Number of pages, chunks or documents that the stage has finished, and that it processes.
    result : DocumentStatus or None
        Status of the document after the job.
    reason : str
        Explains the state or the result; may be empty.
    seconds : float
        Time since the start of the job; for a finished job, its duration.
    remaining_s : float or None
        Estimated seconds until all stages are complete; ``None`` if too little is finished for an estimate.
    details : mapping
        Further data of the job's kind.
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
    """A folder or fsspec URL whose files are synchronized with the library.

    ``files`` is the number of files found there. ``problem`` says what went wrong at the last check; empty if nothing
    did.
    """

    watch_id: str
    url: str
    collection: str
    files: int
    checked_at: datetime | None
    problem: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of checking a watched folder.

    ``added``, ``changed`` and ``removed`` contain the paths of files, relative to the folder. ``job_ids`` are the jobs
    that index them. ``problem`` says what went wrong; empty if nothing did.
    """

    watch_id: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    problem: str
    job_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunState:
    """The progress or the outcome of an evaluation or training in the background. Unlike a `Job`, it is not stored.

    Attributes
    ----------
    stage : str
        The current stage in words.
    done, total : int
        Number of finished steps of the stage, and of all its steps.
    running : bool
    problem : str
        Why the run ended early; empty if it did not.
    evaluation_ids : tuple of str
        Ids of the completed evaluations; empty for a training.
    """

    stage: str
    done: int
    total: int
    running: bool
    problem: str = ""
    evaluation_ids: tuple[str, ...] = ()
