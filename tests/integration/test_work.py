"""Work in the background: cancelled, closed half-way, cut off by a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable, UnknownDocument
from rag_core.index.dense import DenseIndex
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.words import WordIndex
from rag_core.indexing.jobs import LONGEST_PAUSE_S
from rag_core.indexing.publication import PublicationStage
from rag_core.indexing.queue import MOST_TRIES
from rag_core.store.documents import DocumentStore
from rag_core.store.files import FileStore
from rag_core.store.jobs import JobStore
from rag_core.store.preferences import PreferenceStore
from rag_core.store.schema import chunks, documents, versions
from rag_core.types import DocumentStatus, JobState
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    ASK_PENGUINS,
    BUDGET,
    COPPER,
    PENGUINS,
    Hold,
    HoldReading,
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


def test_a_queued_job_can_be_cancelled(engine: Engine, hold_reading: HoldReading) -> None:
    first = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold_reading.until_reached()
    second = engine.documents.submit("b.pdf", make_pdf(PENGUINS))
    assert {job.state for job in engine.jobs.list(active=True)} == {JobState.RUNNING, JobState.QUEUED}
    engine.jobs.cancel(second.job_id)
    hold_reading.release()
    ended = engine.jobs.wait([first.job_id, second.job_id])
    assert [job.result for job in ended] == [DocumentStatus.INDEXED, DocumentStatus.CANCELLED]
    assert ended[1].state is JobState.CANCELLED
    assert names_found(engine, ASK_PENGUINS) == []
    assert_in_agreement(engine)


def test_token_vectors_of_what_was_indexed_are_in_memory_before_anybody_asks(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, done, read = EmbeddingStore.prefetch, threading.Event(), []

    def prefetch(store: EmbeddingStore, chunk_ids: Sequence[int]) -> None:
        real(store, chunk_ids)
        done.set()

    monkeypatch.setattr(EmbeddingStore, "prefetch", prefetch)
    indexed(engine, "a.pdf", BUDGET)
    assert done.wait(60)
    monkeypatch.setattr(EmbeddingStore, "_read_tokens", lambda store, chunk_ids: read.extend(chunk_ids) or {})
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert read == []


def test_a_document_is_indexed_though_its_token_vectors_cannot_be_read_ahead(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(EmbeddingStore, "prefetch", broken(StoreUnavailable("The disk is on fire.")))
    indexed(engine, "a.pdf", BUDGET)
    indexed(engine, "b.pdf", PENGUINS)
    assert "the token vectors of a.pdf could not be prefetched: The disk is on fire." in caplog.text
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_a_job_whose_cancelling_a_store_cuts_off_ends_by_itself(engine: Engine, hold_reading: HoldReading) -> None:
    first = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold_reading.until_reached()
    second = engine.documents.submit("b.pdf", make_pdf(PENGUINS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DocumentStore, "end_version", broken(StoreUnavailable("The disk is on fire.")))
        with pytest.raises(StoreUnavailable, match="on fire"):
            engine.jobs.cancel(second.job_id)
    hold_reading.release()
    ended = engine.jobs.wait([first.job_id, second.job_id])
    assert [job.result for job in ended] == [DocumentStatus.INDEXED, DocumentStatus.CANCELLED]
    assert engine.documents.delete([str(second.document_id)])[0].chunks_remaining == 0
    assert_in_agreement(engine)


@pytest.mark.parametrize("name", ["end_version", "add_version"])
def test_a_file_that_is_too_large_is_refused_though_a_store_fails_once(tmp_path: Path, name: str) -> None:
    too_large = make_pdf(BUDGET) + b"\0" * 1_100_000
    with opened(tmp_path / "data", max_file_mb=1) as engine:
        real, failed = getattr(DocumentStore, name), []

        def fails_once(*args: Any, **options: Any) -> Any:
            if not failed:
                failed.append(True)
                raise StoreUnavailable("The disk is on fire.")
            return real(*args, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DocumentStore, name, fails_once)
            with suppress(StoreUnavailable):
                add_document(engine, "big.pdf", too_large)
            again = add_document(engine, "big.pdf", too_large)
        assert failed
        assert again.result in (DocumentStatus.REJECTED, DocumentStatus.DUPLICATE)
        idle(engine)
        (document,) = engine.documents.list()
        assert document.status is DocumentStatus.REJECTED
        assert "RAG_MAX_FILE_MB" in document.reason
        assert engine.documents.delete([document.document_id])[0].chunks_remaining == 0


def test_a_job_can_be_cancelled_while_its_file_is_read(engine: Engine, hold_reading: HoldReading) -> None:
    job = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold_reading.until_reached()
    engine.jobs.cancel(job.job_id)
    hold_reading.release()
    assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.CANCELLED
    assert names_found(engine, ASK_BUDGET) == []
    assert engine.documents.list()[0].status is DocumentStatus.CANCELLED
    assert_in_agreement(engine)


def test_a_job_can_be_cancelled_while_its_vectors_are_made(engine: Engine, hold: Hold) -> None:
    hold.on()
    job = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold.until_reached()
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    engine.jobs.cancel(job.job_id)
    hold.release()
    assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.CANCELLED
    assert names_found(engine, ASK_BUDGET) == []
    assert_in_agreement(engine)
    assert indexed(engine, "a.pdf", BUDGET) == job.document_id


def test_a_job_can_be_cancelled_while_another_is_published(
    engine: Engine, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are made and stored meanwhile, or this would wait in vain."""
    add, reached, go = DenseIndex.add, threading.Event(), threading.Event()

    def held(self: DenseIndex, *args: Any) -> None:
        reached.set()
        assert go.wait(60)
        add(self, *args)

    hold.on()
    first = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold.until_reached()
    second = engine.documents.submit("b.pdf", make_pdf(PENGUINS))
    while engine.jobs.list(active=True)[0].stage != "embedding":
        time.sleep(0.01)
    monkeypatch.setattr(DenseIndex, "add", held)
    hold.release()
    assert reached.wait(60)
    while engine._stores.vectors.count() < 2:
        time.sleep(0.01)
    engine.jobs.cancel(second.job_id)
    go.set()
    ended = engine.jobs.wait([first.job_id, second.job_id])
    assert [job.result for job in ended] == [DocumentStatus.INDEXED, DocumentStatus.CANCELLED]
    assert names_found(engine, ASK_PENGUINS) == []
    assert_in_agreement(engine)


