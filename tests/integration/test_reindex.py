"""Re-indexing: the old index answers until one swap, and no text is embedded twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import update

from rag_core.engine import Engine
from rag_core.errors import EmbedderMissing, IndexMismatch, StoreUnavailable
from rag_core.index.dense import DenseIndex
from rag_core.index.words import WordIndex
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import EmbeddingQueue, EmbeddingTask, IndexingTask
from rag_core.store.documents import DocumentStore
from rag_core.store.schema import generations
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job, JobState
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    COPPER,
    LONG,
    PENGUINS,
    Barrier,
    EmbeddingBarrier,
    add_document,
    assert_found,
    assert_in_agreement,
    assert_stores_agree,
    before_call,
    built_chunk_tokens,
    copy_folder,
    failing,
    idle,
    indexed,
    names_found,
    opened,
    raising,
    read_by_older_parser,
    rebuild_index,
    retry_document,
    run_in_threads,
)
from tests.support.pdfs import encrypted, make_pdf


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


def described(engine: Engine) -> dict[str, tuple[str, DocumentStatus, str, bool]]:
    """Return what the list of documents says about each name."""
    return {
        document.name: (document.document_id, document.status, document.reason, document.needs_password)
        for document in engine.documents.list()
    }


def longest_chunk(engine: Engine) -> int:
    documents = engine.documents.list()
    return max(chunk.tokens for document in documents for chunk in engine.documents.chunks(document.document_id))


def version_ids(engine: Engine) -> list[str]:
    return [document.version_id for document in engine.documents.list()]


def test_rebuild_with_unchanged_settings_reuses_everything_and_restores_what_is_missing(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    before, stores = version_ids(engine), engine._stores
    stores.word_index.delete(stores.documents.chunk_ids(before[:1]))
    assert not engine.status().healthy
    job = rebuild_index(engine)
    assert job.state is JobState.DONE
    assert job.details["embeddings_computed"] == 0
    chunks = sum(document.chunks for document in engine.documents.list())
    assert job.details["embeddings_reused"] == job.details["chunks"] == chunks
    assert {row["document"] for row in job.details["documents"]} == {"a.pdf", "b.pdf"}
    assert version_ids(engine)[1] == before[1]
    assert_found(engine, budget=["a.pdf"], penguins=["b.pdf"])
    assert_in_agreement(engine)


def test_reindex_of_one_document_reuses_its_vectors(engine: Engine) -> None:
    first, second = indexed(engine, "a.pdf", BUDGET), indexed(engine, "b.pdf", PENGUINS)
    versions = {document_id: engine.documents.get(document_id).version_id for document_id in (first, second)}
    job = rebuild_index(engine, [first])
    assert job.state is JobState.DONE
    assert [row["document"] for row in job.details["documents"]] == ["a.pdf"]
    assert (job.details["embeddings_computed"], job.details["embeddings_reused"]) == (0, 1)
    assert engine.documents.get(first).version_id != versions[first]
    assert engine.documents.get(second).version_id == versions[second]
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


def test_rebuild_builds_new_chunks_and_swaps_them_in(engine: Engine, barrier: EmbeddingBarrier) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    conversation_id = engine.conversations.create().conversation_id
    answer = engine.answer(ASK_BUDGET)
    engine.conversations.add_message(conversation_id, "assistant", answer.text, answer)
    old = longest_chunk(engine)
    job = barrier.rebuild(engine, chunk_tokens=40)
    assert_found(engine, budget=["a.pdf"])
    passages = engine.search("Which clause binds the tenant?", top_k=100).passages
    assert len(passages) == len({passage.chunk_id for passage in passages})
    assert {document.status for document in engine.documents.list()} == {DocumentStatus.INDEXED}
    barrier.release()
    ended = engine.jobs.wait([job.job_id])[0]
    assert ended.state is JobState.DONE
    assert longest_chunk(engine) <= 40 + 42 < old
    assert ended.details["embeddings_reused"] == 2  # the short pages are the same text in both
    assert ended.details["embeddings_computed"] == ended.details["chunks"] - 2
    assert_found(engine, budget=["a.pdf"], penguins=["b.pdf"])
    assert built_chunk_tokens(engine) == 40
    assert engine.index.differences() == {"chunk_tokens": (40, engine.settings.chunk_tokens)}
    assert engine.conversations.messages(conversation_id)[0].answer == answer
    assert engine._stores.documents.generations("retired") == []


def test_questions_get_the_same_answer_during_rebuilds(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    ended = threading.Event()
    searches: list[list[str]] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            while not ended.is_set():
                searches.append(names_found(engine, ASK_BUDGET))
        except Exception as error:  # noqa: BLE001 - any error is a failure of the test
            errors.append(error)

    def rebuild() -> None:
        try:
            for chunk_tokens in (40, 64, 40, 200):
                assert rebuild_index(engine, chunk_tokens=chunk_tokens).state is JobState.DONE
        except Exception as error:  # noqa: BLE001 - as above
            errors.append(error)
        finally:
            ended.set()

    run_in_threads(ask, ask, rebuild)
    assert errors == []
    assert len(searches) > 8
    assert all(names == ["a.pdf"] for names in searches)


def test_question_is_retried_when_its_index_is_dropped(
    engine: Engine, barrier: EmbeddingBarrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    drop, removal = DenseIndex.drop, Barrier()

    def blocked(self: DenseIndex) -> None:
        removal.wait()
        drop(self)

    def swap() -> None:
        barrier.release()
        removal.wait_until_reached()

    monkeypatch.setattr(DenseIndex, "drop", blocked)
    job = barrier.rebuild(engine, chunk_tokens=40)
    with before_call(DenseIndex, "retrieve", swap):
        assert_found(engine, budget=["a.pdf"])
    removal.release()
    assert engine.jobs.wait([job.job_id])[0].state is JobState.DONE


def test_document_deleted_during_rebuild_stays_deleted(engine: Engine, barrier: EmbeddingBarrier) -> None:
    deleted = indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    job = barrier.rebuild(engine, chunk_tokens=40)
    (receipt,) = engine.documents.delete([deleted])
    assert receipt.chunks_remaining == 0
    barrier.release()
    ended = engine.jobs.wait([job.job_id])[0]
    assert ended.state is JobState.DONE, ended.reason
    assert [document.name for document in engine.documents.list()] == ["b.pdf"]
    assert_found(engine, budget=[], penguins=["b.pdf"])
    assert_stores_agree(engine)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("b.pdf", {"penguins": ["b.pdf"], "budget": ["a.pdf"]}), ("a.pdf", {"penguins": ["a.pdf"], "budget": []})],
    ids=["new", "replacement"],
)
def test_file_added_during_rebuild_is_in_new_index(
    engine: Engine, barrier: EmbeddingBarrier, name: str, expected: dict[str, list[str]]
) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    job = barrier.rebuild(engine, chunk_tokens=40)
    added = engine.documents.submit(name, make_pdf(PENGUINS))
    barrier.release()
    engine.jobs.wait([job.job_id, added.job_id])
    idle(engine)
    assert_found(engine, **expected)
    assert_stores_agree(engine)


def test_document_replaced_before_its_rebuilt_version_is_complete(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    added: list[Job] = []

    def replace() -> None:
        added.append(engine.documents.submit("a.pdf", make_pdf(PENGUINS)))

    # The rebuild itself indexes the new file, and publishes it after the version that it replaces.
    with before_call(EmbeddingQueue, "put", replace):
        rebuild_index(engine, chunk_tokens=40)
    engine.jobs.wait([added[0].job_id])
    idle(engine)
    assert [document.name for document in engine.documents.list()] == ["a.pdf"]
    assert_found(engine, penguins=["a.pdf"], budget=[])
    assert_stores_agree(engine)


REREADS: dict[str, Callable[[Engine, str], Job]] = {
    "re-index": lambda engine, document_id: engine.index.rebuild([document_id]),
    "retry": lambda engine, document_id: engine.documents.retry(document_id),
}


@pytest.mark.parametrize("reread", REREADS.values(), ids=REREADS)
def test_replacement_wins_over_concurrent_reread(
    engine: Engine, barrier: EmbeddingBarrier, reread: Callable[[Engine, str], Job]
) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    replacing = barrier.submit(engine, "a.pdf", PENGUINS)
    rereading = reread(engine, document_id)
    while engine.jobs.list()[0].state is JobState.QUEUED:
        time.sleep(0.01)
    barrier.release()
    assert engine.jobs.wait([replacing.job_id, rereading.job_id])[0].result is DocumentStatus.INDEXED
    assert engine.documents.content(document_id) == make_pdf(PENGUINS)
    assert_found(engine, penguins=["a.pdf"], budget=[])
    assert_in_agreement(engine)


@pytest.mark.parametrize("reread", REREADS.values(), ids=REREADS)
def test_reread_document_stays_when_its_replacement_is_cancelled(
    engine: Engine, barrier: EmbeddingBarrier, reread: Callable[[Engine, str], Job]
) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    before = engine.documents.get(document_id).version_id
    replacing = barrier.submit(engine, "a.pdf", PENGUINS)
    rereading = reread(engine, document_id)
    engine.jobs.cancel(replacing.job_id)
    barrier.release()
    assert engine.jobs.wait([replacing.job_id, rereading.job_id])[1].state is JobState.DONE
    assert engine.documents.get(document_id).version_id != before
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


def test_original_content_submitted_again_wins_over_replacement(engine: Engine, barrier: EmbeddingBarrier) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    barrier.block()
    jobs = [engine.documents.submit("a.pdf", make_pdf(PENGUINS)), engine.documents.retry(document_id)]
    # Equal content: the re-read document's, which the first job is going to replace.
    jobs.append(engine.documents.submit("a.pdf", make_pdf(BUDGET)))
    barrier.release()
    assert engine.jobs.wait([job.job_id for job in jobs])[2].result is DocumentStatus.INDEXED
    assert_found(engine, budget=["a.pdf"], penguins=[])
    assert_in_agreement(engine)


def test_cancelled_rebuild_leaves_index_unchanged(engine: Engine, barrier: EmbeddingBarrier) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    before = engine.documents.list()
    job = barrier.rebuild(engine, chunk_tokens=40)
    engine.jobs.cancel(job.job_id)
    barrier.release()
    assert engine.jobs.wait([job.job_id])[0].state is JobState.CANCELLED
    assert engine.documents.list() == before
    assert_found(engine, budget=["a.pdf"])
    assert engine.index.differences() == {}
    assert engine._stores.documents.generations("building") == []
    assert_in_agreement(engine)


def test_running_reindex_continues_while_files_arrive(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = indexed(engine, "a.pdf", BUDGET)
    added: list[str] = []
    next_file = IndexingQueue._next_file_task

    def add_another(queue: IndexingQueue) -> IndexingTask | None:
        running = [job.kind for job in engine.jobs.list(active=True) if job.state is JobState.RUNNING]
        if len(added) < 8 and "reindex" in running:
            pdf = make_pdf(f"{PENGUINS} {len(added)}")
            added.append(engine.documents.submit(f"{len(added)}.pdf", pdf).job_id)
        return next_file(queue)

    monkeypatch.setattr(IndexingQueue, "_next_file_task", add_another)
    job = rebuild_index(engine, [chosen])
    assert job.state is JobState.DONE
    assert 0 < len(added) < 8
    engine.jobs.wait(added)
    idle(engine)
    assert_stores_agree(engine)


def test_rebuild_cancelled_after_swap_is_done(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    with before_call(Removal, "remove_generation", lambda: engine.jobs.cancel(engine.jobs.list(active=True)[0].job_id)):
        job = rebuild_index(engine, chunk_tokens=40)
    assert (job.state, job.reason) == (JobState.DONE, "")
    assert engine.index.differences() == {"chunk_tokens": (40, engine.settings.chunk_tokens)}
    assert_stores_agree(engine)


def test_cancelled_reindex_reports_number_of_documents(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [indexed(engine, "a.pdf", BUDGET), indexed(engine, "b.pdf", PENGUINS)]
    first, second = (engine.documents.get(document_id).version_id for document_id in chosen)
    put = EmbeddingQueue.put

    def cancel_after_first(tasks: EmbeddingQueue, task: EmbeddingTask) -> None:
        put(tasks, task)
        engine._indexer.drain()
        engine.jobs.cancel(task.task.job_id)

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddingQueue, "put", cancel_after_first)
        job = rebuild_index(engine, chosen)
    assert job.state is JobState.CANCELLED
    assert "1 of 2 documents" in job.reason
    assert [row["document"] for row in job.details["documents"]] == ["a.pdf"]
    assert engine.documents.get(chosen[0]).version_id != first
    assert engine.documents.get(chosen[1]).version_id == second
    with monkeypatch.context() as patch:
        patch.setattr(EmbeddingQueue, "put", cancel_after_first)
        last = rebuild_index(engine, chosen[1:])
    assert (last.state, last.reason) == (JobState.DONE, "")
    assert_in_agreement(engine)


def test_reindex_of_empty_library_is_done(engine: Engine) -> None:
    job = rebuild_index(engine)
    assert (job.state, job.details["chunks"]) == (JobState.DONE, 0)


def test_failed_documents_stay_listed_through_rebuild(
    engine: Engine, barrier: EmbeddingBarrier, tmp_path: Path
) -> None:
    indexed(engine, "good.pdf", PENGUINS)
    add_document(engine, "broken.pdf", b"%PDF-1.4 garbage")
    locked = str(add_document(engine, "locked.pdf", encrypted("secret", BUDGET)).document_id)
    with failing(WordIndex, "add"):
        add_document(engine, "failed.pdf", make_pdf(COPPER))
    job = barrier.submit(engine, "cancelled.pdf", LONG)
    engine.jobs.cancel(job.job_id)
    barrier.release()
    idle(engine)
    before = described(engine)
    with before_call(DenseIndex, "drop", copy_folder(tmp_path / "data", tmp_path / "copy")):
        assert rebuild_index(engine, chunk_tokens=40).state is JobState.DONE
    with opened(tmp_path / "copy") as after:
        idle(after)
        for each in (engine, after):
            assert described(each) == before
            assert each.documents.content(locked) == engine.documents.content(locked)
            assert retry_document(each, locked, password="secret").result is DocumentStatus.INDEXED
            assert_found(each, budget=["locked.pdf"])
            for name in ("failed.pdf", "cancelled.pdf"):
                assert retry_document(each, before[name][0]).result is DocumentStatus.INDEXED
            assert each.documents.delete([before["broken.pdf"][0]])[0].chunks_remaining == 0
            assert_stores_agree(each)


def test_unpublished_file_survives_rebuild(
    engine: Engine, barrier: EmbeddingBarrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(engine, "a.pdf", BUDGET)
    fail, publish = raising(StoreUnavailable("The disk is on fire.")), DocumentStore.publish
    added = barrier.submit(engine, "a.pdf", PENGUINS)
    with monkeypatch.context() as patch:
        patch.setattr(
            DocumentStore, "publish", lambda *of, active, **how: (fail if active else publish)(*of, active=active)
        )
        patch.setattr(DocumentStore, "mark_version_ended", fail)
        with before_call(DocumentStore, "swap_generation", patch.undo):
            job = engine.index.rebuild(chunk_tokens=40)
            barrier.release()
            ended = engine.jobs.wait([job.job_id, added.job_id])
    assert (ended[0].state, ended[1].result) == (JobState.DONE, DocumentStatus.INDEXED)
    assert_found(engine, penguins=["a.pdf"], budget=[])
    assert_stores_agree(engine)


def change_fingerprint(engine: Engine, part: str, value: str) -> None:
    """Store another fingerprint with the index."""
    fingerprint = engine._stores.documents.generations("active")[0][1]
    changed = {name: getattr(fingerprint, name) for name in fingerprint.__slots__} | {part: value}
    with engine._stores.database.begin() as connection:
        connection.execute(update(generations).values(fingerprint=changed))


@pytest.mark.parametrize(
    ("part", "value", "error", "message", "problem"),
    [
        ("weights", "0" * 64, IndexMismatch, "re-index", "other weights"),
        ("projection", "0" * 12, IndexMismatch, "re-index", "other vectors"),
        (
            *("embedder", "/former/model", EmbedderMissing),
            *(r"built with .*'/former/model'.* Re-index all documents", "/former/model"),
        ),
    ],
)
def test_search_requires_reindex_after_change_of_model(
    engine: Engine, part: str, value: str, error: type[Exception], message: str, problem: str
) -> None:
    indexed(engine, "a.pdf", BUDGET)
    change_fingerprint(engine, part, value)
    for ask in (engine.search, engine.answer):
        with pytest.raises(error, match=message):
            ask(ASK_BUDGET)
    status = engine.status()
    assert not status.healthy
    assert any(problem in text and "re-index" in text.lower() for text in status.problems)
    assert set(engine.index.differences()) == {part}
    assert rebuild_index(engine).state is JobState.DONE
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


@pytest.mark.parametrize("all_documents", [False, True])
def test_status_tells_which_documents_an_older_parser_has_read(engine: Engine, all_documents: bool) -> None:
    ids = [indexed(engine, "a.pdf", BUDGET), indexed(engine, "b.pdf", COPPER)]
    assert engine.status().notices == []
    read_by_older_parser(engine, *(ids if all_documents else ids[:1]))
    status = engine.status()
    assert status.healthy
    (notice,) = status.notices
    assert notice.startswith("2 documents were" if all_documents else "1 document was")
    assert notice.endswith("python -m rag_core reindex")
    assert rebuild_index(engine).state is JobState.DONE
    assert engine.status().notices == []
    assert engine.index.outdated_ids() == []
    assert engine.index.differences() == {}
    assert_in_agreement(engine)


def test_queued_reindex_can_be_cancelled(engine: Engine, barrier: EmbeddingBarrier) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    running = barrier.rebuild(engine, chunk_tokens=40)
    queued = engine.index.rebuild(engine.documents.find_ids(["a.pdf"]))
    assert (running.name, queued.name) == ("All documents", "1 document")
    engine.jobs.cancel(queued.job_id)
    barrier.release()
    ended = engine.jobs.wait([running.job_id, queued.job_id])
    assert [job.state for job in ended] == [JobState.DONE, JobState.CANCELLED]
    assert ended[1].reason == "Cancelled before it started."
