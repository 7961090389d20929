"""The stores of the database: jobs, vectors, documents, and messages of errors."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert, text

from rag_core.errors import StoreUnavailable, UnknownDocument
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.retriever import ChunkBatch
from rag_core.index.words import WordIndex
from rag_core.store.database import Database, now, split_batches
from rag_core.store.document_names import NameStore
from rag_core.store.document_queries import lock_active
from rag_core.store.documents import DocumentStore
from rag_core.store.jobs import JobStore, build_job_row
from rag_core.store.schema import preferences
from rag_core.types.chunks import ChunkSpan, Embedding, Fingerprint
from rag_core.types.documents import DocumentStatus, Page, PageState
from rag_core.types.jobs import JobState

PRINT = Fingerprint("e", "w", 4, 2, "none", 200, 0.2, "x", "p")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "test.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def jobs(database: Database) -> JobStore:
    return JobStore(database)


@pytest.fixture
def library(database: Database) -> DocumentStore:
    return DocumentStore(database)


def span(ordinal: int, body: str) -> ChunkSpan:
    return ChunkSpan(ordinal, 0, 0, 0, len(body), body, "prefix", "", 5, (1,))


def version(library: DocumentStore, name: str, *bodies: str, publish: bool = True) -> tuple[str, str, list[int]]:
    document_id, version_id = library.add_version(name, "default", name.ljust(64, "0"), 1)
    library.save_pages(version_id, [Page(0, "1", " ".join(bodies), PageState.TEXT)])
    chunk_ids = library.save_chunks(version_id, [span(number, body) for number, body in enumerate(bodies)])
    if publish:
        library.publish(version_id, DocumentStatus.INDEXED, "", active=True)
    return document_id, version_id, chunk_ids


@pytest.fixture
def embeddings(database: Database) -> EmbeddingStore:
    return EmbeddingStore(database)


def write(database: Database, error: Exception | None = None) -> None:
    with database.begin() as connection:
        connection.execute(text("PRAGMA busy_timeout=0"))
        connection.execute(text("INSERT INTO preferences VALUES ('name', '1')"))
        if error:
            raise error


def test_failed_transaction_is_rolled_back(database: Database) -> None:
    with pytest.raises(RuntimeError):
        write(database, RuntimeError())
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM preferences WHERE name = 'name'")).scalar() == 0


def test_database_error_does_not_repeat_stored_values(database: Database) -> None:
    row = {"name": "confidential", "value": "word"}
    with pytest.raises(StoreUnavailable, match=r"test\.sqlite.*UNIQUE") as raised, database.begin() as connection:
        connection.execute(insert(preferences), [row, row])
    assert "confidential" not in str(raised.value)


@pytest.mark.parametrize(("store", "advice"), [(Database, "data folder from a backup"), (WordIndex, "re-index")])
def test_file_that_is_not_a_database_is_refused_with_advice(
    tmp_path: Path, store: Callable[[Path], object], advice: str
) -> None:
    (tmp_path / "test.sqlite").write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreUnavailable, match=rf"test\.sqlite is damaged \(.*not a database\).*{advice}"):
        store(tmp_path / "test.sqlite")


def test_damaged_page_is_refused_with_advice(tmp_path: Path) -> None:
    index = WordIndex(tmp_path / "words.sqlite")
    index.add(ChunkBatch(range(1, 500), [("", f"word{number} " * 50) for number in range(1, 500)], ["v"] * 499))
    index.close()
    content = (tmp_path / "words.sqlite").read_bytes()
    (tmp_path / "words.sqlite").write_bytes(content[:8192] + b"\xab" * (len(content) - 8192))
    index = WordIndex(tmp_path / "words.sqlite")
    with pytest.raises(StoreUnavailable, match=r"words\.sqlite is damaged .*delete that file.*re-index"):
        index.ids()
    index.close()


def test_database_locked_by_another_program_is_reported(tmp_path: Path, database: Database) -> None:
    connection = sqlite3.connect(tmp_path / "test.sqlite", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(StoreUnavailable, match="locked"):
            write(database)
    finally:
        connection.close()
    write(database)


def test_long_lists_of_ids_are_queried_in_batches(database: Database, library: DocumentStore) -> None:
    assert [len(batch) for batch in split_batches(list(range(2000)))] == [900, 900, 200]
    _, version_id, chunk_ids = version(library, "a", *(f"body {number}" for number in range(2500)))
    assert library.chunk_ids([version_id]) == chunk_ids
    assert len(library.visible_chunks(chunk_ids)) == 2500


def test_queued_jobs_are_listed_oldest_first_and_start_once(jobs: JobStore) -> None:
    added = [jobs.add("index", name) for name in ("a", "b")]
    jobs.add("reindex", "all")
    assert [job.name for job in jobs.queued("index")] == ["a", "b"]
    assert jobs.start(added[0].job_id)
    assert not jobs.start(added[0].job_id)
    assert [job.name for job in jobs.queued("index")] == ["b"]
    assert [job.name for job in jobs.all()] == ["all", "b", "a"]


def test_queued_jobs_are_listed_by_size_and_versions_keep_their_order(jobs: JobStore, library: DocumentStore) -> None:
    report, _ = library.add_version("report.pdf", "default", "a" * 64, 900, job=build_job_row("index", "report 1"))
    library.add_version("letter.pdf", "default", "b" * 64, 500, job=build_job_row("index", "letter"))
    options = {"document_id": report, "job": build_job_row("index", "report 2")}
    library.add_version("report.pdf", "default", "c" * 64, 10, **options)
    names = [job.name for job in jobs.queued("index", smallest_first=True)]
    assert names == ["letter", "report 1", "report 2"]
    assert [job.name for job in jobs.queued("index", smallest_first=True, limit=1)] == ["letter"]


def test_progress_gives_remaining_time(jobs: JobStore) -> None:
    job = jobs.add("index", "a")
    assert jobs.get(job.job_id).remaining_s is None
    jobs.start(job.job_id)
    jobs.set_progress(job.job_id, "reading", 1, 4)
    started = jobs.get(job.job_id)
    assert (started.stage, started.done, started.total) == ("reading", 1, 4)
    assert started.remaining_s == pytest.approx(3 * started.seconds)
    jobs.add_details(job.job_id, attached=1)
    jobs.set_progress(job.job_id, "embedding", 0, 4, ends_at=time.time() + 500)
    started = jobs.get(job.job_id)
    assert started.remaining_s == pytest.approx(500, abs=60)
    assert started.details["attached"] == 1


def test_job_ends_once(jobs: JobStore) -> None:
    job = jobs.add("index", "a")
    jobs.start(job.job_id)
    jobs.finish(job.job_id, JobState.CANCELLED, DocumentStatus.CANCELLED, "stopped")
    jobs.finish(job.job_id, JobState.DONE, DocumentStatus.INDEXED)
    ended = jobs.get(job.job_id)
    assert (ended.state, ended.result, ended.reason) == (JobState.CANCELLED, DocumentStatus.CANCELLED, "stopped")
    assert jobs.all(active=True) == []
    with pytest.raises(UnknownDocument):
        jobs.get("nothing")


def test_ended_jobs_are_dropped_and_active_jobs_kept(jobs: JobStore) -> None:
    waiting, interrupted = (jobs.add("index", name) for name in ("waiting", "interrupted"))
    for number in range(5):
        job = jobs.add("index", str(number))
        jobs.start(job.job_id)
        jobs.finish(job.job_id, JobState.DONE, None)
    jobs.start(interrupted.job_id)
    jobs.requeue_interrupted()
    assert [job.name for job in jobs.queued("index")] == ["waiting", "interrupted"]
    jobs.remove_ended(2)
    assert [job.name for job in jobs.all()] == ["4", "3", "interrupted", "waiting"]
    jobs.remove_ended(0, ended_before=now() - timedelta(days=1))
    assert len(jobs.all()) == 4
    jobs.remove_ended(0, ended_before=now() + timedelta(seconds=1))
    assert [job.name for job in jobs.all()] == ["interrupted", "waiting"]
    assert jobs.get(waiting.job_id).state is JobState.QUEUED


def test_only_published_chunks_are_visible(library: DocumentStore) -> None:
    generation = library.add_generation(PRINT, "active")
    _, hidden, hidden_chunks = version(library, "a", "one", publish=False)
    _, shown, shown_chunks = version(library, "b", "two")
    assert library.find_inactive_versions() == {}
    for version_id in (hidden, shown):
        library.update_version(version_id, generation_id=generation)
    assert set(library.visible_versions()) == {shown}
    assert library.find_inactive_versions() == {hidden: generation}
    assert set(library.visible_chunks([*hidden_chunks, *shown_chunks])) == set(shown_chunks)
    assert {document.name: document.chunks for document in library.documents()} == {"a": 0, "b": 1}
    assert library.count_unfinished() == (0, 1)
    library.publish(hidden, DocumentStatus.INDEXED, "", active=True)
    assert {document.name: document.chunks for document in library.documents()} == {"a": 1, "b": 1}
    assert library.count_unfinished() == (0, 0)
    assert set(library.visible_versions()) == {hidden, shown}
    assert library.find_inactive_versions() == {}
    many = [f"{number:032x}" for number in range(40_000)]
    documents = [document.document_id for document in library.documents()]
    assert set(library.visible_versions([documents[0], *many, documents[1]])) == {hidden, shown}
    assert library.count_unfinished([*documents, *many]) == (0, 0)


def test_reread_version_replaces_only_the_same_content(library: DocumentStore) -> None:
    document_id, first, _ = version(library, "a", "one")
    base = library.version(first)
    again, late = (
        library.add_version("a", "default", base.sha256, 1, document_id=document_id, base=base)[1] for _ in range(2)
    )
    assert library.publish(again, DocumentStatus.INDEXED, "", active=True, reread=True)
    assert library.visible_versions() == {again: "full"}
    _, newer = library.add_version("a", "default", "f" * 64, 1, document_id=document_id)
    assert [row.id for row in library.find_versions()][-1] == newer
    assert library.publish(newer, DocumentStatus.INDEXED, "", active=True)
    assert not library.publish(late, DocumentStatus.INDEXED, "", active=True, reread=True)
    assert library.visible_versions() == {newer: "full"}
    assert library.version(late).state == "building"


def test_chunk_ids_are_ranges_and_are_not_reused(library: DocumentStore) -> None:
    document_id, first, first_ids = version(library, "a", "one", "two")
    _, second, second_ids = version(library, "b", "three", "four", "five")
    assert library.chunk_ranges([first, second, "no such version"]) == {
        first: (min(first_ids), max(first_ids)),
        second: (min(second_ids), max(second_ids)),
    }
    library.begin_removal(document_id)
    library.clear_version(first)
    _, _, third_ids = version(library, "c", "six")
    assert min(third_ids) > max(second_ids)


def test_removal_frees_the_name_of_a_document(library: DocumentStore) -> None:
    document_id, _, _ = version(library, "a", "one")
    names = NameStore(library._db)
    assert names.find("a", "default") == document_id
    assert names.find("a", "other") is None
    library.begin_removal(document_id)
    assert names.find("a", "default") is None
    assert library.documents() == []


def test_swap_replaces_the_visible_generation(library: DocumentStore) -> None:
    old = library.add_generation(PRINT, "active")
    document_id, first, _ = version(library, "a", "one")
    library.update_version(first, generation_id=old)
    new = library.add_generation(PRINT, "building")
    added = [
        library.add_version("a", "default", content.ljust(64, "0"), 1, document_id=document_id, generation_id=new)[1]
        for content in ("former", "a", "later")
    ]
    for one in added:
        library.publish(one, DocumentStatus.INDEXED, "", active=False)
    assert set(library.visible_versions()) == {first}
    library.swap_generation(new)
    # Of several contents in the new generation, the one that searches use becomes active.
    second = added[1]
    assert set(library.visible_versions()) == {second}
    assert [generation for generation, _ in library.generations("active")] == [new]
    assert [generation for generation, _ in library.generations("retired")] == [old]


def embedding(value: float) -> Embedding:
    return Embedding(np.full(4, value, np.float32), np.ones((2, 4), np.int8), np.full(2, value, np.float32))


def test_embeddings_are_stored_by_model_and_text(embeddings: EmbeddingStore) -> None:
    embeddings.save("one", {b"x": embedding(1), b"y": embedding(2)})
    first = embeddings.find_ids("one", [b"x", b"y"])
    embeddings.save("one", {b"x": embedding(9)})
    embeddings.save("two", {b"x": embedding(3)})
    other = embeddings.find_ids("two", [b"x", b"y"])
    assert embeddings.find_ids("one", [b"x", b"y"]) == first
    assert other.keys() == {b"x"}
    assert other[b"x"] != first[b"x"]
    assert embeddings.read_dense([first[b"x"]])[first[b"x"]].tolist() == [1, 1, 1, 1]
    assert embeddings.count() == 3


def test_unused_embeddings_are_removed(embeddings: EmbeddingStore, library: DocumentStore) -> None:
    _, version_id, (used, lacking) = version(library, "a", "one", "two")
    embeddings.save("one", {b"x": embedding(1), b"y": embedding(2)})
    ids = embeddings.find_ids("one", [b"x", b"y"])
    embeddings.link_chunks({used: ids[b"x"]})
    assert set(embeddings.read_tokens([used, lacking])) == {used}
    assert not embeddings.is_fully_linked(version_id)
    assert embeddings.count_unused(list(ids.values())) == 1
    assert embeddings.remove_unused() == 1
    assert embeddings.find_ids("one", [b"x", b"y"]) == {b"x": ids[b"x"]}


def test_cached_token_vectors_match_stored_ones_until_removal(database: Database, library: DocumentStore) -> None:
    store = EmbeddingStore(database, 1 << 20)
    _, version_id, (used, lacking) = version(library, "a", "one", "two")
    store.save("one", {b"x": embedding(1)})
    assert store.read_tokens([used, lacking]) == {}
    store.link_chunks({used: store.find_ids("one", [b"x"])[b"x"]})
    first, second = (store.read_tokens([used, lacking]) for _ in range(2))
    assert first.keys() == second.keys() == {used}
    for name in ("tokens", "scales", "sentences"):
        assert getattr(second[used], name).tolist() == getattr(first[used], name).tolist()
    library.remove_chunks(library.chunk_ids([version_id]))
    assert store.remove_unused() == 1
    assert store.read_tokens([used, lacking]) == {}


TOKEN_VECTOR_BYTES = 8 + 8 + 4


def linked_chunks(store: EmbeddingStore, library: DocumentStore, name: str, count: int) -> list[int]:
    _, _, chunk_ids = version(library, name, *(str(number) for number in range(count)))
    store.save("one", {b"x": embedding(1)})
    store.link_chunks(dict.fromkeys(chunk_ids, store.find_ids("one", [b"x"])[b"x"]))
    return chunk_ids


def chunks_read(store: EmbeddingStore, chunk_ids: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Request token vectors and return the chunks for which the database is read."""
    read: list[int] = []
    monkeypatch.setattr(store, "_read_tokens", lambda chunk_ids: read.extend(chunk_ids) or {})
    store.read_tokens(chunk_ids)
    return read


