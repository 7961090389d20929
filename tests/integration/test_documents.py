"""Documents: adding, rejection, replacement, deletion, names and passwords."""

from __future__ import annotations

import io
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter
from sqlalchemy import update

from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.index import RETRIEVERS
from rag_core.store.schema import documents
from rag_core.types.answers import AnswerState
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    ASK_PENGUINS,
    BUDGET,
    COPPER,
    PENGUINS,
    EmbeddingBarrier,
    add_document,
    assert_found,
    assert_in_agreement,
    idle,
    indexed,
    names_found,
    opened,
    page_text,
    run_in_threads,
)
from tests.support.pdfs import encrypted, make_pdf


def without_pages() -> bytes:
    buffer = io.BytesIO()
    PdfWriter().write(buffer)
    return buffer.getvalue()


def test_document_describes_what_was_read(engine: Engine) -> None:
    job = add_document(engine, "report.pdf", make_pdf(BUDGET, "", PENGUINS))
    assert job.state is JobState.DONE
    assert job.result is DocumentStatus.PARTIAL
    assert "page 2 without text" in job.reason
    (document,) = engine.documents.list()
    assert document.document_id == job.document_id
    assert (document.pages, document.pages_text, document.pages_empty, document.pages_failed) == (3, 2, 1, 0)
    assert document.chunks == len(engine.documents.chunks(document.document_id)) == 2
    assert document.status is DocumentStatus.PARTIAL
    assert document.embedder == "all-MiniLM-L6-v2"
    assert document.added_at.tzinfo is not None


def test_deleted_text_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.dbapi2.connect

    def connect_without_secure_delete(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.execute("PRAGMA secure_delete=OFF").fetchall()
        return connection

    monkeypatch.setattr(sqlite3.dbapi2, "connect", connect_without_secure_delete)
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        deleted = indexed(engine, "deleted.pdf", *[f"{COPPER} Part {number}. " * 6 for number in range(20)])
        assert engine.documents.delete([deleted])[0].chunks_remaining == 0
    text = COPPER.split(".")[0].encode()
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert [path.name for path in files if text in path.read_bytes()] == []


def test_pages_and_chunks_can_be_read_back(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET, PENGUINS)
    assert [page.page_index for page in engine.documents.pages(document_id)] == [0, 1]
    assert "Zanzibar" in page_text(engine, document_id, 0)
    assert [chunk.page_index for chunk in engine.documents.chunks(document_id, 1)] == [1]
    for chunk in engine.documents.chunks(document_id):
        assert page_text(engine, document_id, chunk.page_index)[chunk.start : chunk.end] == chunk.text
    assert engine.documents.content(document_id) == make_pdf(BUDGET, PENGUINS)


def test_unknown_document_raises_error(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    for call in (
        lambda: engine.documents.get("nothing"),
        lambda: engine.documents.pages("nothing"),
        lambda: engine.documents.chunks("nothing"),
        lambda: engine.documents.content("nothing"),
        lambda: page_text(engine, document_id, 7),
        lambda: engine.documents.render_page(document_id, -1),
        lambda: engine.documents.find_ids(["a.pdf", "nothing"]),
        lambda: engine.documents.delete(["nothing"]),
        lambda: engine.documents.retry("nothing"),
    ):
        with pytest.raises(UnknownDocument):
            call()


def test_names_and_ids_are_resolved_in_order_without_duplicates(engine: Engine) -> None:
    first, second = indexed(engine, "a.pdf", BUDGET), indexed(engine, "b.pdf", PENGUINS)
    assert engine.documents.find_ids(["b.pdf", first, "a.pdf", second]) == [second, first]
    assert engine.documents.find_ids([]) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"PK\x03\x04 a word document", "not a PDF"),
        (b"\x7fELF\x02 a program", "not a PDF"),
        (make_pdf(BUDGET)[:300], "a.pdf"),
        (b"%PDF-1.7\n" + b"\x00" * 500, "a.pdf"),
        (encrypted("secret", BUDGET), "password"),
        (make_pdf("", ""), "no text"),
        (without_pages(), "a.pdf"),
    ],
    ids=["no bytes", "an archive", "a program", "cut off", "noise", "encrypted", "without text", "without pages"],
)
def test_unreadable_file_is_rejected_with_reason(engine: Engine, data: bytes, reason: str) -> None:
    jobs = [engine.documents.submit("a.pdf", data), engine.documents.submit("good.pdf", make_pdf(BUDGET))]
    bad, good = engine.jobs.wait([job.job_id for job in jobs])
    assert bad.result is DocumentStatus.REJECTED, bad
    assert bad.state is JobState.DONE
    assert reason in bad.reason
    assert good.result is DocumentStatus.INDEXED
    rejected = next(document for document in engine.documents.list() if document.name == "a.pdf")
    assert (rejected.status, rejected.reason, rejected.chunks) == (DocumentStatus.REJECTED, bad.reason, 0)
    assert_found(engine, budget=["good.pdf"])
    assert_in_agreement(engine)


