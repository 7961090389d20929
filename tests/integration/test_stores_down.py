"""Stores that are locked, full, read-only or away: told in words, nothing lost, and work goes on afterwards."""

from __future__ import annotations

import errno
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from rag_core.engine import Engine
from rag_core.errors import DataFolderUnwritable, StoreUnavailable, UnknownDocument
from rag_core.index.dense import DenseIndex
from rag_core.index.words import WordIndex
from rag_core.indexing import queue, recovery
from rag_core.store import database
from rag_core.store.documents import DocumentStore
from rag_core.store.files import FileStore, sha256_of
from rag_core.types import DocumentStatus, JobState, Status
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    ASK_PENGUINS,
    BUDGET,
    COPPER,
    PENGUINS,
    Hold,
    add_document,
    assert_in_agreement,
    before,
    broken,
    copied,
    idle,
    indexed,
    names_found,
    opened,
)
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process holds the database for itself."""
    other = subprocess.Popen(
        [sys.executable, "-c", LOCKER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == "locked\n"
    try:
        yield
    finally:
        other.stdin.close()
        other.wait(10)
        other.stdout.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 200)


@pytest.mark.usefixtures("impatient")
def test_a_database_that_another_process_locks_is_read_and_told_and_work_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        with locked(tmp_path / "data" / "footnote.sqlite"):
            with pytest.raises(StoreUnavailable, match=r"locked by another process. Close the other program"):
                add_document(engine, "b.pdf", make_pdf(PENGUINS))
            assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
            assert engine.status().healthy
        indexed(engine, "b.pdf", PENGUINS)
        assert_in_agreement(engine)
    with locked(tmp_path / "data" / "footnote.sqlite"), pytest.raises(StoreUnavailable, match="locked"):
        opened(tmp_path / "data")
    with opened(tmp_path / "data") as engine:
        assert len(engine.documents.list()) == 2


@pytest.mark.usefixtures("impatient")
def test_work_that_meets_a_lock_half_way_ends_or_goes_on_afterwards(tmp_path: Path, hold: Hold) -> None:
    with opened(tmp_path / "data") as engine:
        hold.on()
        jobs = [
            engine.documents.submit(f"{number}.pdf", make_pdf(text)).job_id
            for number, text in enumerate((BUDGET, COPPER))
        ]
        hold.until_reached()
        with locked(tmp_path / "data" / "footnote.sqlite"):
            hold.release()
            threading.Event().wait(1.5)
        ended = engine.jobs.wait(jobs)
        assert {job.result for job in ended} <= {DocumentStatus.INDEXED, DocumentStatus.FAILED}
        assert all("locked" in job.reason for job in ended if job.result is DocumentStatus.FAILED)
        for document in engine.documents.list():
            if document.status is DocumentStatus.FAILED:
                engine.jobs.wait([engine.documents.retry(document.document_id).job_id])
        assert names_found(engine, ASK_BUDGET) == ["0.pdf"]
        assert len(engine.documents.list()) == 2
        assert_in_agreement(engine)


def test_a_database_that_does_not_answer_is_a_problem_of_status(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)

        def refuse(*_: Any) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        event.listen(engine._stores.database._engine, "before_cursor_execute", refuse)
        status = engine.status()
        event.remove(engine._stores.database._engine, "before_cursor_execute", refuse)
        assert not status.healthy
        assert not status.reachable["database"]
        assert status.reachable["words"]
        assert [problem for problem in status.problems if "footnote.sqlite" in problem] == list(status.problems)
        assert len(status.problems) == 1
        assert engine.status().healthy


# full


def test_a_full_disk_refuses_a_file_and_loses_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        digest = sha256_of(make_pdf(PENGUINS))
        part = tmp_path / "data" / "files" / digest[:2] / f"{digest}.part"
        part.parent.mkdir(exist_ok=True)
        part.symlink_to("/dev/full")  # whatever is written there meets a full disk
        with pytest.raises(DataFolderUnwritable, match=os.strerror(errno.ENOSPC)):
            add_document(engine, "b.pdf", make_pdf(PENGUINS))
        assert len(engine.documents.list()) == 1
        indexed(engine, "b.pdf", PENGUINS)
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
        assert_in_agreement(engine)


def test_a_full_database_fails_in_words_and_goes_on_when_there_is_space(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        pool = engine._stores.database._engine
        pages: list[int] = []

        def fill(connection: Any, *_: Any) -> None:
            connection.execute(f"PRAGMA max_page_count={pages[-1]}")

        with pool.connect() as connection:
            used = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
        pages.append(used)
        event.listen(pool, "checkout", fill)
        texts = [f"{PENGUINS} Part {number} of many. " * 12 for number in range(200)]
        jobs: list[str] = []

        def submit_all() -> None:
            for number, text in enumerate(texts):
                jobs.append(engine.documents.submit(f"{number}.pdf", make_pdf(text)).job_id)

        with pytest.raises(DataFolderUnwritable, match=r"full.*RAG_DATA_DIR"):
            submit_all()
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
        pages.append(1_000_000_000)
        engine.jobs.wait(jobs)
        for document in engine.documents.list():
            if document.status is DocumentStatus.FAILED:
                engine.jobs.wait([engine.documents.retry(document.document_id).job_id])
        indexed(engine, "late.pdf", COPPER)
        assert all(document.status is DocumentStatus.INDEXED for document in engine.documents.list())


def test_a_file_that_a_failing_database_keeps_from_ending_is_given_up_and_can_be_tried_again(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        pool = engine._stores.database._engine
        tries, endings = [], []

        def full(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
            if statement.startswith("INSERT INTO pages"):
                tries.append(statement)
                raise sqlite3.OperationalError("database or disk is full")
            if statement.startswith("UPDATE versions") and "ended" in values and len(endings) < queue.MOST_TRIES:
                endings.append(statement)
                raise sqlite3.OperationalError("database or disk is full")

        event.listen(pool, "before_cursor_execute", full)
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
        event.remove(pool, "before_cursor_execute", full)
        assert (job.state, job.result) == (JobState.FAILED, DocumentStatus.FAILED)
        assert job.reason.startswith("Failed after 3 attempts. The disk that holds")
        assert "free some space" in job.reason
        assert len(tries) == queue.MOST_TRIES
        (document,) = engine.documents.list()
        assert (document.status, document.reason) == (DocumentStatus.FAILED, job.reason)
        assert (
            engine.jobs.wait([engine.documents.retry(document.document_id).job_id])[0].result is DocumentStatus.INDEXED
        )
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
        assert_in_agreement(engine)


@pytest.mark.parametrize("statement", ["INSERT INTO documents", "INSERT INTO versions", "INSERT INTO jobs"])
def test_a_file_that_a_full_database_refuses_half_way_can_be_added_again(engine: Engine, statement: str) -> None:
    pool = engine._stores.database._engine

    def full(_connection: Any, _cursor: Any, executed: str, *_: Any) -> None:
        if executed.startswith(statement):
            raise sqlite3.OperationalError("database or disk is full")

    event.listen(pool, "before_cursor_execute", full)
    with pytest.raises(DataFolderUnwritable, match="full"):
        engine.documents.submit("a.pdf", make_pdf(BUDGET), password="told once")
    event.remove(pool, "before_cursor_execute", full)
    assert engine.documents.list() == []
    assert engine._indexer._passwords == {}
    indexed(engine, "a.pdf", BUDGET)
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_an_engine_is_closed_though_its_database_is_full(tmp_path: Path) -> None:
    engine = opened(tmp_path / "data")
    indexed(engine, "a.pdf", BUDGET)

    def full(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            raise sqlite3.OperationalError("database or disk is full")

    event.listen(engine._stores.database._engine, "before_cursor_execute", full)
    engine.close()
    with opened(tmp_path / "data") as engine:
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
        assert_in_agreement(engine)


# read-only

READER = """
import ctypes, sys
# Root may write anywhere: not without this capability, which an exec then no longer grants.
ctypes.CDLL(None).prctl(24, 1)
import os
os.execv(sys.executable, [sys.executable, "-m", "rag_core", *sys.argv[1:]])
"""


@pytest.mark.parametrize("part", ["", "footnote.sqlite"])
def test_a_folder_or_database_that_may_only_be_read_is_told_in_one_line(tmp_path: Path, part: str) -> None:
    data = tmp_path / "data"
    with opened(data) as engine:
        indexed(engine, "a.pdf", BUDGET)
    kept = [path for path in data.rglob("*") if path.is_file()]
    (data / part).chmod(0o555 if not part else 0o444)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READER, "--data-dir", str(data), "status"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (data / part).chmod(0o755 if not part else 0o644)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "RAG_DATA_DIR" in done.stderr
    assert "Traceback" not in done.stderr
    assert all(path.is_file() for path in kept)
    with opened(data) as engine:
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]


# Chroma away


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_a_chroma_that_cannot_be_reached_is_told_by_its_setting(tmp_path: Path) -> None:
    port = closed_port()
    with opened(tmp_path / "data", chroma_host="127.0.0.1", chroma_port=port) as engine:
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
        assert (job.state, job.result) == (JobState.FAILED, DocumentStatus.FAILED)
        assert "CHROMA_HOST" in job.reason
        assert str(port) in job.reason
        status = engine.status()
        assert not status.healthy
        assert not status.reachable["vectors"]
        assert status.reachable["database"]
        assert any("CHROMA_HOST" in problem for problem in status.problems)
        with pytest.raises(StoreUnavailable, match="CHROMA_HOST"):
            engine.search(ASK_BUDGET)
        document_id = str(job.document_id)
        assert engine.documents.content(document_id) == make_pdf(BUDGET)
    with opened(tmp_path / "data") as engine:
        assert engine.jobs.wait([engine.documents.retry(document_id).job_id])[0].result is DocumentStatus.INDEXED
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
        assert_in_agreement(engine)


def test_after_a_crash_what_works_starts_without_chroma_and_the_rest_is_put_right_later(
    tmp_path: Path, hold: Hold
) -> None:
    crashed = tmp_path / "crashed"
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        gone = indexed(engine, "gone.pdf", COPPER)
        hold.on()
        engine.documents.submit("b.pdf", make_pdf(PENGUINS))
        hold.until_reached()
        engine._stores.library.begin_removal(gone)  # where a delete was cut off
        copied(tmp_path / "data", crashed)()
        hold.release()
    with opened(crashed, chroma_host="127.0.0.1", chroma_port=closed_port()) as engine:
        job = next(job for job in idle(engine) if job.name == "b.pdf")
        assert job.result is DocumentStatus.FAILED
        assert "CHROMA_HOST" in job.reason
        assert {one.name for one in engine.documents.list()} == {"a.pdf", "b.pdf"}
        assert any("CHROMA_HOST" in problem for problem in engine.status().problems)
    with opened(crashed) as engine:
        failed = next(one.document_id for one in engine.documents.list() if one.name == "b.pdf")
        assert engine.jobs.wait([engine.documents.retry(failed).job_id])[0].result is DocumentStatus.INDEXED
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
        assert names_found(engine, ASK_COPPER) == []
        assert_in_agreement(engine)


# files away


def test_files_that_are_gone_are_told_and_stored_when_they_are_added_again(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = indexed(engine, "a.pdf", BUDGET)
        indexed(engine, "b.pdf", PENGUINS)
    (tmp_path / "data" / "files").rename(tmp_path / "elsewhere")
    with opened(tmp_path / "data") as engine:
        (problem,) = engine.status().problems
        assert problem.startswith("The files of 2 documents are missing.")
        assert "RAG_FILES_URL" in problem
        with pytest.raises(StoreUnavailable, match="Upload the document again"):
            engine.documents.content(document_id)
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
        assert (job.result, job.document_id) == (DocumentStatus.DUPLICATE, document_id)
        assert job.reason.startswith("Its file was missing and is stored again: ")
        assert engine.documents.content(document_id) == make_pdf(BUDGET)
        (problem,) = engine.status().problems
        assert problem.startswith("The file of 1 document is missing.")
    with opened(tmp_path / "data", files_url=str(tmp_path / "elsewhere")) as engine:
        assert_in_agreement(engine)


# deletions that a store cuts off

DELETING = [(DenseIndex, "delete"), (WordIndex, "delete"), (FileStore, "delete"), (DocumentStore, "remove_document")]


@pytest.mark.parametrize(("owner", "name"), DELETING)
def test_a_deletion_that_a_store_cuts_off_is_told_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", float("inf"))
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        gone = indexed(engine, "gone.pdf", COPPER)
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, broken(StoreUnavailable("The disk is on fire.")))
            for _ in range(2):
                with pytest.raises(StoreUnavailable, match="on fire"):
                    engine.documents.delete([gone])
        assert names_found(engine, ASK_COPPER) == []
        assert [one.name for one in engine.documents.list()] == ["a.pdf"]
        (problem,) = engine.status().problems
        assert "gone.pdf" in problem
        assert engine.documents.find_ids(["gone.pdf"]) == [gone]
        (receipt,) = engine.documents.delete([gone])
        assert (receipt.document, receipt.chunks_remaining) == ("gone.pdf", 0)
        assert not any(receipt.remaining.values())
        with pytest.raises(UnknownDocument):
            engine.documents.delete([gone])
        assert engine.status().stores["files"] == 1
        assert_in_agreement(engine)


@pytest.mark.parametrize(("owner", "name"), DELETING)
def test_a_deletion_that_a_store_cuts_off_goes_on_by_itself(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    gone = indexed(engine, "gone.pdf", COPPER)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, broken(StoreUnavailable("The disk is on fire.")))
        with pytest.raises(StoreUnavailable, match="on fire"):
            engine.documents.delete([gone])
    while engine.status().problems:
        time.sleep(0.01)
    assert not any(engine.status().stores.values())
    assert indexed(engine, "gone.pdf", COPPER) != gone
    assert_in_agreement(engine)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_document_whose_deletion_a_store_cuts_off_during_a_rebuild_stays_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hold: Hold, cancelled: bool
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        gone = indexed(engine, "gone.pdf", COPPER)
        hold.on()
        late = engine.documents.submit("late.pdf", make_pdf(PENGUINS))
        hold.until_reached()
        rebuild = engine.index.rebuild(chunk_tokens=40)
        library = engine._stores.library
        while sum(row.document_id == gone for row in library.versions_where()) < 2:
            time.sleep(0.01)
        with monkeypatch.context() as patch:
            patch.setattr(DenseIndex, "delete", broken(StoreUnavailable("The disk is on fire.")))
            with pytest.raises(StoreUnavailable, match="on fire"):
                engine.documents.delete([gone])
        if cancelled:
            engine.jobs.cancel(rebuild.job_id)
        hold.release()
        engine.jobs.wait([late.job_id, rebuild.job_id])
        while library.removing():
            time.sleep(0.01)
        assert names_found(engine, ASK_COPPER) == []
        assert {one.name for one in engine.documents.list()} == {"a.pdf", "late.pdf"}
        assert names_found(engine, ASK_PENGUINS) == ["late.pdf"]
        assert engine.status().stores["files"] == 2


@pytest.mark.parametrize(("owner", "name"), DELETING[:3])
def test_a_replacement_is_searched_though_a_store_keeps_what_it_replaced(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", float("inf"))
    indexed(engine, "a.pdf", BUDGET)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, broken(StoreUnavailable("The disk is on fire.")))
        indexed(engine, "a.pdf", COPPER)
    assert names_found(engine, ASK_COPPER) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == []
    assert list(engine.status().problems) == []
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    while engine._stores.library.hidden_versions():
        time.sleep(0.01)
    assert_in_agreement(engine)


def test_a_deletion_under_way_is_no_problem(engine: Engine) -> None:
    gone = indexed(engine, "gone.pdf", COPPER)
    seen: list[Status] = []
    with before(DocumentStore, "clear_version", lambda: seen.append(engine.status())):
        engine.documents.delete([gone])
    assert list(seen[0].problems) == []


# what is kept of ended work, and of generations that are gone


def test_ended_work_is_forgotten_beyond_the_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "KEPT_JOBS", 3)
    with opened(tmp_path / "data") as engine:
        for number in range(6):
            add_document(engine, f"{number}.pdf", b"no pdf")
        latest = [job.job_id for job in engine.jobs.list()][:3]
        assert len(engine.jobs.list()) == 6
    with opened(tmp_path / "data") as engine:
        assert [job.job_id for job in engine.jobs.list()] == latest
        assert len(engine.documents.list()) == 6


def test_a_generation_that_is_gone_is_not_brought_back_by_looking(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    engine._stores.dense(7777).count()
    engine._stores.dense(7777).delete([1])
    engine._stores.drop_dense(7777)
    assert {one.name for one in engine._stores._chroma.list_collections()} == {"chunks-1"}
    assert engine.documents.delete([document_id])[0].chunks_remaining == 0


def test_documents_that_came_to_nothing_are_read_again_when_they_are_chosen(engine: Engine) -> None:
    good = indexed(engine, "a.pdf", BUDGET)
    bad = str(add_document(engine, "b.pdf", b"%PDF-1.7 broken").document_id)
    job = engine.jobs.wait([engine.index.rebuild([good, bad]).job_id])[0]
    rows = {row["document_id"]: row["status"] for row in job.details["documents"]}
    assert rows == {good: "indexed", bad: "rejected"}
    assert "b.pdf" in job.reason
    assert engine.documents.get(bad).status is DocumentStatus.REJECTED
    assert_in_agreement(engine)
