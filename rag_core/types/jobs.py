"""Background jobs and watched folders."""

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

    ``seconds`` is the time since the start, or the duration of a finished job. ``remaining_s`` is an estimate,
    ``None`` if there is no basis for one yet. ``kind`` is ``index`` or ``reindex``.
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
    """A folder or fsspec URL that is synchronized with the library. ``problem`` is empty if there is none."""

    watch_id: str
    url: str
    collection: str
    files: int
    checked_at: datetime | None
    problem: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The changes in a watched folder, as paths relative to it, and the jobs that index new files."""

    watch_id: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    problem: str
    job_ids: tuple[str, ...] = ()
