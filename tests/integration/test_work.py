"""Background work: cancellation, failing stores, shutdown and crashes."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from rag_core.engine import Engine
from rag_core.errors import IndexingStopped, StoreUnavailable, UnknownDocument
from rag_core.index.dense import DenseIndex
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.words import WordIndex
from rag_core.indexing.jobs import MAX_PAUSE_S
from rag_core.indexing.publication import PublicationStage
from rag_core.indexing.queue import MAX_ATTEMPTS
from rag_core.store.documents import DocumentStore
from rag_core.store.jobs import JobStore
from rag_core.store.schema import chunks, documents, versions
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from tests.support.engines import (
    BUDGET,
    COPPER,
    PENGUINS,
    Barrier,
    EmbeddingBarrier,
    ReadingBarrier,
    add_document,
    assert_found,
    assert_in_agreement,
    before_call,
    failing,
    failing_once,
    idle,
    indexed,
    opened,
    raising,
    rebuild_index,
    retry_document,
    run_in_threads,
)
from tests.support.pdfs import make_pdf


def wait_for_embedding(engine: Engine) -> None:
    """Wait until a document is queued for embedding; its job reports that stage slightly earlier."""
    while not engine._indexer._pipeline.chunked._tasks:
        time.sleep(0.01)


@pytest.mark.parametrize("is_stored", [True, False])
def test_cancelled_queued_job_is_not_indexed(
    engine: Engine, reading_barrier: ReadingBarrier, *, is_stored: bool
) -> None:
    first = reading_barrier.submit(engine, "a.pdf", BUDGET)
    second = engine.documents.submit("b.pdf", make_pdf(PENGUINS))
    assert {job.state for job in engine.jobs.list(active=True)} == {JobState.RUNNING, JobState.QUEUED}
    if is_stored:
        engine.jobs.cancel(second.job_id)
    else:
        with failing(DocumentStore, "mark_version_ended"), pytest.raises(StoreUnavailable, match="on fire"):
            engine.jobs.cancel(second.job_id)
    reading_barrier.release()
    ended = engine.jobs.wait([first.job_id, second.job_id])
    assert [job.result for job in ended] == [DocumentStatus.INDEXED, DocumentStatus.CANCELLED]
    assert ended[1].state is JobState.CANCELLED
    assert_found(engine, penguins=[])
    assert engine.documents.delete([str(second.document_id)])[0].chunks_remaining == 0
    assert_in_agreement(engine)


def test_token_vectors_are_prefetched_after_indexing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    prefetch, done, read = EmbeddingStore.prefetch, threading.Event(), []

    def prefetch_and_signal(store: EmbeddingStore, chunk_ids: Sequence[int]) -> None:
        prefetch(store, chunk_ids)
        done.set()

    monkeypatch.setattr(EmbeddingStore, "prefetch", prefetch_and_signal)
    indexed(engine, "a.pdf", BUDGET)
    assert done.wait(60)
    monkeypatch.setattr(EmbeddingStore, "_read_tokens", lambda store, chunk_ids: read.extend(chunk_ids) or {})
    assert_found(engine, budget=["a.pdf"])
    assert read == []


def test_document_is_indexed_if_prefetch_fails(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    with failing(EmbeddingStore, "prefetch"):
        indexed(engine, "a.pdf", BUDGET)
        indexed(engine, "b.pdf", PENGUINS)
    assert "the token vectors of a.pdf could not be prefetched: The disk is on fire." in caplog.text
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


@pytest.mark.parametrize("name", ["mark_version_ended", "add_version"])
def test_too_large_file_is_rejected_after_store_failure(tmp_path: Path, name: str) -> None:
    too_large = make_pdf(BUDGET) + b"\0" * 1_100_000
    with opened(tmp_path / "data", max_file_mb=1) as engine:
        with failing_once(DocumentStore, name):
            with suppress(StoreUnavailable):
                add_document(engine, "big.pdf", too_large)
            job = add_document(engine, "big.pdf", too_large)
        assert job.result in (DocumentStatus.REJECTED, DocumentStatus.DUPLICATE)
        idle(engine)
        (document,) = engine.documents.list()
        assert document.status is DocumentStatus.REJECTED
        assert "RAG_MAX_FILE_MB" in document.reason
        assert engine.documents.delete([document.document_id])[0].chunks_remaining == 0


@pytest.mark.parametrize(("stage", "names"), [("reading", []), ("embedding", ["a.pdf"])])
def test_job_can_be_cancelled_in_each_stage(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, stage: str, names: list[str]
) -> None:
    barrier = {"reading": ReadingBarrier, "embedding": EmbeddingBarrier}[stage](monkeypatch)
    job = barrier.submit(engine, "a.pdf", BUDGET)
    assert_found(engine, budget=names)
    engine.jobs.cancel(job.job_id)
    barrier.release()
    assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.CANCELLED
    assert engine.documents.list()[0].status is DocumentStatus.CANCELLED
    assert_found(engine, budget=[])
    assert_in_agreement(engine)
    assert indexed(engine, "a.pdf", BUDGET) == job.document_id


def test_job_can_be_cancelled_during_publication_of_another(
    engine: Engine, barrier: EmbeddingBarrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publication must not block the embedding stage, or this test would time out."""
    add, publication = DenseIndex.add, Barrier()

    def blocked(self: DenseIndex, *args: Any) -> None:
        publication.wait()
        add(self, *args)

    first = barrier.submit(engine, "a.pdf", BUDGET)
    second = engine.documents.submit("b.pdf", make_pdf(PENGUINS))
    wait_for_embedding(engine)
    monkeypatch.setattr(DenseIndex, "add", blocked)
    barrier.release()
    publication.wait_until_reached()
    while engine._stores.embeddings.count() < 2:
        time.sleep(0.01)
    engine.jobs.cancel(second.job_id)
    publication.release()
    ended = engine.jobs.wait([first.job_id, second.job_id])
    assert [job.result for job in ended] == [DocumentStatus.INDEXED, DocumentStatus.CANCELLED]
    assert_found(engine, penguins=[])
    assert_in_agreement(engine)


