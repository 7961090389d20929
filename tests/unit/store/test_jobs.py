"""How fast files are indexed is told from the work that has ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from rag_core.store.database import Database
from rag_core.store.jobs import JobStore, new_job
from rag_core.store.schema import documents, jobs, versions

BEGAN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def stored(folder: Path, *indexed: tuple[float, float, int]) -> JobStore:
    """Jobs that indexed files, each from and until a second, with the chunks that came of it."""
    database = Database(folder / "jobs.db")
    with database.begin() as connection:
        for number, (start, end, chunks) in enumerate(indexed):
            of = {"document_id": f"d{number}", "version_id": f"v{number}"}
            when = {"started_at": BEGAN + timedelta(seconds=start), "finished_at": BEGAN + timedelta(seconds=end)}
            one = {"id": of["document_id"], "name": "a.pdf", "collection": "default", "added_at": BEGAN}
            connection.execute(insert(documents).values(**one, active_version=of["version_id"]))
            version = {"id": of["version_id"], "document_id": of["document_id"], "sha256": "0", "size": 1}
            state = {"state": "full", "status": "indexed", "chunks": chunks, "added_at": BEGAN}
            connection.execute(insert(versions).values(**version, **state))
            connection.execute(insert(jobs).values(new_job("index", "a.pdf", state="done", **of, **when)))
    return JobStore(database)


@pytest.mark.parametrize(
    ("indexed", "pace"),
    [
        ([], None),
        ([(0, 10, 200)], 20.0),
        # A pause between two counts for nothing, and seconds of both only once.
        ([(0, 10, 200), (60, 70, 400)], 30.0),
        ([(0, 10, 200), (5, 20, 400)], 30.0),
        ([(0, 30, 600), (5, 20, 300)], 30.0),
    ],
)
def test_pace_is_chunks_by_the_seconds_of_work(
    tmp_path: Path, indexed: list[tuple[float, float, int]], pace: float | None
) -> None:
    assert stored(tmp_path, *indexed).chunks_per_second() == pace


def test_only_the_newest_count(tmp_path: Path) -> None:
    assert stored(tmp_path, (0, 10, 10), (10, 20, 300)).chunks_per_second(newest=1) == 30.0
