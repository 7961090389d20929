"""Store background jobs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from rag_core.errors import UnknownDocument
from rag_core.store.database import Database, create_id, now
from rag_core.store.schema import documents, jobs, versions
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job, JobState

# States of jobs that have not ended.
ACTIVE = (JobState.QUEUED.value, JobState.RUNNING.value)
_REQUEUE = (
    update(jobs)
    .where(jobs.c.state == JobState.RUNNING.value)
    .values(state=JobState.QUEUED.value, stage="", done=0, reason="", started_at=None)
)


def build_job_row(kind: str, name: str, **values: Any) -> dict[str, Any]:
    """Return the row of a new job; ``values`` are further columns. By default, the state is `JobState.QUEUED`."""
    row = {"id": create_id(), "kind": kind, "name": name, "state": JobState.QUEUED.value, "created_at": now()}
    return {**row, "details": {}, **values}


class JobStore:
    """Stored jobs. Each method makes its changes in one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, kind: str, name: str, **values: Any) -> Job:
        """Add a job and return it; see `build_job_row`."""
        row = build_job_row(kind, name, **values)
        self._db.change(insert(jobs).values(row))
        return self.get(row["id"])

    def get(self, job_id: str) -> Job:
        """Return a job; raise `UnknownDocument` if it is not stored, because its document was deleted."""
        row = self._db.fetch_first(select(jobs).where(jobs.c.id == job_id))
        if row is None:
            raise UnknownDocument("That job is no longer listed, because its document was deleted.")
        return _job_from_row(row)

    def all(self, *, active: bool = False, limit: int | None = None) -> list[Job]:
        """Return the ``limit`` newest jobs, or all jobs if ``limit`` is ``None``, newest first.

        If ``active`` is true, only queued and running jobs are considered.
        """
        query = select(jobs).order_by(jobs.c.created_at.desc(), jobs.c.id)
        if active:
            query = query.where(jobs.c.state.in_(ACTIVE))
        if limit is not None:
            query = query.limit(limit)
        return [_job_from_row(row) for row in self._db.fetch(query)]

    def states(self, job_ids: Sequence[str]) -> dict[str, JobState]:
        """Return the states of the given jobs by id. Jobs that are no longer stored are left out."""
        rows = self._db.fetch_batches(select(jobs.c.id, jobs.c.state), jobs.c.id, job_ids)
        return {row.id: JobState(row.state) for row in rows}

    def count_states(self) -> dict[str, int]:
        """Return the number of stored jobs in each state, including states without jobs."""
        rows = self._db.fetch(select(jobs.c.state, func.count()).group_by(jobs.c.state))
        return {**dict.fromkeys([one.value for one in JobState], 0), **dict(map(tuple, rows))}

    def find_active(self, document_id: str) -> str | None:
        """Return the id of the newest queued or running job that indexes a document; ``None`` if there is none."""
        query = select(jobs.c.id).where(
            jobs.c.document_id == document_id, jobs.c.kind == "index", jobs.c.state.in_(ACTIVE)
        )
        return next(iter(self._db.fetch_values(query.order_by(jobs.c.created_at.desc()).limit(1))), None)

    def queued(self, kind: str, *, limit: int | None = None, smallest_first: bool = False) -> list[Job]:
        """Return the queued jobs of a kind, at most ``limit``, oldest first.

        If ``smallest_first`` is true, jobs of small files come first. The jobs of one document keep their order,
        because its latest version must be published last.
        """
        query = select(jobs).where(jobs.c.state == JobState.QUEUED.value, jobs.c.kind == kind)
        order: list[Any] = [jobs.c.created_at, jobs.c.id]
        if smallest_first:
            query = query.join(versions, versions.c.id == jobs.c.version_id)
            order.insert(0, func.max(versions.c.size).over(partition_by=jobs.c.document_id, order_by=order[:]))
        return [_job_from_row(row) for row in self._db.fetch(query.order_by(*order).limit(limit))]

    def chunks_per_second(self, newest: int = 200) -> float | None:
        """Return how many chunks per second the ``newest`` jobs indexed; ``None`` if no time was measured.

        Jobs overlap, because a file is parsed while another file is embedded. Time in which several jobs ran is counted
        once.
        """
        query = (
            select(jobs.c.started_at, jobs.c.finished_at, versions.c.chunks)
            .join(documents, documents.c.id == jobs.c.document_id)
            .join(versions, versions.c.id == documents.c.active_version)
            .where(jobs.c.kind == "index", jobs.c.state == JobState.DONE.value, jobs.c.started_at.is_not(None))
            .order_by(jobs.c.finished_at.desc())
            .limit(newest)
        )
        rows = self._db.fetch(query)
        seconds, covered_until = 0.0, datetime.min.replace(tzinfo=UTC)
        for started, ended in sorted((row.started_at, row.finished_at) for row in rows):
            seconds += max(0.0, (ended - max(started, covered_until)).total_seconds())
            covered_until = max(covered_until, ended)
        return sum(row.chunks for row in rows) / seconds if seconds else None

    def start(self, job_id: str) -> bool:
        """Mark a queued job as running; return false if the job is no longer queued, because it was cancelled."""
        values = {"state": JobState.RUNNING.value, "started_at": now()}
        query = update(jobs).where(jobs.c.id == job_id, jobs.c.state == JobState.QUEUED.value)
        return self._db.change(query.values(**values)) == 1

    def set_progress(self, job_id: str, stage: str, done: int, total: int, *, ends_at: float | None = None) -> None:
        """Store the progress of a job. ``ends_at`` is the estimated end of the job in seconds since the epoch."""
        self._change(job_id, {} if ends_at is None else {"ends_at": ends_at}, stage=stage, done=done, total=total)

    def set_reason(self, job_id: str, reason: str) -> None:
        """Store why a job waits; ``reason`` is empty if the job does not wait. Do nothing if the job is not running."""
        running = (jobs.c.id == job_id) & (jobs.c.state == JobState.RUNNING.value)
        self._db.change(update(jobs).where(running).values(reason=reason))

    def finish(
        self, job_id: str, state: JobState, result: DocumentStatus | None, reason: str = "", **details: Any
    ) -> None:
        """End a job; do nothing if it has ended already. If ``details`` are given, they replace those of the job."""
        values = {
            "state": state.value,
            "result": result.value if result else None,
            "reason": reason,
            "finished_at": now(),
            **({"details": details} if details else {}),
        }
        self._db.change(update(jobs).where(jobs.c.id == job_id, jobs.c.state.in_(ACTIVE)).values(**values))

    def add_details(self, job_id: str, **values: Any) -> None:
        """Add values to the details of a job; values with the same names are replaced."""
        self._change(job_id, values)

    def _change(self, job_id: str, details: Mapping[str, Any], **values: Any) -> None:
        """Change columns of a job, and add values to its details."""
        of_job = jobs.c.id == job_id
        with self._db.begin() as connection:
            if details:
                stored = connection.execute(select(jobs.c.details).where(of_job)).scalar() or {}
                values["details"] = {**stored, **details}
            connection.execute(update(jobs).where(of_job).values(**values))

    def requeue(self, job_id: str) -> None:
        """Mark a running job as queued. Call this method only if no thread works on the job."""
        self._db.change(_REQUEUE.where(jobs.c.id == job_id))

    def requeue_interrupted(self) -> None:
        """Mark all running jobs as queued. Call this method only at start, when no thread works on a job."""
        self._db.change(_REQUEUE)

    def remove_ended(self, keep: int, ended_before: datetime | None = None) -> None:
        """Delete ended jobs, except the ``keep`` newest of them and jobs that ended at ``ended_before`` or later."""
        kept_ids = select(jobs.c.id).where(jobs.c.state.not_in(ACTIVE)).order_by(jobs.c.created_at.desc()).limit(keep)
        query = delete(jobs).where(jobs.c.state.not_in(ACTIVE), jobs.c.id.not_in(kept_ids))
        if ended_before is not None:
            query = query.where(jobs.c.finished_at < ended_before)
        self._db.change(query)


def _job_from_row(row: Any) -> Job:
    seconds = ((row.finished_at or now()) - row.started_at).total_seconds() if row.started_at else 0.0
    return Job(
        **{name: getattr(row, name) for name in ("kind", "name", "document_id", "stage", "done", "total", "reason")},
        job_id=row.id,
        state=JobState(row.state),
        result=DocumentStatus(row.result) if row.result else None,
        seconds=seconds,
        remaining_s=_estimate_remaining(row, seconds),
        details={**row.details, "version_id": row.version_id},
    )


def _estimate_remaining(row: Any, elapsed_s: float) -> float | None:
    """Return the estimated time in seconds until a job ends; ``None`` if the job is not running or has no progress."""
    if row.state != JobState.RUNNING.value or not row.total:
        return None
    if "ends_at" in row.details:
        return max(0.0, float(row.details["ends_at"]) - time.time())
    return elapsed_s * (row.total - row.done) / row.done if row.done else None