def test_file_beyond_the_limit_of_its_size_is_rejected(tmp_path: Path) -> None:
    with opened(tmp_path / "data", max_file_mb=1) as engine:
        job = add_document(engine, "big.pdf", make_pdf(BUDGET) + b"\0" * 1_100_000)
        assert job.result is DocumentStatus.REJECTED
        assert "RAG_MAX_FILE_MB" in job.reason
        assert engine.status().stores["files"] == 0


def test_same_content_is_stored_once_under_any_name(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    for name in ("a.pdf", "b.pdf"):
        job = add_document(engine, name, make_pdf(BUDGET))
        assert job.result is DocumentStatus.DUPLICATE
        assert job.document_id == document_id
        assert "a.pdf" in job.reason or "already" in job.reason
    assert [document.name for document in engine.documents.list()] == ["a.pdf"]
    assert_in_agreement(engine)


def test_same_content_submitted_concurrently_is_stored_once(engine: Engine) -> None:
    jobs: list[str] = []

    def submit(number: int) -> None:
        jobs.append(engine.documents.submit(f"{number}.pdf", make_pdf(BUDGET)).job_id)

    run_in_threads(*(partial(submit, number) for number in range(6)))
    results = [job.result for job in engine.jobs.wait(jobs)]
    assert sorted(results) == [DocumentStatus.DUPLICATE] * 5 + [DocumentStatus.INDEXED]
    assert_in_agreement(engine)


def test_changed_file_replaces_document_of_same_name(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    before = engine.documents.get(document_id)
    assert indexed(engine, "a.pdf", PENGUINS) == document_id
    assert engine.documents.get(document_id).version_id != before.version_id
    assert_found(engine, budget=[], penguins=["a.pdf"])
    assert engine.documents.content(document_id) == make_pdf(PENGUINS)
    assert_in_agreement(engine)


def test_unreadable_file_does_not_replace_document_of_same_name(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    assert add_document(engine, "a.pdf", b"%PDF-1.7 broken").result is DocumentStatus.REJECTED
    assert engine.documents.get(document_id).status is DocumentStatus.INDEXED
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


@pytest.mark.parametrize(
    ("name", "second", "third"),
    [
        ("a.pdf", "a (2).pdf", "a (3).pdf"),
        ("report", "report (2)", "report (3)"),
        ("x.y.pdf", "x.y (2).pdf", "x.y (3).pdf"),
    ],
)
def test_file_of_same_name_can_be_kept_as_new_document(engine: Engine, name: str, second: str, third: str) -> None:
    for text in (BUDGET, PENGUINS, COPPER):
        indexed(engine, name, text, on_same_name="keep")
    assert {document.name for document in engine.documents.list()} == {name, second, third}
    assert_found(engine, budget=[name], copper=[third])
    assert_in_agreement(engine)


def test_name_clash_with_searchable_and_pending_documents_only(engine: Engine, barrier: EmbeddingBarrier) -> None:
    assert not engine.documents.has_name_clash("a.pdf", make_pdf(BUDGET))
    add_document(engine, "a.pdf", b"no pdf")
    assert not engine.documents.has_name_clash("a.pdf", make_pdf(BUDGET))
    barrier.submit(engine, "other.pdf", COPPER)
    engine.documents.submit("a.pdf", make_pdf(BUDGET))
    assert not engine.documents.has_name_clash("a.pdf", make_pdf(BUDGET))
    assert engine.documents.has_name_clash("a.pdf", make_pdf(PENGUINS))
    assert not engine.documents.has_name_clash("a.pdf", make_pdf(PENGUINS), collection="birds")
    barrier.release()
    idle(engine)
    assert engine.documents.has_name_clash("a.pdf", make_pdf(PENGUINS))


@pytest.mark.parametrize("written", ["Ka\u0308se  1.pdf", "K\u00e4se 1.pdf", " K\u00e4se\t1.pdf "])
def test_document_is_found_by_equivalent_spellings_of_its_name(engine: Engine, written: str) -> None:
    document_id = indexed(engine, "Ka\u0308se  1.pdf", BUDGET)
    assert engine.documents.find_ids([written]) == [document_id]
    assert names_found(engine, ASK_BUDGET, documents=[written]) == ["K\u00e4se 1.pdf"]


def test_path_does_not_identify_a_document(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    for path in ("elsewhere/a.pdf", "C:\\a.pdf", "./a.pdf"):
        with pytest.raises(UnknownDocument):
            engine.documents.find_ids([path])


def test_collections_have_separate_names(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, collection="bridges")
    indexed(engine, "a.pdf", PENGUINS, collection="birds")
    assert {document.collection for document in engine.documents.list()} == {"bridges", "birds"}
    assert len(engine.documents.find_ids(["a.pdf"])) == 2


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("../../etc/passwd.pdf", "passwd.pdf"),
        ("C:\\Users\\me\\report.pdf", "report.pdf"),
        ("a\x00b\x1b[31m\r\nc.pdf", "ab[31m c.pdf"),
        ("\u202egnp.fdp", "gnp.fdp"),
        ("..", "unnamed.pdf"),
        ("cafe\u0301.pdf", "café.pdf"),
        ("f\udcfcr.pdf", "f\ufffdr.pdf"),
        ("<b>%_'\"; DROP TABLE documents.pdf", "<b>%_'\"; DROP TABLE documents.pdf"),
    ],
)
def test_name_loses_folders_and_control_characters(engine: Engine, given_name: str, name: str) -> None:
    document_id = indexed(engine, given_name, BUDGET)
    assert engine.documents.get(document_id).name == name
    assert engine.documents.find_ids([name]) == [document_id]
    assert names_found(engine, ASK_BUDGET, documents=[name]) == [name]


def test_deleted_document_is_removed_from_every_store(engine: Engine) -> None:
    remaining, deleted = indexed(engine, "a.pdf", BUDGET), indexed(engine, "b.pdf", PENGUINS, COPPER)
    answer = engine.answer(ASK_PENGUINS)
    conversation = engine.conversations.create()
    engine.conversations.add_message(conversation.conversation_id, "assistant", answer.text, answer)
    (receipt,) = engine.documents.delete([deleted])
    assert (receipt.document, receipt.chunks_removed, receipt.chunks_remaining) == ("b.pdf", 2, 0)
    assert set(receipt.remaining) == {"database", *(one.store for one in RETRIEVERS), "token vectors", "files"}
    assert not any(receipt.remaining.values())
    assert [document.document_id for document in engine.documents.list()] == [remaining]
    for question in (ASK_PENGUINS, ASK_COPPER, "penguins", "copper"):
        assert "b.pdf" not in {passage.document for passage in engine.search(question, top_k=50).passages}
    assert engine.answer(ASK_PENGUINS).state is AnswerState.ABSTAINED
    (message,) = engine.conversations.messages(conversation.conversation_id)
    assert message.answer == answer
    assert message.answer.citations[0].document == "b.pdf"
    assert_in_agreement(engine)


def test_deletion_returns_receipts_in_order(engine: Engine) -> None:
    ids = [indexed(engine, f"{name}.pdf", text) for name, text in zip("abc", (BUDGET, PENGUINS, COPPER), strict=True)]
    receipts = engine.documents.delete([ids[2], ids[0]])
    assert [receipt.document for receipt in receipts] == ["c.pdf", "a.pdf"]
    assert_found(engine, penguins=["b.pdf"])
    assert_in_agreement(engine)


def test_deleted_document_can_be_added_again(engine: Engine) -> None:
    first = indexed(engine, "a.pdf", BUDGET)
    engine.documents.delete([first])
    second = indexed(engine, "a.pdf", BUDGET)
    assert second != first
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


def test_shared_text_survives_deletion_of_one_document(engine: Engine) -> None:
    """Both documents use the same stored embedding."""
    first = indexed(engine, "a.pdf", BUDGET, PENGUINS, collection="one")
    indexed(engine, "a.pdf", BUDGET, COPPER, collection="two")
    (receipt,) = engine.documents.delete([first])
    assert receipt.chunks_remaining == 0
    assert engine.answer(ASK_BUDGET).citations[0].document == "a.pdf"
    assert_in_agreement(engine)


@pytest.mark.parametrize("data", [make_pdf(BUDGET), b"no pdf"])
def test_deleted_document_leaves_no_files_and_no_jobs(engine: Engine, data: bytes) -> None:
    job = add_document(engine, "a.pdf", data)
    (receipt,) = engine.documents.delete([str(job.document_id)])
    assert (receipt.chunks_removed, receipt.chunks_remaining) == (int(data != b"no pdf"), 0)
    assert engine.documents.list() == []
    assert engine.status().stores["files"] == 0
    with pytest.raises(UnknownDocument):
        engine.jobs.wait([job.job_id])


def test_progress_ends_with_the_last_state(engine: Engine) -> None:
    states: list[JobState] = []
    job = engine.documents.submit("a.pdf", make_pdf(*[f"{BUDGET} {number}" for number in range(30)]))
    (ended,) = engine.jobs.wait([job.job_id], lambda update: states.append(update.state))
    assert states[-1] is JobState.DONE
    assert states.count(JobState.DONE) == 1
    assert ended.seconds > 0


def test_ended_jobs_are_listed_newest_first(engine: Engine) -> None:
    for name in ("a", "b", "c"):
        add_document(engine, f"{name}.pdf", make_pdf(f"Text of {name}"))
    assert [job.name for job in engine.jobs.list()] == ["c.pdf", "b.pdf", "a.pdf"]
    assert [job.name for job in engine.jobs.list(limit=1)] == ["c.pdf"]
    assert engine.jobs.list(active=True) == []


def test_guide_questions_are_answered(engine: Engine) -> None:
    engine.jobs.wait([engine.documents.add_guide().job_id])
    for question in engine.GUIDE_QUESTIONS:
        answer = engine.answer(question)
        assert answer.state is AnswerState.ANSWERED, question
        assert answer.citations[0].document == "Footnote user guide.pdf"
    idle(engine)


def test_rendered_page_highlights_a_passage(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    text = page_text(engine, document_id, 0)
    start = text.index("42 million")
    image = engine.documents.render_page(document_id, 0, highlights=[(start, start + 10)])
    assert image.png.startswith(b"\x89PNG")
    assert image.highlighted == 2
    assert engine.documents.render_page(document_id, 0).highlighted == 0
    version = engine.documents.get(document_id).version_id
    assert engine.documents.render_page(document_id, 0, version_id=version, highlights=[(0, 3)]).highlighted == 1
    assert engine.documents.render_page(document_id, 0, version_id="another", highlights=[(0, 3)]).highlighted == 0


@pytest.mark.parametrize("length", [10, 250])
def test_folders_are_compared_by_their_whole_paths(engine: Engine, length: int) -> None:
    for year, text in (("2021", BUDGET), ("2022", PENGUINS)):
        indexed(engine, "statement.pdf", text, folder=f"/{'x' * length}/{year}")
    assert sorted(document.name for document in engine.documents.list()) == ["2021/statement.pdf", "2022/statement.pdf"]


def test_upload_that_replaces_a_document_from_a_folder_replaces_it(engine: Engine) -> None:
    indexed(engine, "report.pdf", BUDGET, folder="/papers")
    indexed(engine, "report.pdf", PENGUINS)
    (document,) = engine.documents.list()
    assert engine.documents.content(document.document_id) == make_pdf(PENGUINS)


def test_document_of_unknown_folder_is_replaced_by_the_same_file(engine: Engine) -> None:
    document_id = indexed(engine, "report.pdf", BUDGET)
    with engine._stores.database.begin() as connection:
        connection.execute(update(documents).values(folder=None))
    indexed(engine, "report.pdf", PENGUINS, folder="/papers")
    (document,) = engine.documents.list()
    assert document.document_id == document_id
    indexed(engine, "report.pdf", COPPER, folder="/others")
    assert len(engine.documents.list()) == 2


def test_neighbours_of_a_passage(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "report.pdf", COPPER, PENGUINS)
        passages = sorted(engine.search(ASK_COPPER).passages, key=lambda passage: passage.page_index)
        first, second = (passage.chunk_id for passage in passages)
        before, after = engine.documents.neighbours(first)
        assert before is None
        assert after is not None
        assert after.text == passages[1].text
        before, after = engine.documents.neighbours(second)
        assert before is not None
        assert before.text == passages[0].text
        assert after is None
        assert engine.documents.neighbours("999999") == (None, None)
