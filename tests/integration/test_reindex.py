"""Re-indexing: the old index answers until one swap, and nothing is embedded twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from rag_core.chunking.chunker import Chunker, DocumentChunker
from rag_core.engine import Engine
from rag_core.errors import EmbedderMissing, IndexMismatch, StoreUnavailable
from rag_core.index.dense import DenseIndex
from rag_core.index.words import WordIndex
from rag_core.indexing import queue
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import EmbeddingQueue, EmbeddingTask, IndexingTask
from rag_core.store.documents import DocumentStore
from rag_core.store.jobs import JobStore
from rag_core.store.schema import generations
from rag_core.types import DocumentStatus, Job, JobState
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
from tests.support.pdfs import encrypted, make_pdf

LONG = " ".join(
    f"Clause {number} binds the tenant of house {number} to pay the rent in advance." for number in range(20)
)


def reindexed(engine: Engine, *args: Any, **options: Any) -> Job:
    job = engine.index.rebuild(*args, **options)
    return engine.jobs.wait([job.job_id])[0]


def test_unchanged_settings_keep_everything(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    before_it = [document.version_id for document in engine.documents.list()]
    job = reindexed(engine)
    assert job.state is JobState.DONE
    assert job.details["embeddings_computed"] == 0
    assert (
        job.details["embeddings_reused"] == job.details["chunks"] == sum(one.chunks for one in engine.documents.list())
    )
    assert {row["document"] for row in job.details["documents"]} == {"a.pdf", "b.pdf"}
    assert [document.version_id for document in engine.documents.list()] == before_it
    assert_in_agreement(engine)


def test_what_a_store_has_lost_is_made_again(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    indexed(engine, "b.pdf", PENGUINS)
    stores = engine._stores
    lost = stores.library.chunk_ids([engine.documents.get(document_id).version_id])
    stores.words.delete(lost)
    assert not engine.status().healthy
    job = reindexed(engine)
    assert job.details["embeddings_computed"] == 0
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_one_document_is_read_again_and_its_vectors_reused(engine: Engine) -> None:
    first, second = indexed(engine, "a.pdf", BUDGET), indexed(engine, "b.pdf", PENGUINS)
    versions = {one: engine.documents.get(one).version_id for one in (first, second)}
    job = reindexed(engine, [first])
    assert job.state is JobState.DONE
    assert [row["document"] for row in job.details["documents"]] == ["a.pdf"]
    assert (job.details["embeddings_computed"], job.details["embeddings_reused"]) == (0, 1)
    assert engine.documents.get(first).version_id != versions[first]
    assert engine.documents.get(second).version_id == versions[second]
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_other_chunks_are_built_beside_the_old_ones_and_swapped(engine_of_its_own: Engine, hold: Hold) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    conversation = engine.conversations.create()
    answer = engine.answer(ASK_BUDGET)
    engine.conversations.add_message(conversation.conversation_id, "assistant", answer.text, answer)
    old = {
        chunk.tokens for document in engine.documents.list() for chunk in engine.documents.chunks(document.document_id)
    }
    hold.on()
    job = engine.index.rebuild(chunk_tokens=40)
    hold.until_reached()
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    passages = engine.search("Which clause binds the tenant?", top_k=100).passages
    assert len(passages) == len({passage.chunk_id for passage in passages})
    assert {document.status for document in engine.documents.list()} == {DocumentStatus.INDEXED}
    hold.release()
    ended = engine.jobs.wait([job.job_id])[0]
    assert ended.state is JobState.DONE
    new = {
        chunk.tokens for document in engine.documents.list() for chunk in engine.documents.chunks(document.document_id)
    }
    assert max(new) <= 40 + 42 < max(old)
    assert ended.details["embeddings_reused"] == 2  # the short pages are the same text in both
    assert ended.details["embeddings_computed"] == ended.details["chunks"] - 2
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert names_found(engine, ASK_PENGUINS) == ["b.pdf"]
    status = engine.status()
    assert status.built_with is not None
    assert status.built_with.chunk_tokens == 40
    assert engine.index.differences() == {"chunk_tokens": (40, engine.settings.chunk_tokens)}
    assert engine.conversations.messages(conversation.conversation_id)[0].answer == answer
    assert engine._stores.library.generations("retired") == []


def test_questions_are_answered_alike_before_during_and_after_swaps(engine_of_its_own: Engine) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    over, wrong, asked = threading.Event(), list[object](), list[bool]()

    def ask() -> None:
        while not over.is_set():
            try:
                if names_found(engine, ASK_BUDGET) != ["a.pdf"]:
                    wrong.append("not found")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is shown
                wrong.append(error)
            asked.append(True)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for chunk_tokens in (40, 64, 40, 200):
        assert reindexed(engine, chunk_tokens=chunk_tokens).state is JobState.DONE
    over.set()
    for thread in threads:
        thread.join()
    assert len(asked) > 8
    assert wrong == []


def test_a_question_is_asked_again_where_its_index_was_emptied_meanwhile(
    engine_of_its_own: Engine, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    drop, emptied, go = DenseIndex.drop, threading.Event(), threading.Event()

    def held(self: DenseIndex) -> None:
        emptied.set()
        assert go.wait(60)
        drop(self)

    def swap() -> None:
        hold.release()
        assert emptied.wait(60)

    monkeypatch.setattr(DenseIndex, "drop", held)
    hold.on()
    job = engine.index.rebuild(chunk_tokens=40)
    hold.until_reached()
    with before(DenseIndex, "retrieve", swap):
        assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    go.set()
    assert engine.jobs.wait([job.job_id])[0].state is JobState.DONE


def test_a_file_that_arrives_during_a_rebuild_is_in_both_indexes(engine_of_its_own: Engine, hold: Hold) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    hold.on()
    job = engine.index.rebuild(chunk_tokens=40)
    hold.until_reached()
    added = engine.documents.submit("c.pdf", make_pdf(COPPER))
    hold.release()
    engine.jobs.wait([job.job_id, added.job_id])
    idle(engine)
    assert names_found(engine, ASK_COPPER) == ["c.pdf"]
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_stores_agree(engine)


def test_a_document_deleted_during_a_rebuild_stays_deleted(engine_of_its_own: Engine, hold: Hold) -> None:
    engine = engine_of_its_own
    gone = indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    hold.on()
    job = engine.index.rebuild(chunk_tokens=40)
    hold.until_reached()
    (receipt,) = engine.documents.delete([gone])
    assert receipt.chunks_remaining == 0
    hold.release()
    ended = engine.jobs.wait([job.job_id])[0]
    assert ended.state is JobState.DONE, ended.reason
    assert [document.name for document in engine.documents.list()] == ["b.pdf"]
    assert names_found(engine, ASK_BUDGET) == []
    assert names_found(engine, ASK_PENGUINS) == ["b.pdf"]
    assert_stores_agree(engine)


def test_a_document_replaced_during_a_rebuild_is_the_new_one_after_it(engine_of_its_own: Engine, hold: Hold) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    hold.on()
    job = engine.index.rebuild(chunk_tokens=40)
    hold.until_reached()
    added = engine.documents.submit("a.pdf", make_pdf(PENGUINS))
    hold.release()
    engine.jobs.wait([job.job_id, added.job_id])
    idle(engine)
    assert names_found(engine, ASK_PENGUINS) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == []
    assert_stores_agree(engine)


def test_a_document_replaced_before_its_rebuilt_version_is_complete_is_not_lost(engine_of_its_own: Engine) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    added: list[Job] = []

    def replace() -> None:
        added.append(engine.documents.submit("a.pdf", make_pdf(PENGUINS)))

    # Taken up by the rebuild itself, and published after the version that it replaces in the new generation.
    with before(EmbeddingQueue, "put", replace):
        job = engine.index.rebuild(chunk_tokens=40)
        engine.jobs.wait([job.job_id])
    engine.jobs.wait([added[0].job_id])
    idle(engine)
    assert [one.name for one in engine.documents.list()] == ["a.pdf"]
    assert names_found(engine, ASK_PENGUINS) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == []
    assert_stores_agree(engine)


READ_AGAIN: dict[str, Callable[[Engine, str], Job]] = {
    "re-indexed": lambda engine, document_id: engine.index.rebuild([document_id]),
    "tried again": lambda engine, document_id: engine.documents.retry(document_id),
}


@pytest.mark.parametrize("read_again", READ_AGAIN.values(), ids=READ_AGAIN)
def test_a_document_that_is_read_again_while_it_is_replaced_is_the_new_one(
    engine: Engine, hold: Hold, read_again: Callable[[Engine, str], Job]
) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    hold.on()
    replacing = engine.documents.submit("a.pdf", make_pdf(PENGUINS))
    hold.until_reached()
    again = read_again(engine, document_id)
    while engine.jobs.list()[0].state is JobState.QUEUED:
        time.sleep(0.01)
    hold.release()
    assert engine.jobs.wait([replacing.job_id, again.job_id])[0].result is DocumentStatus.INDEXED
    assert engine.documents.content(document_id) == make_pdf(PENGUINS)
    assert names_found(engine, ASK_PENGUINS) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == []
    assert_in_agreement(engine)


@pytest.mark.parametrize("read_again", READ_AGAIN.values(), ids=READ_AGAIN)
def test_a_document_that_is_read_again_stays_where_its_replacement_comes_to_nothing(
    engine: Engine, hold: Hold, read_again: Callable[[Engine, str], Job]
) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    before_it = engine.documents.get(document_id).version_id
    hold.on()
    replacing = engine.documents.submit("a.pdf", make_pdf(PENGUINS))
    hold.until_reached()
    again = read_again(engine, document_id)
    engine.jobs.cancel(replacing.job_id)
    hold.release()
    assert engine.jobs.wait([replacing.job_id, again.job_id])[1].state is JobState.DONE
    assert engine.documents.get(document_id).version_id != before_it
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_a_document_put_back_while_its_old_content_is_read_again_is_the_old_one(engine: Engine, hold: Hold) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    hold.on()
    jobs = [engine.documents.submit("a.pdf", make_pdf(PENGUINS)), engine.documents.retry(document_id)]
    # Not one with what is read again, which the file above is going to replace.
    jobs.append(engine.documents.submit("a.pdf", make_pdf(BUDGET)))
    hold.release()
    assert engine.jobs.wait([job.job_id for job in jobs])[2].result is DocumentStatus.INDEXED
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert names_found(engine, ASK_PENGUINS) == []
    assert_in_agreement(engine)


def test_a_cancelled_rebuild_leaves_the_index_as_it_was(engine_of_its_own: Engine, hold: Hold) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    before_it = engine.documents.list()
    hold.on()
    job = engine.index.rebuild(chunk_tokens=40)
    hold.until_reached()
    engine.jobs.cancel(job.job_id)
    hold.release()
    assert engine.jobs.wait([job.job_id])[0].state is JobState.CANCELLED
    assert engine.documents.list() == before_it
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert engine.index.differences() == {}
    assert engine._stores.library.generations("building") == []
    assert_in_agreement(engine)


def test_an_internal_error_in_one_document_leaves_the_index_as_it_was(
    engine_of_its_own: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    start = Chunker.start

    def fail_for_b(chunker: Chunker, name: str) -> DocumentChunker:
        if name == "b.pdf":
            raise RuntimeError("a bug")
        return start(chunker, name)

    with monkeypatch.context() as patch:
        patch.setattr(Chunker, "start", fail_for_b)
        job = reindexed(engine, chunk_tokens=40)
    assert job.state is JobState.FAILED
    assert job.reason.endswith("Other documents are unchanged.")
    assert names_found(engine, ASK_PENGUINS) == ["b.pdf"]
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert engine.index.differences() == {}
    idle(engine)
    assert_stores_agree(engine)


def test_a_running_re_index_goes_on_while_files_keep_coming(
    engine_of_its_own: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of_its_own
    chosen = indexed(engine, "a.pdf", BUDGET)
    added: list[str] = []
    next_file = IndexingQueue._next_file

    def add_another(queue: IndexingQueue) -> IndexingTask | None:
        if len(added) < 8 and any(
            job.kind == "reindex" and job.state is JobState.RUNNING for job in engine.jobs.list(active=True)
        ):
            text = f"{PENGUINS} {len(added)}"
            added.append(engine.documents.submit(f"{len(added)}.pdf", make_pdf(text)).job_id)
        return next_file(queue)

    monkeypatch.setattr(IndexingQueue, "_next_file", add_another)
    job = reindexed(engine, [chosen])
    assert job.state is JobState.DONE
    assert 0 < len(added) < 8
    engine.jobs.wait(added)
    idle(engine)
    assert_stores_agree(engine)


def test_a_rebuild_that_is_cancelled_after_the_swap_is_done(engine_of_its_own: Engine) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    with before(Removal, "remove_generation", lambda: engine.jobs.cancel(engine.jobs.list(active=True)[0].job_id)):
        job = reindexed(engine, chunk_tokens=40)
    assert (job.state, job.reason) == (JobState.DONE, "")
    assert engine.index.differences() == {"chunk_tokens": (40, engine.settings.chunk_tokens)}
    assert_stores_agree(engine)


def test_a_cancelled_re_index_says_how_many_documents_were_read_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [indexed(engine, "a.pdf", BUDGET), indexed(engine, "b.pdf", PENGUINS)]
    before_it = [engine.documents.get(one).version_id for one in chosen]
    put = EmbeddingQueue.put

    def cancel_once_one_is_done(tasks: EmbeddingQueue, task: EmbeddingTask) -> None:
        put(tasks, task)
        engine._indexer.drain()
        engine.jobs.cancel(task.task.job_id)

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddingQueue, "put", cancel_once_one_is_done)
        job = reindexed(engine, chosen)
    assert job.state is JobState.CANCELLED
    assert "1 of 2 documents" in job.reason
    assert [row["document"] for row in job.details["documents"]] == ["a.pdf"]
    assert [engine.documents.get(one).version_id != was for one, was in zip(chosen, before_it, strict=True)] == [
        True,
        False,
    ]
    with monkeypatch.context() as patch:
        patch.setattr(EmbeddingQueue, "put", cancel_once_one_is_done)
        last = reindexed(engine, chosen[1:])
    assert (last.state, last.reason) == (JobState.DONE, "")
    assert_in_agreement(engine)


@pytest.mark.parametrize("name", ["delete", "drop"])
def test_a_former_index_that_a_store_keeps_is_removed_later(
    engine_of_its_own: Engine, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    with monkeypatch.context() as patch:
        patch.setattr(DenseIndex, name, broken(StoreUnavailable("The disk is on fire.")))
        job = reindexed(engine, chunk_tokens=40)
    assert (job.state, job.reason) == (JobState.DONE, "")
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    while engine._stores.library.generations("retired"):
        time.sleep(0.01)
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_stores_agree(engine)


def test_a_rebuild_that_fails_as_its_store_is_away_ends_and_leaves_nothing(
    engine_of_its_own: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET, LONG)
    with monkeypatch.context() as patch:
        for name in ("add", "delete", "drop"):
            patch.setattr(DenseIndex, name, broken(StoreUnavailable("The disk is on fire.")))
        job = reindexed(engine, chunk_tokens=40)
    assert job.state is JobState.FAILED
    assert "on fire" in job.reason
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    while engine._stores.library.generations("building"):
        time.sleep(0.01)
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_chunks_that_the_embedder_cannot_read_are_refused_by_the_setting(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    job = reindexed(engine, chunk_tokens=5000)
    assert job.state is JobState.FAILED
    assert "RAG_CHUNK_TOKENS" in job.reason
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert engine.index.differences() == {}


def test_an_embedder_that_is_not_here_is_refused_by_its_name(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    job = reindexed(engine, embedder="nobody/no-model")
    assert job.state is JobState.FAILED
    assert "nobody/no-model" in job.reason
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]


def test_one_document_cannot_have_other_settings_than_the_rest(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    job = reindexed(engine, [document_id], chunk_tokens=40)
    assert job.state is JobState.FAILED
    assert "chunk_tokens" in job.reason
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]


def test_a_re_index_of_nothing_is_done_at_once(engine: Engine) -> None:
    job = reindexed(engine)
    assert (job.state, job.details["chunks"]) == (JobState.DONE, 0)


def test_a_document_that_fails_in_a_rebuild_stays_listed_with_its_reason(
    engine_of_its_own: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of_its_own
    bad = indexed(engine, "bad.pdf", BUDGET)
    indexed(engine, "good.pdf", PENGUINS)
    real = DocumentStore.save_chunks

    def failing(library: DocumentStore, version_id: str, spans: Any) -> list[int]:
        if any("Zanzibar" in span.text for span in spans):
            raise IndexMismatch("This document does not want to.")
        return real(library, version_id, spans)

    with monkeypatch.context() as patch:
        patch.setattr(DocumentStore, "save_chunks", failing)
        job = reindexed(engine, chunk_tokens=40)
    assert job.state is JobState.FAILED
    assert "1 of 2" in job.reason
    assert "does not want to" in job.reason
    assert names_found(engine, ASK_PENGUINS) == ["good.pdf"]
    assert engine.documents.get(bad).status is DocumentStatus.FAILED
    again = engine.jobs.wait([engine.documents.retry(bad).job_id])[0]
    assert again.result is DocumentStatus.INDEXED
    assert names_found(engine, ASK_BUDGET) == ["bad.pdf"]
    assert_stores_agree(engine)


def test_what_came_to_nothing_stays_listed_through_a_rebuild(
    engine_of_its_own: Engine, hold: Hold, tmp_path: Path
) -> None:
    engine = engine_of_its_own
    indexed(engine, "good.pdf", PENGUINS)
    add_document(engine, "broken.pdf", b"%PDF-1.4 garbage")
    locked = str(add_document(engine, "locked.pdf", encrypted("secret", BUDGET)).document_id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WordIndex, "add", broken(StoreUnavailable("The disk is on fire.")))
        add_document(engine, "failed.pdf", make_pdf(COPPER))
    hold.on()
    job = engine.documents.submit("cancelled.pdf", make_pdf(LONG))
    hold.until_reached()
    engine.jobs.cancel(job.job_id)
    hold.release()
    idle(engine)
    listed = {
        one.name: (one.document_id, one.status, one.reason, one.needs_password) for one in engine.documents.list()
    }
    with before(DenseIndex, "drop", copied(tmp_path / "data", tmp_path / "copy")):
        assert reindexed(engine, chunk_tokens=40).state is JobState.DONE
    with opened(tmp_path / "copy") as after:
        idle(after)
        for one in (engine, after):
            assert listed == {
                row.name: (row.document_id, row.status, row.reason, row.needs_password) for row in one.documents.list()
            }
            assert one.documents.content(locked) == engine.documents.content(locked)
            ended = one.jobs.wait([one.documents.retry(locked, password="secret").job_id])[0]
            assert ended.result is DocumentStatus.INDEXED
            assert names_found(one, ASK_BUDGET) == ["locked.pdf"]
            for name in ("failed.pdf", "cancelled.pdf"):
                assert one.jobs.wait([one.documents.retry(listed[name][0]).job_id])[0].result is DocumentStatus.INDEXED
            assert one.documents.delete([listed["broken.pdf"][0]])[0].chunks_remaining == 0
            assert_stores_agree(one)


def test_a_file_that_a_store_kept_from_ending_outlives_a_rebuild(
    engine_of_its_own: Engine, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET)
    fail, publish = broken(StoreUnavailable("The disk is on fire.")), DocumentStore.publish
    hold.on()
    added = engine.documents.submit("a.pdf", make_pdf(PENGUINS))
    hold.until_reached()
    with monkeypatch.context() as patch:
        patch.setattr(
            DocumentStore, "publish", lambda *of, active, **how: (fail if active else publish)(*of, active=active)
        )
        patch.setattr(DocumentStore, "end_version", fail)
        with before(DocumentStore, "swap_generation", patch.undo):
            job = engine.index.rebuild(chunk_tokens=40)
            hold.release()
            ended = engine.jobs.wait([job.job_id, added.job_id])
    assert (ended[0].state, ended[1].result) == (JobState.DONE, DocumentStatus.INDEXED)
    assert names_found(engine, ASK_PENGUINS) == ["a.pdf"]
    assert names_found(engine, ASK_BUDGET) == []
    assert_stores_agree(engine)


# ended half-way


def test_a_rebuild_goes_on_at_the_next_start(tmp_path: Path, hold: Hold) -> None:
    first = opened(tmp_path / "data")
    indexed(first, "a.pdf", BUDGET, LONG)
    indexed(first, "b.pdf", PENGUINS)
    hold.on()
    job = first.index.rebuild(chunk_tokens=40)
    hold.until_reached()
    threading.Timer(0.05, hold.release).start()
    first.close()
    with opened(tmp_path / "data") as second:
        assert second.jobs.wait([job.job_id])[0].state is JobState.DONE
        status = second.status()
        assert status.built_with is not None
        assert status.built_with.chunk_tokens == 40
        assert names_found(second, ASK_BUDGET) == ["a.pdf"]
        assert_stores_agree(second)


def test_a_document_being_read_again_at_the_end_is_read_again_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.engines import HoldReading

    first = opened(tmp_path / "data")
    document_id = indexed(first, "a.pdf", BUDGET, PENGUINS)
    with monkeypatch.context() as patch:
        reading = HoldReading(patch)
        job = first.index.rebuild([document_id])
        reading.until_reached()
        threading.Timer(0.05, reading.release).start()
        first.close()
    with opened(tmp_path / "data") as second:
        ended = second.jobs.wait([job.job_id])[0]
        assert (ended.state, ended.reason) == (JobState.DONE, "")
        assert names_found(second, ASK_BUDGET) == ["a.pdf"]
        assert_in_agreement(second)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (DocumentStore, "add_generation"),
        (DocumentStore, "save_chunks"),
        (DenseIndex, "add"),
        (DocumentStore, "swap_generation"),
        (WordIndex, "delete"),
        (DenseIndex, "drop"),
        (DocumentStore, "drop_generation"),
        (JobStore, "finish"),
    ],
)
def test_a_rebuild_cut_off_goes_on(tmp_path: Path, owner: type, name: str) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET, LONG)
        with before(owner, name, copied(tmp_path / "data", tmp_path / "copy")):
            assert reindexed(engine, chunk_tokens=40).state is JobState.DONE
    with opened(tmp_path / "copy") as after:
        assert names_found(after, ASK_BUDGET) == ["a.pdf"]
        idle(after)
        assert names_found(after, ASK_BUDGET) == ["a.pdf"]
        status = after.status()
        assert status.built_with is not None
        assert status.built_with.chunk_tokens == 40
        assert after._stores.library.generations("retired") == after._stores.library.generations("building") == []
        assert_stores_agree(after)


# weights that are not those of the index


@pytest.mark.parametrize(
    ("part", "other", "said"), [("weights", "0" * 64, "other weights"), ("projection", "0" * 12, "other vectors")]
)
def test_an_index_of_other_weights_is_refused_until_it_is_built_again(
    engine_of_its_own: Engine, part: str, other: str, said: str
) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET)
    with engine._stores.database.begin() as connection:
        fingerprint = engine._stores.library.generations("active")[0][1]
        changed = {name: getattr(fingerprint, name) for name in fingerprint.__slots__} | {part: other}
        connection.execute(update(generations).values(fingerprint=changed))
    for ask in (engine.search, engine.answer):
        with pytest.raises(IndexMismatch, match="re-index"):
            ask(ASK_BUDGET)
    status = engine.status()
    assert not status.healthy
    assert any(said in problem for problem in status.problems)
    assert set(engine.index.differences()) == {part}
    assert reindexed(engine).state is JobState.DONE
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def test_an_index_whose_embedder_is_gone_is_told_with_what_to_do_and_built_again(engine_of_its_own: Engine) -> None:
    engine = engine_of_its_own
    indexed(engine, "a.pdf", BUDGET)
    with engine._stores.database.begin() as connection:
        fingerprint = engine._stores.library.generations("active")[0][1]
        changed = {name: getattr(fingerprint, name) for name in fingerprint.__slots__} | {"embedder": "/former/model"}
        connection.execute(update(generations).values(fingerprint=changed))
    with pytest.raises(EmbedderMissing, match=r"built with .*'/former/model'.* Re-index all documents"):
        engine.search(ASK_BUDGET)
    assert any("/former/model" in problem and "Re-index" in problem for problem in engine.status().problems)
    assert reindexed(engine).state is JobState.DONE
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert_in_agreement(engine)


def assert_stores_agree(engine: Engine) -> None:
    """As `assert_in_agreement`, where settings and index differ on purpose."""
    idle(engine)
    status = engine.status()
    assert not [problem for problem in status.problems if "other settings" not in problem]
    chunks = sum(document.chunks for document in engine.documents.list())
    stores = dict(status.stores)
    assert (stores["database"], stores["words"], stores["vectors"]) == (chunks, chunks, chunks)
    assert stores["token vectors"] <= chunks
    assert stores["files"] <= len(engine.documents.list())


@pytest.fixture
def engine_of_its_own(tmp_path: Path) -> Any:
    with opened(tmp_path / "data") as made:
        yield made
