"""Describe background jobs and their results to the reader."""

from __future__ import annotations

from pages.shared.text import format_duration
from rag_core.types import DocumentStatus, Job, JobState

_BAD = (DocumentStatus.REJECTED, DocumentStatus.FAILED)
_EMBEDDING = "embedding"
# The unit that a stage counts. Stages that are not listed count pages.
_COUNTED = {_EMBEDDING: "chunk", "re-indexing": "document"}


def describe_job(job: Job) -> str:
    """Return a description such as ``Indexing report.pdf: page 34 of 212, about 12 s left``."""
    if job.state is JobState.QUEUED:
        return f"{job.name}: waiting"
    if job.reason:  # for example, that it waits for a server
        return f"{job.name}: {job.reason}"
    verb = "Re-indexing" if job.kind == "reindex" else "Indexing"
    left = f", about {format_duration(job.remaining_s)} left" if job.remaining_s else ""
    return f"{verb} {job.name}{describe_step(job)}{left}"


def describe_step(job: Job) -> str:
    """Return the progress, for example ``: page 34 of 212``; an empty string while the total is unknown."""
    unit = _COUNTED.get(job.stage, "page")
    return f": {unit} {min(job.done, job.total):,} of {job.total:,}" if job.total else ""


def is_embedding(job: Job) -> bool:
    """Return whether the job computes embeddings; a search by words already finds the document then."""
    return job.stage == _EMBEDDING


def progress_share(job: Job) -> float:
    """Return the share of the current stage that is done, from 0 to 1."""
    return min(1.0, job.done / job.total) if job.total else 0.0


def describe_result(job: Job) -> tuple[bool, str]:
    """Return whether an ended job succeeded, and a description of its result."""
    if job.state is JobState.CANCELLED:
        return False, f"{job.name}: {job.reason}"
    if job.state is JobState.FAILED or job.result in _BAD:
        problem = "Not re-indexed" if job.kind == "reindex" else "Not added"
        # Most reasons begin with the name of the file. Do not repeat the name then.
        about = "" if job.reason.startswith(job.name) else f"{job.name}. "
        return False, f"{problem}: {about}{job.reason}".strip()
    if job.result is DocumentStatus.DUPLICATE:
        return True, f"{job.name}: {job.reason}"
    if job.result is DocumentStatus.PARTIAL:
        return True, f"{job.name} is ready, in part. {job.reason}".strip()
    return True, f"{job.name} is ready."
