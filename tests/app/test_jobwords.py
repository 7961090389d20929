"""Texts for background jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.shared.jobwords import describe_job, describe_result, progress_share
from rag_core.types import Job, JobState


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


def test_label_without_counts() -> None:
    assert describe_job(job("index", "", 0, 0)) == "Indexing report.pdf"
    assert progress_share(job("index", "", 0, 0)) == 0.0
    assert describe_job(job("index", "", 0, 0, JobState.QUEUED)) == "report.pdf: waiting"