def test_a_look_at_the_jobs_that_takes_long_is_not_waited_for_ten_times(
    engine: Engine, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    states, sleep = JobStore.states, time.sleep
    slept: list[float] = []

    def slow(self: JobStore, job_ids: Sequence[str]) -> dict[str, JobState]:
        sleep(0.5)
        return states(self, job_ids)

    def noted(seconds: float) -> None:
        slept.append(seconds)
        hold.release()

    monkeypatch.setattr(JobStore, "states", slow)
    monkeypatch.setattr(time, "sleep", noted)
    hold.on()
    assert add_document(engine, "a.pdf", make_pdf(PENGUINS)).result is DocumentStatus.INDEXED
    assert slept
    assert max(slept) <= LONGEST_PAUSE_S


def test_a_duplicate_of_what_is_not_in_yet_is_told_as_such(engine: Engine, hold: Hold) -> None:
    hold.on()
    first = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold.until_reached()
    again = engine.documents.submit("b.pdf", make_pdf(BUDGET))
    assert again.result is DocumentStatus.DUPLICATE
    assert "being indexed as a.pdf. If that fails, add this file again" in again.reason
    assert "it is being indexed already" in engine.documents.submit("a.pdf", make_pdf(BUDGET)).reason
    engine.jobs.cancel(first.job_id)
    hold.release()
    engine.jobs.wait([first.job_id])
    assert indexed(engine, "b.pdf", BUDGET) != first.document_id
    assert "in the library as b.pdf" in engine.documents.submit("c.pdf", make_pdf(BUDGET)).reason
    assert_in_agreement(engine)


def test_cancelling_a_replacement_leaves_what_was_there(engine: Engine, hold: Hold) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    hold.on()
    job = engine.documents.submit("a.pdf", make_pdf(PENGUINS))
    hold.until_reached()
    engine.jobs.cancel(job.job_id)
    hold.release()
    engine.jobs.wait([job.job_id])
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert names_found(engine, ASK_PENGUINS) == []
    assert engine.documents.get(document_id).status is DocumentStatus.INDEXED
    assert_in_agreement(engine)


def test_cancelling_what_has_ended_changes_nothing(engine: Engine) -> None:
    job = add_document(engine, "a.pdf", make_pdf(BUDGET))
    engine.jobs.cancel(job.job_id)
    assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.INDEXED
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    with pytest.raises(UnknownDocument):
        engine.jobs.cancel("nothing")


def test_a_document_can_be_deleted_while_it_is_indexed(engine: Engine, hold: Hold) -> None:
    hold.on()
    job = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold.until_reached()
    threading.Timer(0, hold.release).start()
    (receipt,) = engine.documents.delete([str(job.document_id)])
    assert receipt.chunks_remaining == 0
    assert engine.documents.list() == []
    assert names_found(engine, ASK_BUDGET) == []
    assert_in_agreement(engine)


def test_what_is_replaced_twice_at_once_ends_as_the_last(engine: Engine, hold: Hold) -> None:
    hold.on()
    jobs = [engine.documents.submit("a.pdf", make_pdf(text)).job_id for text in (BUDGET, PENGUINS, COPPER)]
    hold.until_reached()
    hold.release()
    engine.jobs.wait(jobs)
    assert names_found(engine, ASK_COPPER) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == names_found(engine, ASK_PENGUINS) == []
    assert len(engine.documents.list()) == 1
    assert_in_agreement(engine)


def test_the_next_version_of_a_document_is_indexed_under_the_document_s_name(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    job = engine._indexer.submit("b.pdf", make_pdf(PENGUINS), "default", "keep", None, document_id=document_id)
    assert engine.jobs.wait([job.job_id])[0].result is DocumentStatus.INDEXED
    assert engine.documents.get(document_id).name == "a.pdf"
    assert {chunk.prefix for chunk in engine.documents.chunks(document_id)} == {"a"}


def test_vectors_that_are_removed_before_they_are_published_are_computed_again(engine: Engine) -> None:
    with before(PublicationStage, "_process", lambda: engine._stores.vectors.remove_unused()):
        indexed(engine, "a.pdf", BUDGET)
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert engine._stores.vectors.count() == 1
    assert_in_agreement(engine)


def test_a_re_index_whose_vectors_are_removed_counts_each_computation(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)

    def remove_vectors() -> None:
        with engine._stores.database.begin() as connection:
            connection.execute(update(chunks).values(embedding_id=None))
        engine._stores.vectors.remove_unused()

    with before(PublicationStage, "_process", remove_vectors):
        job = engine.jobs.wait([engine.index.rebuild([document_id]).job_id])[0]
    assert (job.state, job.details["embeddings_computed"]) == (JobState.DONE, 1)
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_file_that_is_embedded_again_does_not_undo_its_replacement(
    engine: Engine, hold: Hold, *, is_new: bool
) -> None:
    if not is_new:
        indexed(engine, "a.pdf", COPPER)
    hold.on()
    first = engine.documents.submit("a.pdf", make_pdf(BUDGET))
    hold.until_reached()
    second = engine.documents.submit("a.pdf", make_pdf(PENGUINS))
    while engine.jobs.list(active=True)[0].stage != "embedding":
        time.sleep(0.01)
    with before(PublicationStage, "_process", lambda: engine._stores.vectors.remove_unused()):
        hold.release()
        ended = engine.jobs.wait([first.job_id, second.job_id])
    assert [job.result for job in ended] == [DocumentStatus.CANCELLED, DocumentStatus.INDEXED]
    assert names_found(engine, ASK_PENGUINS) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == names_found(engine, ASK_COPPER) == []
    assert_in_agreement(engine)


def test_a_job_whose_end_a_store_cuts_off_keeps_what_was_published(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = JobStore.finish, []

    def fails_at_first(*args: Any, **options: Any) -> None:
        calls.append(args)
        if len(calls) <= MOST_TRIES + 1:
            raise StoreUnavailable("The disk is on fire.")
        real(*args, **options)

    monkeypatch.setattr(JobStore, "finish", fails_at_first)
    indexed(engine, "a.pdf", BUDGET)
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_a_document_that_fails_can_be_tried_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(WordIndex, "add", broken(RuntimeError("a bug")))
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
    assert (job.state, job.result) == (JobState.FAILED, DocumentStatus.FAILED)
    assert "a bug" not in job.reason
    assert engine.documents.get(str(job.document_id)).status is DocumentStatus.FAILED
    assert_in_agreement(engine)
    again = engine.jobs.wait([engine.documents.retry(str(job.document_id)).job_id])[0]
    assert (again.result, again.document_id) == (DocumentStatus.INDEXED, job.document_id)
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (DocumentStore, "save_chunks"),
        (EmbeddingStore, "link"),
        (DenseIndex, "add"),
        (DocumentStore, "publish"),
        (JobStore, "progress"),
    ],
)
def test_a_store_that_fails_once_costs_one_document(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, broken(StoreUnavailable("The disk is on fire.")))
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
    assert job.result is DocumentStatus.FAILED
    assert job.reason == "The disk is on fire."
    indexed(engine, "b.pdf", PENGUINS)
    assert names_found(engine, ASK_BUDGET) == []
    assert_in_agreement(engine)


@pytest.mark.parametrize("name", ["queued", "finish"])
def test_the_queue_goes_on_when_its_own_store_failed_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real, failed = getattr(JobStore, name), []

    def once(self: JobStore, *args: Any, **options: Any) -> Any:
        if not failed and threading.current_thread().name in ("indexing", "results"):
            failed.append(True)
            raise StoreUnavailable("The database does not answer.")
        return real(self, *args, **options)

    monkeypatch.setattr(JobStore, name, once)
    add_document(engine, "a.pdf", make_pdf(BUDGET))
    indexed(engine, "b.pdf", PENGUINS)
    assert failed
    assert names_found(engine, ASK_PENGUINS) == ["b.pdf"]


def test_a_file_that_a_store_kept_from_ending_does_not_undo_its_replacement(
    engine: Engine, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(engine, "a.pdf", COPPER)
    for name in ("publish", "end_version"):
        real, failed = getattr(DocumentStore, name), []

        def once(*of: Any, real: Any = real, failed: list[bool] = failed, **how: Any) -> Any:
            if not failed:
                failed.append(True)
                raise StoreUnavailable("The disk is on fire.")
            return real(*of, **how)

        monkeypatch.setattr(DocumentStore, name, once)
    hold.on()
    jobs = [engine.documents.submit("a.pdf", make_pdf(text)).job_id for text in (BUDGET, PENGUINS)]
    hold.release()
    results = [job.result for job in engine.jobs.wait(jobs)]
    assert results == [DocumentStatus.CANCELLED, DocumentStatus.INDEXED]
    assert names_found(engine, ASK_PENGUINS) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == []
    assert_in_agreement(engine)


# closed half-way


def test_what_is_unfinished_at_the_end_goes_on_at_the_next_start(tmp_path: Path, hold: Hold) -> None:
    first = opened(tmp_path / "data")
    hold.on()
    jobs = [
        first.documents.submit("a.pdf", make_pdf(BUDGET)).job_id,
        *(first.documents.submit(f"{n}.pdf", make_pdf(f"{PENGUINS} Part {n}.")).job_id for n in range(5)),
    ]
    hold.until_reached()
    threading.Timer(0.05, hold.release).start()
    first.close()
    with opened(tmp_path / "data") as second:
        assert {job.state for job in second.jobs.list()} <= {JobState.QUEUED, JobState.RUNNING, JobState.DONE}
        assert [job.result for job in second.jobs.wait(jobs)] == [DocumentStatus.INDEXED] * 6
        assert names_found(second, ASK_BUDGET) == ["a.pdf"]
        assert_in_agreement(second)


def test_a_file_being_read_at_the_end_is_read_again_at_the_next_start(
    tmp_path: Path, hold_reading: HoldReading
) -> None:
    first = opened(tmp_path / "data")
    job = first.documents.submit("a.pdf", make_pdf(BUDGET, PENGUINS))
    hold_reading.until_reached()
    threading.Timer(0.05, hold_reading.release).start()
    first.close()
    with opened(tmp_path / "data") as second:
        assert second.jobs.wait([job.job_id])[0].result is DocumentStatus.INDEXED
        assert second.documents.get(str(job.document_id)).pages == 2
        assert_in_agreement(second)


def test_an_engine_can_be_closed_twice_and_from_another_thread(tmp_path: Path) -> None:
    made: list[Engine] = []
    thread = threading.Thread(target=lambda: made.append(opened(tmp_path / "data")))
    thread.start()
    thread.join()
    indexed(made[0], "a.pdf", BUDGET)
    made[0].close()
    made[0].close()
    with opened(tmp_path / "data") as again:
        assert names_found(again, ASK_BUDGET) == ["a.pdf"]


# cut off: a copy of the data folder is what an end of the process at that moment leaves

INDEXING = [
    (FileStore, "put"),
    (DocumentStore, "add_version"),
    (JobStore, "start"),
    (DocumentStore, "save_pages"),
    (DocumentStore, "save_chunks"),
    (WordIndex, "add"),
    (DocumentStore, "publish_words"),
    (EmbeddingStore, "save"),
    (EmbeddingStore, "link"),
    (DenseIndex, "add"),
    (DocumentStore, "publish"),
    (JobStore, "finish"),
]
REMOVING = [
    (DocumentStore, "begin_removal"),
    (DenseIndex, "delete"),
    (WordIndex, "delete"),
    (DocumentStore, "clear_version"),
    (EmbeddingStore, "remove_unused"),
    (DocumentStore, "remove_version"),
    (FileStore, "delete"),
]


def named(pairs: list[tuple[type, str]]) -> list[Any]:
    return [pytest.param(owner, name, id=f"{owner.__name__}.{name}") for owner, name in pairs]


@pytest.mark.parametrize(("owner", "name"), named(INDEXING))
def test_indexing_cut_off_goes_on(tmp_path: Path, cut_off: CutOff, owner: type, name: str) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "birds.pdf", PENGUINS)
        with cut_off(owner, name):
            indexed(engine, "bridge.pdf", BUDGET, COPPER)
    with opened(tmp_path / "copy") as after:
        idle(after)
        documents = {document.name: document.status for document in after.documents.list()}
        if name in ("put", "add_version"):
            assert documents == {"birds.pdf": DocumentStatus.INDEXED}
            indexed(after, "bridge.pdf", BUDGET, COPPER)
        else:
            assert documents == dict.fromkeys(("birds.pdf", "bridge.pdf"), DocumentStatus.INDEXED)
        assert names_found(after, ASK_BUDGET) == names_found(after, ASK_COPPER) == ["bridge.pdf"]
        assert names_found(after, ASK_PENGUINS) == ["birds.pdf"]
        assert_in_agreement(after)


@pytest.mark.parametrize(
    ("owner", "name"), named([INDEXING[-2], INDEXING[-1], *REMOVING[1:4:2], REMOVING[-2], REMOVING[-1]])
)
def test_a_replacement_cut_off_goes_on(tmp_path: Path, cut_off: CutOff, owner: type, name: str) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        with cut_off(owner, name):
            indexed(engine, "a.pdf", PENGUINS, COPPER)
    with opened(tmp_path / "copy") as after:
        # The work goes on meanwhile: whichever version a search sees, it sees no other beside it.
        passages = after.search(f"{ASK_BUDGET} {ASK_PENGUINS}", top_k=50).passages
        assert len({passage.version_id for passage in passages}) == 1
        idle(after)
        assert names_found(after, ASK_BUDGET) == []
        assert names_found(after, ASK_PENGUINS) == names_found(after, ASK_COPPER) == ["a.pdf"]
        assert_in_agreement(after)


@pytest.mark.parametrize(("owner", "name"), named([*REMOVING, (DocumentStore, "remove_document")]))
def test_a_deletion_cut_off_is_finished(tmp_path: Path, cut_off: CutOff, owner: type, name: str) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "birds.pdf", PENGUINS)
        gone = indexed(engine, "bridge.pdf", BUDGET, COPPER)
        with cut_off(owner, name):
            engine.documents.delete([gone])
    with opened(tmp_path / "copy") as after:
        idle(after)
        if name == "begin_removal":  # nothing had been done yet
            after.documents.delete([gone])
        assert [document.name for document in after.documents.list()] == ["birds.pdf"]
        assert names_found(after, ASK_BUDGET) == names_found(after, ASK_COPPER) == []
        assert names_found(after, ASK_PENGUINS) == ["birds.pdf"]
        with pytest.raises(UnknownDocument):
            after.documents.find_ids(["bridge.pdf"])
        assert_in_agreement(after)
        indexed(after, "bridge.pdf", BUDGET)
        assert_in_agreement(after)


