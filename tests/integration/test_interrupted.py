"""Work that a shutdown or a crash interrupts continues at the next start."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_core.errors import UnknownDocument
from rag_core.index.dense import DenseIndex
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.retriever import ChunkBatch
from rag_core.index.words import WordIndex
from rag_core.store.documents import DocumentStore
from rag_core.store.files import FileStore
from rag_core.store.jobs import JobStore
from rag_core.store.preferences import PreferenceStore
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from tests.support.engines import (
    ASK_BUDGET,
    ASK_PENGUINS,
    BUDGET,
    COPPER,
    LONG,
    PENGUINS,
    EmbeddingBarrier,
    ReadingBarrier,
    assert_found,
    assert_in_agreement,
    assert_stores_agree,
    before_call,
    built_chunk_tokens,
    copy_folder,
    idle,
    indexed,
    open_index,
    opened,
    rebuild_index,
)
from tests.support.pdfs import make_pdf

Methods = list[tuple[type, str]]


@contextmanager
def copied_before(folder: Path, methods: Methods) -> Iterator[None]:
    """Copy the data folder before the first call of each method, as if the process ended there."""
    with ExitStack() as stack:
        for owner, name in methods:
            stack.enter_context(before_call(owner, name, copy_folder(folder / "data", find_copy(folder, owner, name))))
        yield


def find_copy(folder: Path, owner: type, name: str) -> Path:
    return folder / f"{owner.__name__}.{name}"


def test_queued_and_running_jobs_continue_after_restart(tmp_path: Path, barrier: EmbeddingBarrier) -> None:
    first = opened(tmp_path / "data")
    barrier.block()
    jobs = [
        first.documents.submit("a.pdf", make_pdf(BUDGET)).job_id,
        *(first.documents.submit(f"{n}.pdf", make_pdf(f"{PENGUINS} Part {n}.")).job_id for n in range(5)),
    ]
    barrier.wait_until_reached()
    threading.Timer(0.05, barrier.release).start()
    first.close()
    with opened(tmp_path / "data") as second:
        assert {job.state for job in second.jobs.list()} <= {JobState.QUEUED, JobState.RUNNING, JobState.DONE}
        assert [job.result for job in second.jobs.wait(jobs)] == [DocumentStatus.INDEXED] * 6
        assert_found(second, budget=["a.pdf"])
        assert_in_agreement(second)


def test_file_read_at_shutdown_is_read_after_restart(tmp_path: Path, reading_barrier: ReadingBarrier) -> None:
    first = opened(tmp_path / "data")
    job = reading_barrier.submit(first, "a.pdf", BUDGET, PENGUINS)
    threading.Timer(0.05, reading_barrier.release).start()
    first.close()
    with opened(tmp_path / "data") as second:
        assert second.jobs.wait([job.job_id])[0].result is DocumentStatus.INDEXED
        assert second.documents.get(str(job.document_id)).pages == 2
        assert_in_agreement(second)


INDEXING = [
    (FileStore, "put"),
    (DocumentStore, "add_version"),
    (JobStore, "start"),
    (DocumentStore, "save_pages"),
    (DocumentStore, "save_chunks"),
    (WordIndex, "add"),
    (DocumentStore, "publish_words"),
    (EmbeddingStore, "save"),
    (EmbeddingStore, "link_chunks"),
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


REPLACING = [*INDEXING[-2:], *REMOVING[1:4:2], (DocumentStore, "mark_version_replaced")]
DELETING = [*REMOVING, (DocumentStore, "remove_document")]
REBUILDING = [
    (DocumentStore, "add_generation"),
    (DocumentStore, "save_chunks"),
    (DenseIndex, "add"),
    (DocumentStore, "swap_generation"),
    (WordIndex, "delete"),
    (DenseIndex, "drop"),
    (DocumentStore, "drop_generation"),
    (JobStore, "finish"),
]


def with_ids(methods: Methods) -> list[Any]:
    return [pytest.param(owner, name, id=f"{owner.__name__}.{name}") for owner, name in methods]


@pytest.fixture(scope="module")
def indexing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Index a document; return the folder with the copies."""
    folder = tmp_path_factory.mktemp("indexing")
    with opened(folder / "data") as engine:
        indexed(engine, "birds.pdf", PENGUINS)
        with copied_before(folder, INDEXING):
            indexed(engine, "bridge.pdf", BUDGET, COPPER)
    return folder


@pytest.mark.parametrize(("owner", "name"), with_ids(INDEXING))
def test_interrupted_indexing_continues(indexing: Path, owner: type, name: str) -> None:
    with opened(find_copy(indexing, owner, name)) as after:
        idle(after)
        documents = {document.name: document.status for document in after.documents.list()}
        if name in ("put", "add_version"):
            assert documents == {"birds.pdf": DocumentStatus.INDEXED}
            indexed(after, "bridge.pdf", BUDGET, COPPER)
        else:
            assert documents == dict.fromkeys(("birds.pdf", "bridge.pdf"), DocumentStatus.INDEXED)
        assert_found(after, budget=["bridge.pdf"], copper=["bridge.pdf"], penguins=["birds.pdf"])
        assert_in_agreement(after)


