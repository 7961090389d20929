"""The speed of indexing, estimated from ended jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from rag_core.store.database import Database
from rag_core.store.jobs import JobStore, build_job_row
from rag_core.store.schema import documents, jobs, versions

BEGAN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def store_with_jobs(folder: Path, *indexed: tuple[float, float, int]) -> JobStore:
    """Return a store with jobs, each with its start, end and number of chunks."""
    database = Database(folder / "jobs.db")
    with database.begin() as connection:
        for number, (start, end, chunks) in enumerate(indexed):
            ids = {"document_id": f"d{number}", "version_id": f"v{number}"}
            times = {"started_at": BEGAN + timedelta(seconds=start), "finished_at": BEGAN + timedelta(seconds=end)}
            document = {"id": ids["document_id"], "name": "a.pdf", "collection": "default", "added_at": BEGAN}
            connection.execute(insert(documents).values(**document, active_version=ids["version_id"]))
            version = {"id": ids["version_id"], "document_id": ids["document_id"], "sha256": "0", "size": 1}
            state = {"state": "full", "status": "indexed", "chunks": chunks, "added_at": BEGAN}
            connection.execute(insert(versions).values(**version, **state))
            connection.execute(insert(jobs).values(build_job_row("index", "a.pdf", state="done", **ids, **times)))
    return JobStore(database)


@pytest.mark.parametrize(
    ("indexed", "speed"),
    [
        ([], None),
        ([(0, 10, 200)], 20.0),
        # A pause does not count, and time of simultaneous jobs counts once.
        ([(0, 10, 200), (60, 70, 400)], 30.0),
        ([(0, 10, 200), (5, 20, 400)], 30.0),
        ([(0, 30, 600), (5, 20, 300)], 30.0),
    ],
)
def test_speed_is_chunks_per_second_of_work(
    tmp_path: Path, indexed: list[tuple[float, float, int]], speed: float | None
) -> None:
    assert store_with_jobs(tmp_path, *indexed).chunks_per_second() == speed


def test_speed_is_that_of_the_newest_jobs(tmp_path: Path) -> None:
    assert store_with_jobs(tmp_path, (0, 10, 10), (10, 20, 300)).chunks_per_second(newest=1) == 30.0
