"""Files that an interrupted command left in the queue, and a queue that cannot go on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_core.cli import app as cli
from rag_core.errors import IndexingStopped
from rag_core.indexing import queue
from rag_core.store.jobs import JobStore
from tests.support.engines import BUDGET, COPPER, PENGUINS, EmbeddingBarrier, copy_folder, failing, opened, wait_until
from tests.support.pdfs import make_pdf

PDFS = {"bridge.pdf": BUDGET, "mine.pdf": COPPER, "birds.pdf": PENGUINS}


class Shell:
    def __init__(self, data: Path, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        self.data, self._patch, self._captured = data, patch, captured

    def __call__(self, *words: str) -> tuple[int, list[dict[str, Any]], str]:
        self._patch.setattr(sys, "argv", ["rag_core", "--data-dir", str(self.data), *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        shown = self._captured.readouterr()
        return int(ended.value.code or 0), [json.loads(line) for line in shown.out.splitlines()], shown.err


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path / "data", monkeypatch, capsys)


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
def test_same_command_waits_for_what_an_interrupted_one_had_queued(shell: Shell, files: Path) -> None:
    code, rows, err = shell("add", str(files), "--json")
    assert (code, err) == (0, ""), rows
    assert {row["file"].rpartition("/")[2]: row["status"] for row in rows} == dict.fromkeys(PDFS, "indexed")
    assert all(row["reason"].startswith("Continued") and row["chunks"] == 1 for row in rows)
    assert {row["status"] for row in shell("list", "--json")[1]} == {"indexed"}


@pytest.mark.usefixtures("interrupted")
def test_status_says_what_waits_and_resume_indexes_it(shell: Shell, barrier: EmbeddingBarrier) -> None:
    barrier.block()
    with opened(shell.data) as engine:
        (notice,) = [one for one in engine.status().notices if "Not indexed yet" in one]
        barrier.release()
    assert "bridge.pdf" in notice
    assert "add --resume" in notice
    code, rows, _ = shell("add", "--resume", "--json")
    assert code == 0
    assert {row["file"] for row in rows} <= set(PDFS)
    assert {row["status"] for row in shell("list", "--json")[1]} == {"indexed"}
    assert not [one for one in shell("status", "--json")[1][0]["notices"] if "Not indexed yet" in one]


def test_two_files_of_one_content_are_one_document(shell: Shell, files: Path) -> None:
    (files / "copy.pdf").write_bytes((files / "mine.pdf").read_bytes())
    code, rows, _ = shell("add", str(files), "--json")
    assert code == 0
    assert sorted(row["status"] for row in rows) == ["duplicate", "indexed", "indexed", "indexed"]


def test_add_needs_files_or_resume(shell: Shell) -> None:
    code, rows, err = shell("add")
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
