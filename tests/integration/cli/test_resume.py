"""Files that an interrupted command left in the queue, and a queue that cannot go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import IndexingStopped
from rag_core.indexing import queue
from rag_core.store.jobs import JobStore
from tests.support.cli import Run
from tests.support.engines import BUDGET, COPPER, PENGUINS, EmbeddingBarrier, copy_folder, failing, opened, wait_until
from tests.support.pdfs import make_pdf, with_attachments

PDFS = {"bridge.pdf": BUDGET, "mine.pdf": COPPER, "birds.pdf": PENGUINS}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in PDFS.items():
        (folder / name).write_bytes(make_pdf([text]))
    return folder


@pytest.fixture
def interrupted(tmp_path: Path, files: Path, barrier: EmbeddingBarrier) -> None:
    """A data folder whose process ended while three files were being indexed."""
    with opened(tmp_path / "first") as engine:
        barrier.block()
        for name in PDFS:
            engine.documents.submit(name, (files / name).read_bytes(), folder=str(files))
        barrier.wait_until_reached()
        copy_folder(tmp_path / "first", tmp_path / "data")()
        barrier.release()


@pytest.mark.usefixtures("interrupted")
def test_same_command_waits_for_what_an_interrupted_one_had_queued(run: Run, files: Path) -> None:
    code, rows, err = run("add", str(files))
    assert (code, err) == (0, ""), rows
    assert {row["file"].rpartition("/")[2]: row["status"] for row in rows} == dict.fromkeys(PDFS, "indexed")
    assert all(row["reason"].startswith("Continued") and row["chunks"] == 1 for row in rows)
    assert {row["status"] for row in run("list")[1]} == {"indexed"}


@pytest.mark.usefixtures("interrupted")
def test_status_says_what_waits_and_resume_indexes_it(run: Run, tmp_path: Path, barrier: EmbeddingBarrier) -> None:
    barrier.block()
    with opened(tmp_path / "data") as engine:
        (notice,) = [one for one in engine.status().notices if "Not indexed yet" in one]
        barrier.release()
    assert "bridge.pdf" in notice
    assert "add --resume" in notice
    code, rows, _ = run("add", "--resume")
    assert code == 0
    assert {row["file"] for row in rows} <= set(PDFS)
    assert {row["status"] for row in run("list")[1]} == {"indexed"}
    assert not [one for one in run("status")[1][0]["notices"] if "Not indexed yet" in one]


def test_attached_file_of_this_command_is_not_continued(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cover.pdf").write_bytes(with_attachments(make_pdf([BUDGET]), mine_pdf=make_pdf([COPPER])))
    code, rows, _ = run("add", str(tmp_path / "cover.pdf"))
    assert (code, [row["status"] for row in rows]) == (0, ["indexed", "indexed"])
    assert not [row for row in rows if "Continued" in row["reason"]]


def test_two_files_of_one_content_are_one_document(run: Run, files: Path) -> None:
    (files / "copy.pdf").write_bytes((files / "mine.pdf").read_bytes())
    code, rows, _ = run("add", str(files))
    assert code == 0
    assert sorted(row["status"] for row in rows) == ["duplicate", "indexed", "indexed", "indexed"]


def test_add_needs_files_or_resume(run: Run) -> None:
    code, rows, err = run("add")
    assert (code, rows) == (2, [])
    assert "--resume" in err


def test_queue_that_cannot_read_its_jobs_stops_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(queue, "PAUSE_S", 0.01)
    monkeypatch.setattr(queue, "STOPPED_PAUSE_S", 0.01)
    with opened(tmp_path / "data") as engine:
        with failing(JobStore, "queued"):
            job = engine.documents.submit("bridge.pdf", make_pdf([BUDGET]))
            with pytest.raises(IndexingStopped, match=r"3 attempts have failed.*on fire.*add --resume"):
                engine.jobs.wait([job.job_id])
            assert any("on fire" in one for one in engine.status().problems)
            assert not engine.status().healthy
        wait_until(lambda: not engine.jobs.problem)
        assert engine.jobs.wait([job.job_id])[0].result == "indexed"
        assert engine.status().healthy
    assert not [record for record in caplog.records if record.exc_info]
