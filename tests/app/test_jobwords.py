"""Texts for background jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.shared.jobwords import describe_job, describe_result, estimate_progress, is_waiting
from rag_core.types.jobs import Job, JobState


def job(kind: str, stage: str, done: int, total: int, state: JobState = JobState.RUNNING) -> Job:
    return Job("1", kind, "report.pdf", None, state, stage, done, total, None, "", 1.0, None, {})


@pytest.mark.parametrize(
    ("kind", "stage", "label"),
    [
        ("index", "reading", "Indexing report.pdf: page 3 of 1,200"),
        ("index", "embedding", "Indexing report.pdf: chunk 3 of 1,200"),
        ("reindex", "re-indexing", "Re-indexing report.pdf: document 3 of 1,200"),
    ],
)
def test_label_of_running_job_has_counts(kind: str, stage: str, label: str) -> None:
    assert describe_job(job(kind, stage, 3, 1200)) == label


def test_label_says_what_a_job_waits_for() -> None:
    waiting = replace(job("index", "embedding", 3, 8), reason="Waiting for Chroma at localhost:8000.")
    assert describe_job(waiting) == "report.pdf: Waiting for Chroma at localhost:8000."


def test_outcome_of_cancelled_job_has_its_reason() -> None:
    ended = replace(job("reindex", "", 0, 0, JobState.CANCELLED), reason="Cancelled after 1 of 2 documents.")
    assert describe_result(ended) == (False, "report.pdf: Cancelled after 1 of 2 documents.")


@pytest.mark.parametrize(
    ("kind", "name", "state", "result"),
    [
        ("index", "report.pdf", JobState.DONE, "report.pdf is ready."),
        ("reindex", "All documents", JobState.DONE, "Re-indexed: all documents."),
        ("reindex", "3 documents", JobState.DONE, "Re-indexed: 3 documents."),
        ("reindex", "All documents", JobState.FAILED, "Not re-indexed: all documents. The disk is full."),
        ("themes", "Themes", JobState.DONE, "The themes are ready."),
        ("themes", "Themes", JobState.CANCELLED, "Themes: The disk is full."),
    ],
)
def test_result_fits_the_kind_of_job(kind: str, name: str, state: JobState, result: str) -> None:
    reason = "" if state is JobState.DONE else "The disk is full."
    assert describe_result(replace(job(kind, "", 0, 0, state), name=name, reason=reason))[1] == result


def test_label_without_counts() -> None:
    assert describe_job(job("index", "", 0, 0)) == "Indexing report.pdf"
    assert estimate_progress(job("index", "", 0, 0)) == 0.0
    assert describe_job(job("index", "", 0, 0, JobState.QUEUED)) == "report.pdf: waiting for its turn"


def test_line_shows_one_estimate_and_share_of_the_whole_file() -> None:
    reading = replace(job("index", "reading", 3, 4), seconds=2.0, remaining_s=18.0)
    assert describe_job(reading) == "Indexing report.pdf: page 3 of 4, about 18 s left"
    assert estimate_progress(reading) == 0.1
    assert describe_job(replace(reading, remaining_s=0.0)).endswith("about 1.0 s left")
    assert estimate_progress(replace(reading, seconds=0.0, remaining_s=0.0)) == 0.0


@pytest.mark.parametrize(
    ("state", "stage", "done", "total", "blocker"),
    [
        (JobState.QUEUED, "", 0, 0, "long.pdf"),
        (JobState.RUNNING, "embedding", 0, 1, "report.pdf"),
        (JobState.RUNNING, "embedding", 1, 1, "report.pdf"),
    ],
)
def test_waiting_file_names_the_file_it_waits_for(
    state: JobState, stage: str, done: int, total: int, blocker: str
) -> None:
    small = replace(job("index", stage, done, total, state), job_id="2", name="small.pdf")
    embedded = job("index", "embedding", 64, 440)
    read = replace(job("index", "reading", 5, 9), job_id="3", name="long.pdf")
    active = [small, read, embedded]
    assert describe_job(small, active) == f"small.pdf: waiting for {blocker}"
    assert not is_waiting(embedded, active)
    assert not is_waiting(read, active)
    queued = replace(small, state=JobState.QUEUED)
    again = replace(job("reindex", "re-indexing", 1, 2), job_id="4", name="All documents")
    assert describe_job(queued, [queued, again]) == "small.pdf: waiting for the re-indexing of all documents"
    assert describe_job(queued, [queued, embedded]) == "small.pdf: waiting for report.pdf"


def test_first_chunks_are_not_counted_before_they_are_embedded() -> None:
    first = job("index", "embedding", 0, 1)
    assert describe_job(first, [first]) == "Indexing report.pdf"
