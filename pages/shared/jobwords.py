"""Background jobs in words."""

from __future__ import annotations

from pages.shared.text import duration
from rag_core.types import DocumentStatus, Job, JobState

_BAD = (DocumentStatus.REJECTED, DocumentStatus.FAILED)
_EMBEDDING = "embedding"
# What is counted in each stage, where it is not pages.
_COUNTED = {_EMBEDDING: "chunk", "re-indexing": "document"}


def job_label(job: Job) -> str:
    """``Indexing report.pdf: page 34 of 212, about 12 s left``."""
    if job.state is JobState.QUEUED:
        return f"{job.name}: waiting"
    verb = "Re-indexing" if job.kind == "reindex" else "Indexing"
    left = f", about {duration(job.remaining_s)} left" if job.remaining_s else ""
    return f"{verb} {job.name}{job_step(job)}{left}"


def job_step(job: Job) -> str:
    """``: page 34 of 212``; empty while there is nothing to count."""
    unit = _COUNTED.get(job.stage, "page")
    return f": {unit} {min(job.done, job.total):,} of {job.total:,}" if job.total else ""


def is_embedding(job: Job) -> bool:
    """Whether a file has been read, and is found by its words where no version of it was there before."""
    return job.stage == _EMBEDDING


def job_share(job: Job) -> float:
    """How much of the present stage is done, 0 to 1."""
    return min(1.0, job.done / job.total) if job.total else 0.0


def job_outcome(job: Job) -> tuple[bool, str]:
    """Whether a job that has ended went well, and what became of it."""
    if job.state is JobState.CANCELLED:
        return False, f"{job.name}: {job.reason}"
    if job.state is JobState.FAILED or job.result in _BAD:
        what = "Not re-indexed" if job.kind == "reindex" else "Not added"
        # Most reasons begin with the file's name.
        about = "" if job.reason.startswith(job.name) else f"{job.name}. "
        return False, f"{what}: {about}{job.reason}".strip()
    if job.result is DocumentStatus.DUPLICATE:
        return True, f"{job.name}: {job.reason}"
    if job.result is DocumentStatus.PARTIAL:
        return True, f"{job.name} is ready, in part. {job.reason}".strip()
    return True, f"{job.name} is ready."