def test_entries_that_no_document_owns_are_removed_after_a_crash(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        stores = engine._stores
        generation, _ = stores.library.generations("active")[0]
        stores.words.add([900], [("", "left over", "gone")])
        stores.dense(generation).add([901], stores.vectors.dense([1])[1][None], ["gone"])
        stores.files.put(b"left over")
        PreferenceStore.set(stores.preferences, "clean_shutdown", None)
        copied(tmp_path / "data", tmp_path / "copy")()
    with opened(tmp_path / "copy") as after:
        assert names_found(after, ASK_BUDGET) == ["a.pdf"]
        assert_in_agreement(after)


def test_more_documents_than_sql_takes_values_are_searched_while_one_is_replaced(tmp_path: Path, hold: Hold) -> None:
    many = [{"id": f"{number:032x}"} for number in range(33_000)]
    of_document = {"name": "x", "collection": "default", "added_at": datetime.now(UTC)}
    of_version = {"sha256": "0" * 64, "size": 1, "state": "full", "status": "indexed", "added_at": datetime.now(UTC)}
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        ((generation, _),) = engine._stores.library.generations("active")
        with engine._stores.database.begin() as connection:
            connection.execute(insert(documents), [{**one, "active_version": one["id"], **of_document} for one in many])
            of_version["generation_id"] = generation
            connection.execute(insert(versions), [{**one, "document_id": one["id"], **of_version} for one in many])
        hold.on()
        engine.documents.submit("a.pdf", make_pdf(PENGUINS))
        hold.until_reached()
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
        assert names_found(engine, ASK_PENGUINS) == []
        hold.release()
        idle(engine)
        assert names_found(engine, ASK_PENGUINS) == ["a.pdf"]
        assert names_found(engine, ASK_BUDGET) == []


def test_files_that_others_put_into_the_store_are_no_concern_of_a_start(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        copied(tmp_path / "data", tmp_path / "copy")()
    half = tmp_path / "copy" / "files" / "ab" / f"ab{'0' * 62}.part"
    half.parent.mkdir(exist_ok=True)
    half.write_bytes(b"half an upload")
    for name in (".DS_Store", "readme.txt", "ab/.DS_Store"):
        (tmp_path / "copy" / "files" / name).write_bytes(b"x")
    with opened(tmp_path / "copy") as after:
        assert_in_agreement(after)
        assert names_found(after, ASK_BUDGET) == ["a.pdf"]
        assert not half.exists()
        assert (tmp_path / "copy" / "files" / "readme.txt").exists()


CutOff = Callable[[type, str], Any]


@pytest.fixture
def cut_off(tmp_path: Path) -> CutOff:
    return lambda owner, name: before(owner, name, copied(tmp_path / "data", tmp_path / "copy"))


@pytest.fixture
def hold_reading(monkeypatch: pytest.MonkeyPatch) -> HoldReading:
    return HoldReading(monkeypatch)
