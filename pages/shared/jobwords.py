"""Describe background jobs and their results to the reader."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pages.shared.text import count_documents, count_files, format_duration
from pages.shared.translation import N_, _, ngettext, translate_message
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job, JobState

_BAD = (DocumentStatus.REJECTED, DocumentStatus.FAILED)
# The unit in which a stage counts its progress. The units of other stages mean nothing to a reader.
_COUNTED = {
    "reading": N_("page {done} of {total}"),
    "re-indexing": N_("document {done} of {total}"),
    "entities": N_("document {done} of {total}"),
    "summaries": N_("theme {done} of {total}"),
    "figures": N_("figure {done} of {total}"),
}
# The estimate is never exact, so a job that runs is never shown as complete.
_MAX_SHARE = 0.98


def describe_job(job: Job, active: Sequence[Job] = ()) -> str:
    """Return a description such as ``report.pdf: reading page 34 of 212, about 12 s left``.

    The time includes the remaining stages. If one of the ``active`` jobs is a running re-index, the description of a
    queued job says that it waits for this re-index.
    """
    if job.state is JobState.QUEUED:
        reindex = next((one for one in active if one.kind == "reindex" and one.state is JobState.RUNNING), None)
        if reindex:
            awaited = _format_inner_name(reindex)
            return _("{name}: waiting for the re-indexing of {awaited}", name=_format_name(job), awaited=awaited)
        return _("{name}: waiting for its turn", name=_format_name(job))
    if job.reason:  # for example, that it waits for a server
        return f"{_format_name(job)}: {translate_message(job.reason)}"
    if job.kind == "index":
        return f"{_format_name(job)}: {_describe_stage(job)}{_describe_left(job)}"
    name = _format_inner_name(job)
    if job.kind == "figures":
        name = _("figures of {name}", name=job.name)
        return f"{_('Describing {name}', name=name)}{describe_step(job, ': ')}{_describe_left(job)}"
    words = _("Re-indexing {name}", name=name) if job.kind == "reindex" else _("Building {name}", name=name)
    return f"{words}{describe_step(job, ': ')}{_describe_left(job)}"


def describe_files(running: Sequence[Job], ended: Sequence[Job]) -> str:
    """Return one line for several files, such as ``8 files: 3 ready, reading page 34 of 212 of report.pdf``."""
    results = [describe_result(job)[0] for job in ended]
    ready, failed = sum(results), len(results) - sum(results)
    parts = [_("{number} ready", number=ready)] if ready else []
    parts += [_("{number} not added", number=failed)] if failed else []
    current = [job for job in running if job.state is JobState.RUNNING and not job.reason]
    if current:
        longest = max(current, key=lambda job: job.remaining_s or 0.0)
        parts.append(f"{_describe_stage(longest, longest.name)}{_describe_left(longest)}")
    files = count_files(len(running) + len(ended))
    return f"{files}: {', '.join(parts) or _('waiting for their turn')}"


def _describe_stage(job: Job, name: str = "") -> str:
    """Describe the stage of a job, for example ``reading page 34 of 212``, and add the file's ``name`` if given."""
    step = describe_step(job)
    if is_embedding(job):
        read = _("all pages of {name} read", name=name) if name else _("all pages read")
        return f"{read}{_describe_pace(job)}"
    if step:
        return _("reading {step} of {name}", step=step, name=name) if name else _("reading {step}", step=step)
    return _("reading {name}", name=name) if name else _("reading")


def _describe_pace(job: Job) -> str:
    """Return how many passages of a file are done, and how many per second; an empty string if this is not known."""
    if not job.done or not job.total or not job.remaining_s:
        return ""
    words = _(", passage {done} of {total}", done=min(job.done, job.total), total=job.total)
    pace = round((job.total - job.done) / job.remaining_s)
    return words + (_(", {number} a second", number=pace) if pace > 0 else "")


def _describe_left(job: Job) -> str:
    """Describe the remaining time.

    If it is unknown or used up, say "nearly ready" of a job that computes vectors, and nothing of another job.
    """
    if not job.remaining_s:
        return _(", nearly ready") if is_embedding(job) else ""
    seconds = math.ceil(job.remaining_s)
    return _(", about {time} left", time=f"{seconds} s" if seconds < 60 else format_duration(seconds))


def _format_name(job: Job) -> str:
    """Return the name of a job; a file keeps its name, and other names are in the reader's language."""
    return job.name if job.kind in ("index", "figures") else translate_message(job.name)


def _format_inner_name(job: Job) -> str:
    """Return the name of a job as written in the middle of a sentence."""
    is_file = job.kind in ("index", "figures") or job.details.get("renamed")
    name = job.name[:1].lower() + job.name[1:]
    return job.name if is_file else translate_message(name)


def describe_step(job: Job, before: str = "") -> str:
    """Return ``before`` and the progress of a stage, for example ``page 34 of 212``.

    Return an empty string before the first page, or if the unit of the stage means nothing to a reader.
    """
    words = _COUNTED.get(job.stage)
    if not words or not job.done or not job.total:
        return ""
    return before + _(words, done=min(job.done, job.total), total=job.total)


def is_embedding(job: Job) -> bool:
    """Return whether the job computes vectors; a search by words already finds the document then."""
    return job.stage in ("embedding", "encoding")


def estimate_progress(job: Job) -> float:
    """Return the estimated share of the time of all stages that has passed, from 0 to `_MAX_SHARE`.

    Without an estimate of the remaining time, return `_MAX_SHARE` for a job that computes vectors, 0 for another job.
    """
    if job.remaining_s is None:
        return _MAX_SHARE if is_embedding(job) else 0.0
    return min(_MAX_SHARE, job.seconds / (job.seconds + job.remaining_s or 1.0))


def describe_result(job: Job) -> tuple[bool, str]:
    """Return whether an ended job succeeded, and a description of its result."""
    reason = translate_message(job.reason)
    if job.kind == "themes" and job.state is not JobState.CANCELLED:
        return job.state is JobState.DONE and not job.reason, reason or _("The themes are ready.")
    if job.kind == "figures":
        words = reason or _("The figures of {name} are described.", name=job.name)
        return job.state is JobState.DONE, f"{job.name}: {words}" if reason else words
    if job.state is JobState.CANCELLED:
        return False, f"{_format_name(job)}: {reason}"
    if job.state is JobState.FAILED or job.result in _BAD:
        problem = _("Not re-indexed") if job.kind == "reindex" else _("Not added")
        # Most reasons begin with the name of the file. Do not repeat the name then.
        about = "" if job.reason.startswith(job.name) else f"{_format_inner_name(job)}. "
        return False, f"{problem}: {about}{reason}".strip()
    if job.result is DocumentStatus.DUPLICATE:
        return True, f"{_format_name(job)}: {reason}"
    if job.result is DocumentStatus.PARTIAL:
        return True, _("{name} is ready, in part. {reason}", name=_format_name(job), reason=reason).strip()
    return True, _describe_reindex(job) if job.kind == "reindex" else _("{name} is ready.", name=_format_name(job))


def _describe_reindex(job: Job) -> str:
    kept = job.details.get("kept", 0)
    if not kept:
        return _("Re-indexed: {name}.", name=_format_inner_name(job))
    again = len(job.details["documents"]) - kept
    if not again:
        documents = count_documents(kept)
        return _("Nothing was re-indexed, because the index of all {documents} is complete.", documents=documents)
    done = _("Re-indexed: {name}.", name=count_documents(again))
    left = ngettext("{number} was complete and was left alone.", "{number} were complete and were left alone.", kept)
    return f"{done} {left}"
