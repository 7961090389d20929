"""Texts for background jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.shared.jobwords import describe_files, describe_job, describe_result, estimate_progress
from rag_core.types.jobs import Job, JobState


def job(kind: str, stage: str, done: int, total: int, state: JobState = JobState.RUNNING) -> Job:
    return Job("1", kind, "report.pdf", None, state, stage, done, total, None, "", 1.0, None, {})


@pytest.mark.parametrize(
    ("kind", "stage", "label"),
    [
        ("index", "", "report.pdf: reading"),
        ("index", "reading", "report.pdf: reading page 3 of 1,200"),
        ("index", "embedding", "report.pdf: all pages read, nearly ready"),
        ("reindex", "re-indexing", "Re-indexing report.pdf: document 3 of 1,200"),
    ],
)
def test_label_of_running_job_says_what_is_done(kind: str, stage: str, label: str) -> None:
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


@pytest.mark.parametrize(
    ("documents", "kept", "result"),
    [
        (3, 0, "Re-indexed: all documents."),
        (3, 2, "Re-indexed: 1 document. 2 were complete and were left alone."),
        (3, 1, "Re-indexed: 2 documents. 1 was complete and was left alone."),
        (3, 3, "Nothing was re-indexed, because the index of all 3 documents is complete."),
    ],
)
def test_result_says_how_many_documents_were_left_alone(documents: int, kept: int, result: str) -> None:
    ended = job("reindex", "", 0, 0, JobState.DONE)
    details = {"documents": [{}] * documents, "kept": kept}
    assert describe_result(replace(ended, name="All documents", details=details)) == (True, result)


def test_line_shows_one_estimate_and_share_of_the_whole_file() -> None:
    reading = replace(job("index", "reading", 3, 4), seconds=2.0, remaining_s=17.2)
    assert describe_job(reading) == "report.pdf: reading page 3 of 4, about 18 s left"
    assert describe_job(replace(reading, remaining_s=180.0)).endswith(", about 3 min left")
    assert estimate_progress(replace(reading, remaining_s=18.0)) == 0.1
    # The time has passed, and the file is not ready: no time is promised, and the bar is not full.
    late = replace(reading, remaining_s=0.0)
    assert describe_job(late) == "report.pdf: reading page 3 of 4"
    assert estimate_progress(late) < 1
    assert estimate_progress(job("index", "", 0, 0)) == 0.0
    embedding = replace(job("index", "embedding", 240, 1200), remaining_s=30.0)
    assert describe_job(embedding) == "report.pdf: all pages read, passage 240 of 1,200, 32 a second, about 30 s left"


def test_file_waits_for_its_turn_or_for_a_reindex() -> None:
    waiting = job("index", "", 0, 0, JobState.QUEUED)
    long = replace(job("index", "reading", 5, 9), job_id="3", name="long.pdf")
    assert describe_job(waiting, [waiting, long]) == "report.pdf: waiting for its turn"
    again = replace(job("reindex", "re-indexing", 1, 2), job_id="4", name="All documents")
    assert describe_job(waiting, [waiting, again]) == "report.pdf: waiting for the re-indexing of all documents"


@pytest.mark.parametrize(
    ("stage", "state", "line"),
    [
        ("reading", JobState.RUNNING, "4 files: 1 ready, 1 not added, reading page 3 of 9 of report.pdf"),
        ("embedding", JobState.RUNNING, "4 files: 1 ready, 1 not added, all pages of report.pdf read, nearly ready"),
        ("", JobState.QUEUED, "4 files: 1 ready, 1 not added"),
    ],
)
def test_many_files_are_one_line(stage: str, state: JobState, line: str) -> None:
    waiting = job("index", "", 0, 0, JobState.QUEUED)
    ended = [job("index", "", 0, 0, JobState.DONE), job("index", "", 0, 0, JobState.FAILED)]
    assert describe_files([waiting, job("index", stage, 3, 9, state)], ended) == line