@pytest.mark.parametrize(("room", "cached"), [(0, 0), (63, 0), (64, 64), (149, 128), (150, 150)])
def test_warm_up_caches_the_newest_token_vectors(
    database: Database, library: DocumentStore, monkeypatch: pytest.MonkeyPatch, room: int, cached: int
) -> None:
    store = EmbeddingStore(database, room * TOKEN_VECTOR_BYTES)
    chunk_ids = linked_chunks(store, library, "a", 150)
    store.warm_up()
    assert chunks_read(store, chunk_ids, monkeypatch) == sorted(chunk_ids)[: 150 - cached]


@pytest.mark.parametrize(("room", "missing"), [(0, 150), (64, 86), (149, 1), (150, 0)])
def test_prefetched_token_vectors_replace_older_ones(
    database: Database, library: DocumentStore, monkeypatch: pytest.MonkeyPatch, room: int, missing: int
) -> None:
    store = EmbeddingStore(database, room * TOKEN_VECTOR_BYTES)
    older, chunk_ids = linked_chunks(store, library, "a", 1), linked_chunks(store, library, "b", 150)
    store.read_tokens(older)
    store.prefetch(chunk_ids)
    assert chunks_read(store, [*older, *chunk_ids], monkeypatch) == [*older, *chunk_ids[:missing]]


def test_document_is_not_removed_while_data_of_its_active_version_is_written(
    database: Database, library: DocumentStore
) -> None:
    document_id, version_id, _ = version(library, "a.pdf", "One.")
    has_started = threading.Event()

    def remove() -> None:
        has_started.set()
        library.begin_removal(document_id)

    with ThreadPoolExecutor(1) as threads:
        with database.begin() as connection:
            assert lock_active(connection, version_id)
            removal = threads.submit(remove)
            assert has_started.wait(60)
            with pytest.raises(TimeoutError):
                removal.result(timeout=0.5)
        removal.result()
    with database.begin() as connection:
        assert not lock_active(connection, version_id)
