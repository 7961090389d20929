"""Work in the background, and folders that are watched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from rag_core.types.documents import DocumentStatus


class JobState(str, Enum):
    """Where a piece of background work stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of background work. ``done`` of ``total`` pages, chunks or documents of the current stage.

    ``seconds`` is the time since it started (or took); ``remaining_s`` an estimate, ``None`` until
    there is ground for one. ``kind`` is ``index`` or ``reindex``.
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
    """A folder or fsspec URL that the library is kept in step with. ``problem`` is empty when all is well."""

    watch_id: str
    url: str
    collection: str
    files: int
    checked_at: datetime | None
    problem: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What one look at a watched folder found, as paths in it, and the jobs that index what is new there."""

    watch_id: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    problem: str
    job_ids: tuple[str, ...] = ()
