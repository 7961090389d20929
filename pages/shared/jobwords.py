"""Describe background jobs and their results to the reader."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pages.shared.text import format_duration
from rag_core.types.documents import DocumentStatus
from rag_core.types.formatting import format_count
from rag_core.types.jobs import Job, JobState

_BAD = (DocumentStatus.REJECTED, DocumentStatus.FAILED)
# The unit that a stage counts. Stages that are not listed count nothing that a reader knows.
_COUNTED = {"reading": "page", "re-indexing": "document", "entities": "document", "summaries": "theme"}
_VERBS = {"reindex": "Re-indexing", "themes": "Building"}
# The estimate is never exact, so a job that runs is never shown as complete.
_MOST = 0.98


def describe_job(job: Job, active: Sequence[Job] = ()) -> str:
    """Return a description such as ``report.pdf: reading page 34 of 212, about 12 s left``.

    The time is that of all stages. If a file waits for a re-index among the ``active`` jobs, say that instead.
    """
    if job.state is JobState.QUEUED:
        reindex = next((one for one in active if one.kind == "reindex" and one.state is JobState.RUNNING), None)
        awaited = f"the re-indexing of {_name_within(reindex)}" if reindex else "its turn"
        return f"{job.name}: waiting for {awaited}"
    if job.reason:  # for example, that it waits for a server
        return f"{job.name}: {job.reason}"
    if job.kind != "index":
        return f"{_VERBS[job.kind]} {_name_within(job)}{describe_step(job, ': ')}{_describe_left(job)}"
    return f"{job.name}: {_describe_stage(job)}{_describe_left(job)}"


def describe_files(running: Sequence[Job], ended: Sequence[Job]) -> str:
    """Return one line for several files, such as ``8 files: 3 ready, reading page 34 of 212 of report.pdf``."""
    results = [describe_result(job)[0] for job in ended]
    counts = [(sum(results), "ready"), (len(results) - sum(results), "not added")]
    parts = [f"{number:,} {words}" for number, words in counts if number]
    current = [job for job in running if job.state is JobState.RUNNING and not job.reason]
    if current:
        longest = max(current, key=lambda job: job.remaining_s or 0.0)
        parts.append(f"{_describe_stage(longest, longest.name)}{_describe_left(longest)}")
    return f"{format_count(len(running) + len(ended), 'file')}: {', '.join(parts) or 'waiting for their turn'}"


def _describe_stage(job: Job, name: str = "") -> str:
    """Return what is done with a file, such as ``reading page 34 of 212``, with the name of the file if it is given."""
    step, of = describe_step(job), f" of {name}" if name else ""
    if is_embedding(job):
        return f"all pages{of} read"
    return f"reading {step}{of}" if step else f"reading {name}".rstrip()


def _describe_left(job: Job) -> str:
    """Return the time that is left; no number if it has passed, because the estimate was too short then."""
    if not job.remaining_s:
        return ", nearly ready" if is_embedding(job) else ""
    seconds = math.ceil(job.remaining_s)
    return f", about {f'{seconds} s' if seconds < 60 else format_duration(seconds)} left"


def _name_within(job: Job) -> str:
    """Return the name of a job for the middle of a sentence; only jobs for single files have names of files."""
    is_file = job.kind == "index" or job.details.get("renamed")
    return job.name if is_file else job.name[:1].lower() + job.name[1:]


def describe_step(job: Job, before: str = "") -> str:
    """Return the progress, for example ``page 34 of 212``; an empty string before the first page."""
    unit = _COUNTED.get(job.stage)
    return f"{before}{unit} {min(job.done, job.total):,} of {job.total:,}" if unit and job.done and job.total else ""


def is_embedding(job: Job) -> bool:
    """Return whether the job computes vectors; a search by words already finds the document then."""
    return job.stage in ("embedding", "encoding")


def estimate_progress(job: Job) -> float:
    """Return the share of the time of all stages that has passed, from 0 to 1, as far as it can be estimated."""
    if job.remaining_s is None:
        return _MOST if is_embedding(job) else 0.0
    return min(_MOST, job.seconds / (job.seconds + job.remaining_s or 1.0))


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
    return True, _describe_reindex(job) if job.kind == "reindex" else f"{job.name} is ready."


def _describe_reindex(job: Job) -> str:
    kept = job.details.get("kept", 0)
    if not kept:
        return f"Re-indexed: {_name_within(job)}."
    again = len(job.details["documents"]) - kept
    if not again:
        return f"Nothing was re-indexed, because the index of all {format_count(kept, 'document')} is complete."
    left = "1 was complete and was" if kept == 1 else f"{kept:,} were complete and were"
    return f"Re-indexed: {format_count(again, 'document')}. {left} left alone."
