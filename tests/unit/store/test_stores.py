"""The database's parts: jobs, vectors, the library's transactions, and errors in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert, text

from rag_core.errors import StoreUnavailable, UnknownDocument
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.words import WordIndex
from rag_core.store.database import Database, batches, now
from rag_core.store.documents import DocumentStore
from rag_core.store.jobs import JobStore
from rag_core.store.schema import preferences
from rag_core.types import ChunkSpan, DocumentStatus, Embedding, Fingerprint, JobState, Page, PageState

PRINT = Fingerprint("e", "w", 4, 2, "none", 200, 0.2, "x", "p")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "test.sqlite")
    yield made
    made.close()


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


def write(database: Database, then: Exception | None = None) -> None:
    with database.begin() as connection:
        connection.execute(text("PRAGMA busy_timeout=0"))
        connection.execute(text("INSERT INTO preferences VALUES ('name', '1')"))
        if then:
            raise then


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(RuntimeError):
        write(database, RuntimeError())
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM preferences WHERE name = 'name'")).scalar() == 0


def test_a_database_that_refuses_says_so_in_words(database: Database) -> None:
    with pytest.raises(StoreUnavailable, match=r"test\.sqlite"), database.begin() as connection:
        connection.execute(text("SELECT * FROM no_such_table"))


def test_a_refusal_repeats_nothing_of_what_was_to_be_stored(database: Database) -> None:
    row = {"name": "confidential", "value": "word"}
    with pytest.raises(StoreUnavailable, match=r"test\.sqlite.*UNIQUE") as refused, database.begin() as connection:
        connection.execute(insert(preferences), [row, row])
    assert "confidential" not in str(refused.value)


@pytest.mark.parametrize(("opened", "todo"), [(Database, "data folder from a backup"), (WordIndex, "re-index")])
def test_a_file_that_is_no_database_is_told_with_what_to_do(
    tmp_path: Path, opened: Callable[[Path], object], todo: str
) -> None:
    (tmp_path / "test.sqlite").write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreUnavailable, match=rf"test\.sqlite is damaged \(.*not a database\).*{todo}"):
        opened(tmp_path / "test.sqlite")


def test_a_damaged_page_of_a_database_is_told_with_what_to_do(tmp_path: Path) -> None:
    index = WordIndex(tmp_path / "words.sqlite")
    index.add(range(1, 500), [("", f"word{number} " * 50, "v") for number in range(1, 500)])
    index.close()
    whole = (tmp_path / "words.sqlite").read_bytes()
    (tmp_path / "words.sqlite").write_bytes(whole[:8192] + b"\xab" * (len(whole) - 8192))
    index = WordIndex(tmp_path / "words.sqlite")
    with pytest.raises(StoreUnavailable, match=r"words\.sqlite is damaged .*delete that file.*re-index"):
        index.ids()
    index.close()


def test_a_database_held_by_another_program_is_told(tmp_path: Path, database: Database) -> None:
    other = sqlite3.connect(tmp_path / "test.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(StoreUnavailable, match="locked"):
            write(database)
    finally:
        other.close()
    write(database)


def test_lists_longer_than_a_statement_may_hold_are_asked_in_runs(database: Database, library: DocumentStore) -> None:
    assert [len(run) for run in batches(list(range(2000)))] == [900, 900, 200]
    _, version_id, chunk_ids = version(library, "a", *(f"body {number}" for number in range(2500)))
    assert library.chunk_ids([version_id]) == chunk_ids
    assert len(library.visible_chunks(chunk_ids)) == 2500


def test_the_chunks_of_a_version_lie_within_its_range(library: DocumentStore) -> None:
    _, first, first_ids = version(library, "a", "one", "two")
    _, second, second_ids = version(library, "b", "three", "four", "five")
    assert library.chunk_range(first) == (min(first_ids), max(first_ids))
    assert library.chunk_range(second) == (min(second_ids), max(second_ids))
    assert library.chunk_range("no such version") == (0, 0)


def test_ended_jobs_are_dropped_once_nobody_waits_for_them(jobs: JobStore) -> None:
    ended, waiting = (jobs.add("index", name).job_id for name in ("a", "b"))
    jobs.finish(ended, JobState.DONE, DocumentStatus.INDEXED)
    jobs.forget_ended(0, ended_before=now() - timedelta(days=1))
    assert {job.job_id for job in jobs.all()} == {ended, waiting}
    jobs.forget_ended(0, ended_before=now() + timedelta(seconds=1))
    assert [job.job_id for job in jobs.all()] == [waiting]


def test_queued_jobs_come_oldest_first_and_are_taken_once(jobs: JobStore) -> None:
    made = [jobs.add("index", name) for name in ("a", "b")]
    jobs.add("reindex", "all")
    assert [job.name for job in jobs.queued("index")] == ["a", "b"]
    assert jobs.start(made[0].job_id)
    assert not jobs.start(made[0].job_id)
    assert [job.name for job in jobs.queued("index")] == ["b"]
    assert [job.name for job in jobs.all()] == ["all", "b", "a"]


def test_progress_gives_ground_for_an_estimate(jobs: JobStore) -> None:
    job = jobs.add("index", "a")
    assert jobs.get(job.job_id).remaining_s is None
    jobs.start(job.job_id)
    jobs.progress(job.job_id, "reading", 1, 4)
    found = jobs.get(job.job_id)
    assert (found.stage, found.done, found.total) == ("reading", 1, 4)
    assert found.remaining_s == pytest.approx(3 * found.seconds)


def test_a_job_ends_once(jobs: JobStore) -> None:
    job = jobs.add("index", "a")
    jobs.start(job.job_id)
    jobs.finish(job.job_id, JobState.CANCELLED, DocumentStatus.CANCELLED, "stopped")
    jobs.finish(job.job_id, JobState.DONE, DocumentStatus.INDEXED)
    found = jobs.get(job.job_id)
    assert (found.state, found.result, found.reason) == (JobState.CANCELLED, DocumentStatus.CANCELLED, "stopped")
    assert jobs.all(active=True) == []
    with pytest.raises(UnknownDocument):
        jobs.get("nothing")


def test_interrupted_jobs_are_queued_again(jobs: JobStore) -> None:
    first, second = jobs.add("index", "a"), jobs.add("index", "b")
    for job in (first, second):
        jobs.start(job.job_id)
    jobs.finish(second.job_id, JobState.DONE, DocumentStatus.INDEXED)
    assert jobs.requeue_interrupted() == 1
    assert [job.name for job in jobs.queued("index")] == ["a"]


def test_old_jobs_are_forgotten_and_active_ones_never(jobs: JobStore) -> None:
    waiting = jobs.add("index", "waiting")
    for number in range(5):
        job = jobs.add("index", str(number))
        jobs.start(job.job_id)
        jobs.finish(job.job_id, JobState.DONE, None)
    jobs.forget_ended(2)
    assert [job.name for job in jobs.all()] == ["4", "3", "waiting"]
    assert jobs.get(waiting.job_id).state is JobState.QUEUED


def test_only_published_chunks_are_seen(library: DocumentStore) -> None:
    generation = library.add_generation(PRINT, "active")
    _, hidden, hidden_chunks = version(library, "a", "one", publish=False)
    _, seen, seen_chunks = version(library, "b", "two")
    assert library.hidden_versions() == {}, "what waits is in no store"
    for one in (hidden, seen):
        library.update_version(one, generation_id=generation)
    assert set(library.visible_versions()) == {seen}
    assert library.hidden_versions() == {hidden: generation}
    assert set(library.visible_chunks([*hidden_chunks, *seen_chunks])) == set(seen_chunks)
    assert {one.name: one.chunks for one in library.documents()} == {"a": 0, "b": 1}
    assert library.unfinished() == (0, 1)
    library.publish(hidden, DocumentStatus.INDEXED, "", active=True)
    assert {one.name: one.chunks for one in library.documents()} == {"a": 1, "b": 1}
    assert library.unfinished() == (0, 0)
    assert set(library.visible_versions()) == {hidden, seen}
    assert library.hidden_versions() == {}
    many = [f"{number:032x}" for number in range(40_000)]
    documents = [one.document_id for one in library.documents()]
    assert set(library.visible_versions([documents[0], *many, documents[1]])) == {hidden, seen}
    assert library.unfinished([*documents, *many]) == (0, 0)


def test_what_is_read_again_takes_the_place_of_its_own_content_alone(library: DocumentStore) -> None:
    document_id, first, _ = version(library, "a", "one")
    base = library.version(first)
    again, late = (
        library.add_version("a", "default", base.sha256, 1, document_id=document_id, base=base)[1] for _ in range(2)
    )
    assert library.publish(again, DocumentStatus.INDEXED, "", active=True, reread=True)
    assert library.visible_versions() == {again: "full"}
    _, newer = library.add_version("a", "default", "f" * 64, 1, document_id=document_id)
    assert [row.id for row in library.versions_where()][-1] == newer
    assert library.publish(newer, DocumentStatus.INDEXED, "", active=True)
    assert not library.publish(late, DocumentStatus.INDEXED, "", active=True, reread=True)
    assert library.visible_versions() == {newer: "full"}
    assert library.version(late).state == "building"


def test_chunk_ids_are_never_used_again(library: DocumentStore) -> None:
    document_id, version_id, first = version(library, "a", "one", "two")
    library.begin_removal(document_id)
    library.clear_version(version_id)
    _, _, second = version(library, "b", "three")
    assert min(second) > max(first)


def test_a_document_that_is_going_gives_its_name_free(library: DocumentStore) -> None:
    document_id, _, _ = version(library, "a", "one")
    assert library.find_name("a", "default") == document_id
    assert library.find_name("a", "other") is None
    library.begin_removal(document_id)
    assert library.find_name("a", "default") is None
    assert library.documents() == []


def test_a_swap_shows_all_of_the_new_and_nothing_of_the_old(library: DocumentStore) -> None:
    old = library.add_generation(PRINT, "active")
    document_id, first, _ = version(library, "a", "one")
    library.update_version(first, generation_id=old)
    new = library.add_generation(PRINT, "building")
    _, second = library.add_version("a", "default", "0" * 64, 1, document_id=document_id, generation_id=new)
    library.publish(second, DocumentStatus.INDEXED, "", active=False)
    assert set(library.visible_versions()) == {first}
    library.swap_generation(new)
    assert set(library.visible_versions()) == {second}
    assert [one for one, _ in library.generations("active")] == [new]
    assert [one for one, _ in library.generations("retired")] == [old]


def embedding(value: float) -> Embedding:
    return Embedding(np.full(4, value, np.float32), np.ones((2, 4), np.int8), np.full(2, value, np.float32))


def test_vectors_are_kept_apart_by_model_and_shared_by_text(database: Database) -> None:
    store = EmbeddingStore(database)
    store.save("one", {b"x": embedding(1), b"y": embedding(2)})
    first = store.known("one", [b"x", b"y"])
    store.save("one", {b"x": embedding(9)})
    store.save("two", {b"x": embedding(3)})
    other = store.known("two", [b"x", b"y"])
    assert store.known("one", [b"x", b"y"]) == first
    assert other.keys() == {b"x"}
    assert other[b"x"] != first[b"x"]
    assert store.dense([first[b"x"]])[first[b"x"]].tolist() == [1, 1, 1, 1]
    assert store.count() == 3


def test_vectors_that_no_chunk_uses_are_removed_and_the_others_stay(database: Database, library: DocumentStore) -> None:
    store = EmbeddingStore(database)
    _, version_id, (used, lacking) = version(library, "a", "one", "two")
    store.save("one", {b"x": embedding(1), b"y": embedding(2)})
    ids = store.known("one", [b"x", b"y"])
    store.link({used: ids[b"x"]})
    assert set(store.tokens([used, lacking])) == {used}
    assert not store.all_linked(version_id)
    assert store.count_unused(list(ids.values())) == 1
    assert store.remove_unused() == 1
    assert store.known("one", [b"x", b"y"]) == {b"x": ids[b"x"]}


def test_token_vectors_in_memory_are_those_stored_and_go_with_them(database: Database, library: DocumentStore) -> None:
    store = EmbeddingStore(database, 1 << 20)
    _, version_id, (used, lacking) = version(library, "a", "one", "two")
    store.save("one", {b"x": embedding(1)})
    assert store.tokens([used, lacking]) == {}
    store.link({used: store.known("one", [b"x"])[b"x"]})
    read, again = (store.tokens([used, lacking]) for _ in range(2))
    assert read.keys() == again.keys() == {used}
    for name in ("tokens", "scales", "sentences"):
        assert getattr(again[used], name).tolist() == getattr(read[used], name).tolist()
    library.save_chunks(version_id, [])
    assert store.remove_unused() == 1
    assert store.tokens([used, lacking]) == {}


@pytest.mark.parametrize(("fits", "held"), [(0, 0), (63, 0), (64, 64), (149, 128), (150, 150)])
def test_the_newest_token_vectors_are_in_memory_before_anybody_asks(
    database: Database, library: DocumentStore, monkeypatch: pytest.MonkeyPatch, fits: int, held: int
) -> None:
    size, number = 8 + 8 + 4, 150
    store = EmbeddingStore(database, fits * size)
    _, _, ids = version(library, "a", *(str(one) for one in range(number)))
    store.save("one", {b"x": embedding(1)})
    store.link(dict.fromkeys(ids, store.known("one", [b"x"])[b"x"]))
    store.warm_up()
    read: list[int] = []
    monkeypatch.setattr(store, "_read_tokens", lambda chunk_ids: read.extend(chunk_ids) or {})
    store.tokens(ids)
    assert read == sorted(ids)[: number - held]


@pytest.mark.parametrize(("fits", "lacking"), [(0, 150), (64, 86), (149, 1), (150, 0)])
def test_token_vectors_read_ahead_take_the_place_of_those_used_before(
    database: Database, library: DocumentStore, monkeypatch: pytest.MonkeyPatch, fits: int, lacking: int
) -> None:
    size, number = 8 + 8 + 4, 150
    store = EmbeddingStore(database, fits * size)
    _, _, former = version(library, "a", "former")
    _, _, ids = version(library, "b", *(str(one) for one in range(number)))
    store.save("one", {b"x": embedding(1)})
    store.link(dict.fromkeys([*former, *ids], store.known("one", [b"x"])[b"x"]))
    store.tokens(former)
    store.prefetch(ids)
    read: list[int] = []
    monkeypatch.setattr(store, "_read_tokens", lambda chunk_ids: read.extend(chunk_ids) or {})
    store.tokens([*former, *ids])
    assert read == [*former, *ids[:lacking]]