@pytest.fixture(scope="module")
def replacing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replace a document; return the folder with the copies."""
    folder = tmp_path_factory.mktemp("replacing")
    with opened(folder / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        with copied_before(folder, REPLACING):
            indexed(engine, "a.pdf", PENGUINS, COPPER)
    return folder


@pytest.mark.parametrize(("owner", "name"), with_ids(REPLACING))
def test_interrupted_replacement_continues(replacing: Path, owner: type, name: str) -> None:
    with opened(find_copy(replacing, owner, name)) as after:
        # The replacement continues in the background: a search finds either version, but not both.
        passages = after.search(f"{ASK_BUDGET} {ASK_PENGUINS}", top_k=50).passages
        assert len({passage.version_id for passage in passages}) == 1
        idle(after)
        assert_found(after, budget=[], penguins=["a.pdf"], copper=["a.pdf"])
        assert_in_agreement(after)


@pytest.fixture(scope="module")
def deleting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Delete a document; return the folder with the copies."""
    folder = tmp_path_factory.mktemp("deleting")
    with opened(folder / "data") as engine:
        indexed(engine, "birds.pdf", PENGUINS)
        deleted = indexed(engine, "bridge.pdf", BUDGET, COPPER)
        with copied_before(folder, DELETING):
            engine.documents.delete([deleted])
    return folder


@pytest.mark.parametrize(("owner", "name"), with_ids(DELETING))
def test_interrupted_deletion_is_completed(deleting: Path, owner: type, name: str) -> None:
    with opened(find_copy(deleting, owner, name)) as after:
        idle(after)
        if name == "begin_removal":  # the copy was taken before the deletion began
            after.documents.delete(after.documents.find_ids(["bridge.pdf"]))
        assert [document.name for document in after.documents.list()] == ["birds.pdf"]
        assert_found(after, budget=[], copper=[], penguins=["birds.pdf"])
        with pytest.raises(UnknownDocument):
            after.documents.find_ids(["bridge.pdf"])
        assert_in_agreement(after)
        indexed(after, "bridge.pdf", BUDGET)
        assert_in_agreement(after)


def test_orphaned_entries_are_removed_and_foreign_files_ignored_after_a_crash(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        stores = engine._stores
        generation, _ = stores.documents.generations("active")[0]
        stores.word_index.add(ChunkBatch([900], [("", "left over")], ["gone"]))
        open_index(stores, "dense", generation).add(
            ChunkBatch([901], [("", "")], ["gone"], stores.embeddings.read_dense([1])[1][None])
        )
        stores.files.put(b"left over")
        PreferenceStore.set(stores.preferences, "clean_shutdown", None)
        copy_folder(tmp_path / "data", tmp_path / "copy")()
    files = tmp_path / "copy" / "files"
    upload = files / "ab" / f"ab{'0' * 62}.part"
    upload.parent.mkdir(exist_ok=True)
    for path in (upload, *(files / name for name in (".DS_Store", "readme.txt", "ab/.DS_Store"))):
        path.write_bytes(b"x")
    with opened(tmp_path / "copy") as after:
        assert_found(after, budget=["a.pdf"])
        assert_in_agreement(after)
    assert not upload.exists()
    assert (files / "readme.txt").exists()


@pytest.mark.parametrize(("stage", "is_whole"), [(ReadingBarrier, False), (EmbeddingBarrier, True)])
def test_rebuild_continues_after_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: type[ReadingBarrier | EmbeddingBarrier], *, is_whole: bool
) -> None:
    first = opened(tmp_path / "data")
    document_id = indexed(first, "a.pdf", BUDGET, LONG)
    indexed(first, "b.pdf", PENGUINS)
    with monkeypatch.context() as patch:
        barrier = stage(patch)
        job = barrier.rebuild(first, chunk_tokens=40) if is_whole else barrier.rebuild(first, [document_id])
        threading.Timer(0.05, barrier.release).start()
        first.close()
    with opened(tmp_path / "data") as second:
        ended = second.jobs.wait([job.job_id])[0]
        assert (ended.state, ended.reason) == (JobState.DONE, "")
        assert (built_chunk_tokens(second) == 40) is is_whole
        assert_found(second, budget=["a.pdf"])
        assert_stores_agree(second)


@pytest.fixture(scope="module")
def rebuilding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rebuild the index; return the folder with the copies."""
    folder = tmp_path_factory.mktemp("rebuilding")
    with opened(folder / "data") as engine:
        indexed(engine, "a.pdf", BUDGET, LONG)
        with copied_before(folder, REBUILDING):
            assert rebuild_index(engine, chunk_tokens=40).state is JobState.DONE
    return folder


@pytest.mark.parametrize(("owner", "name"), with_ids(REBUILDING))
def test_interrupted_rebuild_continues(rebuilding: Path, owner: type, name: str) -> None:
    with opened(find_copy(rebuilding, owner, name)) as after:
        assert_found(after, budget=["a.pdf"])
        idle(after)
        assert_found(after, budget=["a.pdf"])
        assert built_chunk_tokens(after) == 40
        assert after._stores.documents.generations("retired") == after._stores.documents.generations("building") == []
        assert_stores_agree(after)
