"""Stores that are locked, full, read-only or unreachable: clear errors, no lost data, and recovery afterwards."""

from __future__ import annotations

import errno
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from rag_core.engine import Engine
from rag_core.errors import DataFolderUnwritable, StoreUnavailable, UnknownDocument
from rag_core.index import dense
from rag_core.index.dense import DenseIndex, open_chroma
from rag_core.index.words import WordIndex
from rag_core.indexing import queue, recovery
from rag_core.store import database
from rag_core.store.documents import DocumentStore
from rag_core.store.files import FileStore, compute_sha256
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from rag_core.types.retrieval import RetrievalConfig
from rag_core.types.status import Status
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    COPPER,
    PENGUINS,
    EmbeddingBarrier,
    add_document,
    assert_found,
    assert_in_agreement,
    before_call,
    copy_folder,
    failing,
    idle,
    indexed,
    open_index,
    opened,
    rebuild_index,
    retry_document,
    wait_until,
)
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
FULL = "database or disk is full"
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
    """Lock the database from another process."""
    with subprocess.Popen(
        [sys.executable, "-c", LOCKER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as locker:
        assert locker.stdin is not None
        assert locker.stdout is not None
        assert locker.stdout.readline() == "locked\n"
        try:
            yield
        finally:
            locker.stdin.close()


@contextmanager
def refused_statements(engine: Engine, condition: Callable[[str, Any], bool], message: str = FULL) -> Iterator[None]:
    """Let the database refuse statements whose text and values fulfil a condition."""

    def refuse(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if condition(statement, values):
            raise sqlite3.OperationalError(message)

    pool = engine._stores.database._engine
    event.listen(pool, "before_cursor_execute", refuse)
    yield
    event.remove(pool, "before_cursor_execute", refuse)


def retry_failed(engine: Engine) -> None:
    for document in engine.documents.list():
        if document.status is DocumentStatus.FAILED:
            retry_document(engine, document.document_id)


@pytest.fixture
def short_lock_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 200)


@pytest.mark.usefixtures("short_lock_timeout")
def test_locked_database_is_read_and_work_continues_afterwards(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        with locked(tmp_path / "data" / "footnote.sqlite"):
            with pytest.raises(StoreUnavailable, match=r"locked by another process. Close the other program"):
                add_document(engine, "b.pdf", make_pdf(PENGUINS))
            assert_found(engine, budget=["a.pdf"])
            assert engine.status().healthy
        indexed(engine, "b.pdf", PENGUINS)
        assert_in_agreement(engine)
    with locked(tmp_path / "data" / "footnote.sqlite"), pytest.raises(StoreUnavailable, match="locked"):
        opened(tmp_path / "data")
    with opened(tmp_path / "data") as engine:
        assert len(engine.documents.list()) == 2


@pytest.mark.usefixtures("short_lock_timeout")
def test_job_that_meets_a_lock_fails_or_continues_afterwards(tmp_path: Path, barrier: EmbeddingBarrier) -> None:
    with opened(tmp_path / "data") as engine:
        barrier.block()
        jobs = [
            engine.documents.submit(f"{number}.pdf", make_pdf(text)).job_id
            for number, text in enumerate((BUDGET, COPPER))
        ]
        barrier.wait_until_reached()
        with locked(tmp_path / "data" / "footnote.sqlite"):
            barrier.release()
            threading.Event().wait(1.5)
        ended = engine.jobs.wait(jobs)
        assert {job.result for job in ended} <= {DocumentStatus.INDEXED, DocumentStatus.FAILED}
        assert all("locked" in job.reason for job in ended if job.result is DocumentStatus.FAILED)
        retry_failed(engine)
        assert_found(engine, budget=["0.pdf"])
        assert len(engine.documents.list()) == 2
        assert_in_agreement(engine)


def test_status_reports_unreadable_database(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    with refused_statements(engine, lambda *_: True, "disk I/O error"):
        status = engine.status()
    assert not status.healthy
    assert not status.reachable["database"]
    assert status.reachable["words"]
    (problem,) = status.problems
    assert "footnote.sqlite" in problem
    assert engine.status().healthy


def test_full_disk_refuses_a_file_and_loses_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        digest = compute_sha256(make_pdf(PENGUINS))
        part = tmp_path / "data" / "files" / digest[:2] / f"{digest}.part"
        part.parent.mkdir(exist_ok=True)
        part.symlink_to("/dev/full")  # every write to this device fails as on a full disk
        with pytest.raises(DataFolderUnwritable, match=os.strerror(errno.ENOSPC)):
            add_document(engine, "b.pdf", make_pdf(PENGUINS))
        assert len(engine.documents.list()) == 1
        indexed(engine, "b.pdf", PENGUINS)
        assert_found(engine, budget=["a.pdf"])
        assert_in_agreement(engine)


def test_full_database_recovers_when_there_is_space(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        pool = engine._stores.database._engine
        with pool.connect() as connection:
            limits = [int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())]

        def limit_pages(connection: Any, *_: Any) -> None:
            connection.execute(f"PRAGMA max_page_count={limits[-1]}")

        event.listen(pool, "checkout", limit_pages)
        jobs: list[str] = []

        def submit_all() -> None:
            for number in range(200):
                pdf = make_pdf(f"{PENGUINS} Part {number} of many. " * 12)
                jobs.append(engine.documents.submit(f"{number}.pdf", pdf).job_id)

        with pytest.raises(DataFolderUnwritable, match=r"full.*RAG_DATA_DIR"):
            submit_all()
        assert_found(engine, budget=["a.pdf"])
        limits.append(1_000_000_000)
        engine.jobs.wait(jobs)
        retry_failed(engine)
        indexed(engine, "late.pdf", COPPER)
        assert all(document.status is DocumentStatus.INDEXED for document in engine.documents.list())


def test_file_fails_after_repeated_database_errors(engine: Engine) -> None:
    tries, endings = [], []

    def refuse(statement: str, values: Any) -> bool:
        if statement.startswith("INSERT INTO pages"):
            tries.append(statement)
            return True
        if statement.startswith("UPDATE versions") and "ended" in values and len(endings) < queue.MAX_ATTEMPTS:
            endings.append(statement)
            return True
        return False

    with refused_statements(engine, refuse):
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
    assert (job.state, job.result) == (JobState.FAILED, DocumentStatus.FAILED)
    assert job.reason.startswith("Failed after 3 attempts. The disk that holds")
    assert "free some space" in job.reason
    assert len(tries) == queue.MAX_ATTEMPTS
    (document,) = engine.documents.list()
    assert (document.status, document.reason) == (DocumentStatus.FAILED, job.reason)
    assert retry_document(engine, document.document_id).result is DocumentStatus.INDEXED
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


@pytest.mark.parametrize("statement", ["INSERT INTO documents", "INSERT INTO versions", "INSERT INTO jobs"])
def test_file_refused_by_full_database_can_be_added_again(engine: Engine, statement: str) -> None:
    with (
        refused_statements(engine, lambda text, _: text.startswith(statement)),
        pytest.raises(DataFolderUnwritable, match="full"),
    ):
        engine.documents.submit("a.pdf", make_pdf(BUDGET), password="secret")
    assert engine.documents.list() == []
    assert engine._indexer._pipeline.passwords == {}
    indexed(engine, "a.pdf", BUDGET)
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


def test_engine_closes_with_full_database(tmp_path: Path) -> None:
    engine = opened(tmp_path / "data")
    indexed(engine, "a.pdf", BUDGET)
    with refused_statements(engine, lambda statement, _: statement.startswith(("INSERT", "UPDATE", "DELETE"))):
        engine.close()
    with opened(tmp_path / "data") as engine:
        assert_found(engine, budget=["a.pdf"])
        assert_in_agreement(engine)


READER = """
import ctypes, sys
# Drop the capability with which root ignores file permissions; it takes effect at the next exec.
ctypes.CDLL(None).prctl(24, 1)
import os
os.execv(sys.executable, [sys.executable, "-m", "rag_core", *sys.argv[1:]])
"""


@pytest.mark.parametrize("part", ["", "footnote.sqlite"])
@pytest.mark.parametrize(("command", "code"), [(["status"], 0), (["delete", "a.pdf"], 1)])
def test_read_only_folder_or_database_can_be_read_and_is_reported(
    tmp_path: Path, part: str, command: list[str], code: int
) -> None:
    data = tmp_path / "data"
    with opened(data) as engine:
        indexed(engine, "a.pdf", BUDGET)
    files = [path for path in data.rglob("*") if path.is_file()]
    (data / part).chmod(0o555 if not part else 0o444)
    try:
        process = subprocess.run(
            [sys.executable, "-c", READER, "--data-dir", str(data), *command],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (data / part).chmod(0o755 if not part else 0o644)
    assert process.returncode == code
    assert "cannot be written" in process.stderr
    assert "RAG_DATA_DIR" in process.stderr
    assert "Traceback" not in process.stderr
    assert all(path.is_file() for path in files)
    with opened(data) as engine:
        assert_found(engine, budget=["a.pdf"])


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_words_answer_while_vectors_are_away(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    indexed(engine, "b.pdf", PENGUINS)
    with failing(DenseIndex, "retrieve"):
        answer = engine.answer(ASK_BUDGET)
        with pytest.raises(StoreUnavailable, match="on fire"):
            engine.search(ASK_BUDGET, configuration=RetrievalConfig("dense"))
    assert "42 million" in answer.text
    assert answer.citations
    assert answer.notices[0].startswith("Only words were searched, because the vectors are not available.")
    assert not engine.answer(ASK_BUDGET).notices


@pytest.mark.parametrize("question", [ASK_BUDGET, "What was the net revenue of the bridge in 2022?"])
def test_question_is_answered_without_the_search_by_words(engine: Engine, question: str) -> None:
    indexed(engine, "a.pdf", BUDGET)
    with failing(WordIndex, "retrieve"):
        result = engine.search(question)
    assert result.passages[0].document == "a.pdf"
    assert "Words were not searched. The disk is on fire." in result.notices
    with ExitStack() as failures:
        for _, index in engine._stores.open_indexes(1):
            failures.enter_context(failing(type(index), "retrieve"))
        with pytest.raises(StoreUnavailable):
            engine.search(question)


def test_hanging_vectors_hold_up_one_question_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "EMBEDDED_SEARCH_WITHIN_S", 0.2)
    released, calls = threading.Event(), list[str]()
    retrieve = DenseIndex.retrieve

    def hang(*arguments: Any) -> Any:
        calls.append("called")
        released.wait(60)
        return retrieve(*arguments)

    with opened(tmp_path / "data") as engine, monkeypatch.context() as patch:
        indexed(engine, "a.pdf", BUDGET)
        patch.setattr(DenseIndex, "retrieve", hang)
        answers = [engine.answer(ASK_BUDGET) for _ in range(3)]
        assert len(calls) == 1
        assert all("42 million" in answer.text and "within 0.2 s" in answer.notices[0] for answer in answers)
        released.set()
        wait_until(lambda: not engine.answer(ASK_BUDGET).notices)


def test_unreachable_chroma_is_reported_by_its_setting(tmp_path: Path) -> None:
    port = closed_port()
    with opened(tmp_path / "data", chroma_host=f"127.0.0.1:{port}") as engine:
        job = engine.documents.submit("a.pdf", make_pdf(BUDGET))
        wait_until(lambda: bool(engine.jobs.list()[0].reason))
        assert engine.jobs.list()[0].state is JobState.RUNNING
        assert f"Waiting for Chroma at 127.0.0.1:{port}" in engine.jobs.list()[0].reason
        status = engine.status()
        assert not status.healthy
        assert not status.reachable["vectors"]
        assert status.reachable["database"]
        assert any("CHROMA_HOST" in problem for problem in status.problems)
        result = engine.search(ASK_BUDGET)
        assert "CHROMA_HOST" in result.notices[0]
        assert engine.documents.content(str(job.document_id)) == make_pdf(BUDGET)
    with opened(tmp_path / "data") as engine:
        assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.INDEXED
        assert_found(engine, budget=["a.pdf"])
        assert_in_agreement(engine)


def test_recovery_after_crash_waits_for_chroma(tmp_path: Path, barrier: EmbeddingBarrier) -> None:
    crashed = tmp_path / "crashed"
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        deleted = indexed(engine, "gone.pdf", COPPER)
        barrier.submit(engine, "b.pdf", PENGUINS)
        engine._stores.documents.begin_removal(deleted)  # the state that an interrupted deletion leaves
        copy_folder(tmp_path / "data", crashed)()
        barrier.release()
    with opened(crashed, chroma_host=f"127.0.0.1:{closed_port()}") as engine:
        wait_until(lambda: "Waiting for Chroma" in engine.jobs.list()[0].reason)
        assert engine.jobs.list()[0].name == "b.pdf"
        assert {document.name for document in engine.documents.list()} == {"a.pdf", "b.pdf"}
        assert any("CHROMA_HOST" in problem for problem in engine.status().problems)
    with opened(crashed) as engine:
        idle(engine)
        assert_found(engine, budget=["a.pdf"], penguins=["b.pdf"], copper=[])
        assert_in_agreement(engine)


def test_missing_files_are_reported_and_restored_by_upload(tmp_path: Path) -> None:
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
        assert job.reason == "It is in the library already. Its file was missing and is stored again."
        assert engine.documents.content(document_id) == make_pdf(BUDGET)
        (problem,) = engine.status().problems
        assert problem.startswith("The file of 1 document is missing.")
    with opened(tmp_path / "data", files_url=str(tmp_path / "elsewhere")) as engine:
        assert_in_agreement(engine)


DELETING = [(DenseIndex, "delete"), (WordIndex, "delete"), (FileStore, "delete"), (DocumentStore, "remove_document")]


@pytest.mark.parametrize(("owner", "name"), DELETING)
def test_failed_deletion_is_reported_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", float("inf"))
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        deleted = indexed(engine, "gone.pdf", COPPER)
        with failing(owner, name):
            for _ in range(2):
                with pytest.raises(StoreUnavailable, match="on fire"):
                    engine.documents.delete([deleted])
        assert_found(engine, copper=[])
        assert [document.name for document in engine.documents.list()] == ["a.pdf"]
        (problem,) = engine.status().problems
        assert "gone.pdf" in problem
        assert engine.documents.find_ids(["gone.pdf"]) == [deleted]
        (receipt,) = engine.documents.delete([deleted])
        assert (receipt.document, receipt.chunks_remaining) == ("gone.pdf", 0)
        assert not any(receipt.remaining.values())
        with pytest.raises(UnknownDocument):
            engine.documents.delete([deleted])
        assert engine.status().stores["files"] == 1
        assert_in_agreement(engine)


@pytest.mark.parametrize(("owner", "name"), DELETING)
def test_failed_deletion_is_completed_in_the_background(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    deleted = indexed(engine, "gone.pdf", COPPER)
    with failing(owner, name), pytest.raises(StoreUnavailable, match="on fire"):
        engine.documents.delete([deleted])
    while engine.status().problems:
        time.sleep(0.01)
    assert not any(engine.status().stores.values())
    assert indexed(engine, "gone.pdf", COPPER) != deleted
    assert_in_agreement(engine)


@pytest.mark.parametrize("cancelled", [False, True])
def test_failed_deletion_during_rebuild_stays_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, barrier: EmbeddingBarrier, cancelled: bool
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        deleted = indexed(engine, "gone.pdf", COPPER)
        late = barrier.submit(engine, "late.pdf", PENGUINS)
        rebuild = engine.index.rebuild(chunk_tokens=40)
        library = engine._stores.documents
        while sum(row.document_id == deleted for row in library.find_versions()) < 2:
            time.sleep(0.01)
        with failing(DenseIndex, "delete"), pytest.raises(StoreUnavailable, match="on fire"):
            engine.documents.delete([deleted])
        if cancelled:
            engine.jobs.cancel(rebuild.job_id)
        barrier.release()
        engine.jobs.wait([late.job_id, rebuild.job_id])
        while library.removals_in_progress():
            time.sleep(0.01)
        assert_found(engine, copper=[])
        assert {document.name for document in engine.documents.list()} == {"a.pdf", "late.pdf"}
        assert_found(engine, penguins=["late.pdf"])
        assert engine.status().stores["files"] == 2


@pytest.mark.parametrize(("owner", "name"), DELETING[:3])
def test_replacement_is_searched_if_removal_of_former_fails(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", float("inf"))
    indexed(engine, "a.pdf", BUDGET)
    with failing(owner, name):
        indexed(engine, "a.pdf", COPPER)
    assert_found(engine, copper=["a.pdf"], budget=[])
    assert list(engine.status().problems) == []
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    while engine._stores.documents.find_inactive_versions():
        time.sleep(0.01)
    assert_in_agreement(engine)


def test_deletion_in_progress_is_not_a_problem(engine: Engine) -> None:
    deleted = indexed(engine, "gone.pdf", COPPER)
    statuses: list[Status] = []
    with before_call(DocumentStore, "clear_version", lambda: statuses.append(engine.status())):
        engine.documents.delete([deleted])
    assert list(statuses[0].problems) == []


def test_only_latest_ended_jobs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "KEPT_JOBS", 3)
    with opened(tmp_path / "data") as engine:
        for number in range(6):
            add_document(engine, f"{number}.pdf", b"no pdf")
        latest = [job.job_id for job in engine.jobs.list()][:3]
        assert len(engine.jobs.list()) == 6
    with opened(tmp_path / "data") as engine:
        assert [job.job_id for job in engine.jobs.list()] == latest
        assert len(engine.documents.list()) == 6


def test_access_does_not_restore_dropped_generation(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    open_index(engine._stores, "dense", 7777).count()
    open_index(engine._stores, "dense", 7777).delete([1])
    for retriever in engine._stores.retrievers:
        retriever.drop(7777)
    names = [one.name for one in open_chroma(engine.settings.data_dir / "chroma", None).list_collections()]
    assert len(names) == 1
    assert names[0].endswith("-1")
    assert engine.documents.delete([document_id])[0].chunks_remaining == 0


def test_reindex_rereads_chosen_failed_documents(engine: Engine) -> None:
    good = indexed(engine, "a.pdf", BUDGET)
    bad = str(add_document(engine, "b.pdf", b"%PDF-1.7 broken").document_id)
    job = rebuild_index(engine, [good, bad])
    rows = {row["document_id"]: row["status"] for row in job.details["documents"]}
    assert rows == {good: "indexed", bad: "rejected"}
    assert "b.pdf" in job.reason
    assert engine.documents.get(bad).status is DocumentStatus.REJECTED
    assert_in_agreement(engine)