def test_wait_polls_less_often_if_polling_is_slow(
    engine: Engine, barrier: EmbeddingBarrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    states, sleep = JobStore.states, time.sleep
    pauses: list[float] = []

    def slow_states(self: JobStore, job_ids: Sequence[str]) -> dict[str, JobState]:
        sleep(0.5)
        return states(self, job_ids)

    def record_pause(seconds: float) -> None:
        pauses.append(seconds)
        barrier.release()

    monkeypatch.setattr(JobStore, "states", slow_states)
    monkeypatch.setattr(time, "sleep", record_pause)
    barrier.block()
    assert add_document(engine, "a.pdf", make_pdf(PENGUINS)).result is DocumentStatus.INDEXED
    assert pauses
    assert max(pauses) <= MAX_PAUSE_S


def test_duplicate_of_pending_document_names_it(engine: Engine, barrier: EmbeddingBarrier) -> None:
    first = barrier.submit(engine, "a.pdf", BUDGET)
    duplicate = engine.documents.submit("b.pdf", make_pdf(BUDGET))
    assert duplicate.result is DocumentStatus.DUPLICATE
    assert "being indexed as a.pdf. If that fails, add this file again" in duplicate.reason
    assert "It is being indexed already" in engine.documents.submit("a.pdf", make_pdf(BUDGET)).reason
    engine.jobs.cancel(first.job_id)
    barrier.release()
    engine.jobs.wait([first.job_id])
    assert indexed(engine, "b.pdf", BUDGET) != first.document_id
    assert "in the library as b.pdf" in engine.documents.submit("c.pdf", make_pdf(BUDGET)).reason
    assert_in_agreement(engine)


def test_cancelled_replacement_keeps_the_document(engine: Engine, barrier: EmbeddingBarrier) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    job = barrier.submit(engine, "a.pdf", PENGUINS)
    engine.jobs.cancel(job.job_id)
    barrier.release()
    engine.jobs.wait([job.job_id])
    assert_found(engine, budget=["a.pdf"], penguins=[])
    assert engine.documents.get(document_id).status is DocumentStatus.INDEXED
    assert_in_agreement(engine)


def test_cancelling_an_ended_job_has_no_effect(engine: Engine) -> None:
    job = add_document(engine, "a.pdf", make_pdf(BUDGET))
    engine.jobs.cancel(job.job_id)
    assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.INDEXED
    assert_found(engine, budget=["a.pdf"])
    with pytest.raises(UnknownDocument):
        engine.jobs.cancel("nothing")


def test_document_can_be_deleted_during_indexing(engine: Engine, barrier: EmbeddingBarrier) -> None:
    job = barrier.submit(engine, "a.pdf", BUDGET)
    threading.Timer(0, barrier.release).start()
    (receipt,) = engine.documents.delete([str(job.document_id)])
    assert receipt.chunks_remaining == 0
    assert engine.documents.list() == []
    assert_found(engine, budget=[])
    assert_in_agreement(engine)


@pytest.mark.parametrize("texts", [(BUDGET, PENGUINS, COPPER), (COPPER, BUDGET, COPPER)])
def test_last_of_several_replacements_wins(engine: Engine, barrier: EmbeddingBarrier, texts: tuple[str, ...]) -> None:
    barrier.block()
    jobs = [engine.documents.submit("a.pdf", make_pdf(text)).job_id for text in texts]
    barrier.wait_until_reached()
    barrier.release()
    assert engine.jobs.wait(jobs)[-1].result is DocumentStatus.INDEXED
    assert_found(engine, copper=["a.pdf"], budget=[], penguins=[])
    (document,) = engine.documents.list()
    assert engine.documents.content(document.document_id) == make_pdf(texts[-1])
    assert_in_agreement(engine)


def test_next_version_keeps_the_name_of_its_document(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    job = engine._indexer.submission.submit("b.pdf", make_pdf(PENGUINS), "default", "keep", document_id=document_id)
    assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.INDEXED
    assert engine.documents.get(document_id).name == "a.pdf"
    assert {chunk.prefix for chunk in engine.documents.chunks(document_id)} == {"a"}


def test_vectors_removed_before_publication_are_recomputed(engine: Engine) -> None:
    def remove_vectors() -> None:
        with engine._stores.database.begin() as connection:
            connection.execute(update(chunks).values(embedding_id=None))
        engine._stores.embeddings.remove_unused()

    with before_call(PublicationStage, "_process", remove_vectors):
        document_id = indexed(engine, "a.pdf", BUDGET)
    assert_found(engine, budget=["a.pdf"])
    with before_call(PublicationStage, "_process", remove_vectors):
        job = rebuild_index(engine, [document_id])
    assert (job.state, job.details["embeddings_computed"]) == (JobState.DONE, 1)
    assert_found(engine, budget=["a.pdf"])
    assert engine._stores.embeddings.count() == 1
    assert_in_agreement(engine)


@pytest.mark.parametrize("is_new", [True, False])
def test_recomputed_file_does_not_undo_its_replacement(
    engine: Engine, barrier: EmbeddingBarrier, *, is_new: bool
) -> None:
    if not is_new:
        indexed(engine, "a.pdf", COPPER)
    first = barrier.submit(engine, "a.pdf", BUDGET)
    second = engine.documents.submit("a.pdf", make_pdf(PENGUINS))
    wait_for_embedding(engine)
    embeddings, version_id = engine._stores.embeddings, first.details["version_id"]

    # The embeddings of the second file may be stored by now; without them both files would be indexed, in order.
    def remove_first() -> None:
        assert embeddings.remove_unused(embeddings.find_ids_of_versions([version_id])) == 1

    with before_call(PublicationStage, "_process", remove_first):
        barrier.release()
        ended = engine.jobs.wait([first.job_id, second.job_id])
    assert [job.result for job in ended] == [DocumentStatus.CANCELLED, DocumentStatus.INDEXED]
    assert_found(engine, penguins=["a.pdf"], budget=[], copper=[])
    assert_in_agreement(engine)


def test_document_stays_published_if_its_job_cannot_finish(engine: Engine) -> None:
    with failing_once(JobStore, "finish", calls=MAX_ATTEMPTS + 1), pytest.raises(IndexingStopped):
        indexed(engine, "a.pdf", BUDGET)
    idle(engine)
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


def test_failed_document_can_be_retried(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(WordIndex, "add", raising(RuntimeError("a bug")))
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
    assert (job.state, job.result) == (JobState.FAILED, DocumentStatus.FAILED)
    assert "a bug" not in job.reason
    assert engine.documents.get(str(job.document_id)).status is DocumentStatus.FAILED
    assert_in_agreement(engine)
    retried = retry_document(engine, str(job.document_id))
    assert (retried.result, retried.document_id) == (DocumentStatus.INDEXED, job.document_id)
    assert_found(engine, budget=["a.pdf"])
    assert_in_agreement(engine)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (DocumentStore, "save_chunks"),
        (EmbeddingStore, "link_chunks"),
        (DenseIndex, "add"),
        (DocumentStore, "publish"),
        (JobStore, "set_progress"),
    ],
)
def test_one_store_failure_fails_one_document(engine: Engine, owner: type, name: str) -> None:
    with failing(owner, name):
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
    assert job.result is DocumentStatus.FAILED
    assert job.reason == "The disk is on fire."
    indexed(engine, "b.pdf", PENGUINS)
    assert_found(engine, budget=[])
    assert_in_agreement(engine)


@pytest.mark.parametrize("name", ["queued", "finish"])
def test_queue_continues_after_failure_of_its_own_store(engine: Engine, name: str) -> None:
    with failing_once(JobStore, name, threads=("indexing", "results")):
        add_document(engine, "a.pdf", make_pdf(BUDGET))
        indexed(engine, "b.pdf", PENGUINS)
    assert_found(engine, penguins=["b.pdf"])


def test_unfinished_file_does_not_undo_its_replacement(engine: Engine, barrier: EmbeddingBarrier) -> None:
    indexed(engine, "a.pdf", COPPER)
    with failing_once(DocumentStore, "publish"), failing_once(DocumentStore, "mark_version_ended"):
        barrier.block()
        jobs = [engine.documents.submit("a.pdf", make_pdf(text)).job_id for text in (BUDGET, PENGUINS)]
        barrier.release()
        results = [job.result for job in engine.jobs.wait(jobs)]
    assert results == [DocumentStatus.CANCELLED, DocumentStatus.INDEXED]
    assert_found(engine, penguins=["a.pdf"], budget=[])
    assert_in_agreement(engine)


def test_engine_can_be_closed_twice_and_from_another_thread(tmp_path: Path) -> None:
    engines: list[Engine] = []
    run_in_threads(lambda: engines.append(opened(tmp_path / "data")))
    indexed(engines[0], "a.pdf", BUDGET)
    engines[0].close()
    engines[0].close()
    with opened(tmp_path / "data") as reopened:
        assert_found(reopened, budget=["a.pdf"])


def test_search_during_replacement_among_33_000_documents(tmp_path: Path, barrier: EmbeddingBarrier) -> None:
    rows = [{"id": f"{number:032x}"} for number in range(33_000)]
    document = {"name": "x", "collection": "default", "added_at": datetime.now(UTC)}
    version = {"sha256": "0" * 64, "size": 1, "state": "full", "status": "indexed", "added_at": datetime.now(UTC)}
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        ((generation, _),) = engine._stores.documents.generations("active")
        with engine._stores.database.begin() as connection:
            connection.execute(insert(documents), [{**row, "active_version": row["id"], **document} for row in rows])
            version["generation_id"] = generation
            connection.execute(insert(versions), [{**row, "document_id": row["id"], **version} for row in rows])
        barrier.submit(engine, "a.pdf", PENGUINS)
        assert_found(engine, budget=["a.pdf"], penguins=[])
        barrier.release()
        idle(engine)
        assert_found(engine, penguins=["a.pdf"], budget=[])
