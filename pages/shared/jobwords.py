"""Describe background jobs and their results to the reader."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared.text import format_duration
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job, JobState

_BAD = (DocumentStatus.REJECTED, DocumentStatus.FAILED)
_EMBEDDING, _ENCODING = "embedding", "encoding"
# The unit that a stage counts. Stages that are not listed count pages.
_COUNTED = {
    _EMBEDDING: "chunk",
    _ENCODING: "chunk",
    "re-indexing": "document",
    "entities": "document",
    "summaries": "theme",
}
_VERBS = {"reindex": "Re-indexing", "themes": "Building"}


def describe_job(job: Job, active: Sequence[Job] = ()) -> str:
    """Return a description such as ``Indexing report.pdf: page 34 of 212, about 12 s left``.

    If the job waits for another one of the ``active`` jobs, return that instead, as in ``a.pdf: waiting for b.pdf``.
    """
    if is_waiting(job, active):
        return f"{job.name}: waiting for {_describe_blocker(job, active)}"
    if job.reason:  # for example, that it waits for a server
        return f"{job.name}: {job.reason}"
    verb = _VERBS.get(job.kind, "Indexing")
    left = f", about {format_duration(max(1.0, job.remaining_s))} left" if job.remaining_s is not None else ""
    return f"{verb} {_name_within(job)}{describe_step(job)}{left}"


def _name_within(job: Job) -> str:
    """Return the name of a job for the middle of a sentence; only jobs for single files have names of files."""
    return job.name if job.kind == "index" else job.name[:1].lower() + job.name[1:]


def is_waiting(job: Job, active: Sequence[Job]) -> bool:
    """Return whether a job waits for another one.

    Files whose text is stored are embedded together, so a small one may wait for a large one with none or all of its
    chunks embedded.
    """
    if job.state is JobState.QUEUED:
        return True
    leading = _leading(active)
    return is_embedding(job) and job.done in (0, job.total) and leading not in (None, job)


def _leading(active: Sequence[Job]) -> Job | None:
    """Return the job with the most chunks that are not embedded yet, preferably one whose embedding has begun."""
    embedding = [one for one in active if is_embedding(one)]
    return max(embedding, key=lambda one: (0 < one.done < one.total, one.total - one.done), default=None)


def _describe_blocker(job: Job, active: Sequence[Job]) -> str:
    running = [one for one in active if one.state is JobState.RUNNING and one.job_id != job.job_id]
    reading = [one for one in running if not is_embedding(one)] if job.state is JobState.QUEUED else []
    # Jobs are listed newest first. A queued file waits for the file that is being read, else for the one that is
    # embedded.
    blocker = reading[-1] if reading else _leading(running)
    if blocker is None:
        return "its turn"
    return f"the re-indexing of {_name_within(blocker)}" if blocker.kind == "reindex" else blocker.name


def describe_step(job: Job) -> str:
    """Return the progress, for example ``: page 34 of 212``; an empty string before the first page or chunk."""
    unit = _COUNTED.get(job.stage, "page")
    return f": {unit} {min(job.done, job.total):,} of {job.total:,}" if job.done and job.total else ""


def is_embedding(job: Job) -> bool:
    """Return whether the job computes vectors; a search by words already finds the document then."""
    return job.stage in (_EMBEDDING, _ENCODING)


def estimate_progress(job: Job) -> float:
    """Return the share of the time of all stages that has passed, from 0 to 1, as far as it can be estimated."""
    return 0.0 if job.remaining_s is None else job.seconds / (job.seconds + job.remaining_s or 1.0)


def describe_result(job: Job) -> tuple[bool, str]:
    """Return whether an ended job succeeded, and a description of its result."""
    if job.kind == "themes" and job.state is not JobState.CANCELLED:
        return job.state is JobState.DONE and not job.reason, job.reason or "The themes are ready."
    if job.state is JobState.CANCELLED:
        return False, f"{job.name}: {job.reason}"
    if job.state is JobState.FAILED or job.result in _BAD:
        problem = "Not re-indexed" if job.kind == "reindex" else "Not added"
        # Most reasons begin with the name of the file. Do not repeat the name then.
        about = "" if job.reason.startswith(job.name) else f"{_name_within(job)}. "
        return False, f"{problem}: {about}{job.reason}".strip()
    if job.result is DocumentStatus.DUPLICATE:
        return True, f"{job.name}: {job.reason}"
    if job.result is DocumentStatus.PARTIAL:
        return True, f"{job.name} is ready, in part. {job.reason}".strip()
    return True, f"Re-indexed: {_name_within(job)}." if job.kind == "reindex" else f"{job.name} is ready."
