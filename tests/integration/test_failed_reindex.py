"""A re-index that fails leaves the former index in use, and is removed."""

from __future__ import annotations

import time
from typing import Any

import pytest

from rag_core.chunking.chunker import DocumentChunker
from rag_core.engine import Engine
from rag_core.errors import IndexMismatch
from rag_core.index.dense import DenseIndex
from rag_core.index.embeddings import EmbeddingStore
from rag_core.indexing import queue
from rag_core.store.documents import DocumentStore
from rag_core.store.schema import versions
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from tests.support.engines import (
    BUDGET,
    LONG,
    PENGUINS,
    assert_found,
    assert_stores_agree,
    failing,
    failing_once,
    idle,
    indexed,
    raising,
    rebuild_index,
    retry_document,
    wait_until,
)


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


def test_internal_error_in_one_document_leaves_index_unchanged(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    indexed(engine, "b.pdf", PENGUINS)
    finish = DocumentChunker.finish
    with monkeypatch.context() as patch:
        fail = raising(RuntimeError("a bug"))
        patch.setattr(DocumentChunker, "finish", lambda self: (fail if self._name == "b.pdf" else finish)(self))
        job = rebuild_index(engine, chunk_tokens=40)
    assert job.state is JobState.FAILED
    assert job.reason.endswith("Other documents are unchanged.")
    assert_found(engine, penguins=["b.pdf"], budget=["a.pdf"])
    assert engine.index.differences() == {}
    idle(engine)
    assert_stores_agree(engine)


class Panic(BaseException):
    """A panic of an extension in Rust, which is no `Exception`."""


@pytest.mark.parametrize("error", [RuntimeError("a bug"), Panic("a bug")], ids=["bug", "panic"])
@pytest.mark.parametrize(
    ("owner", "name"),
    [(DocumentChunker, "finish"), (EmbeddingStore, "save"), (EmbeddingStore, "link_chunks")],
    ids=["parsing", "embedding", "publication"],
)
def test_bug_in_any_stage_leaves_index_unchanged(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, error: BaseException
) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, raising(error))
        job = rebuild_index(engine, chunk_tokens=40)
    assert job.state is JobState.FAILED
    assert job.reason.endswith("Other documents are unchanged.")
    assert engine.index.differences() == {}
    indexed(engine, "b.pdf", PENGUINS)
    assert_found(engine, penguins=["b.pdf"], budget=["a.pdf"])
    idle(engine)
    assert_stores_agree(engine)


def test_version_of_a_reindex_is_ended_later_if_the_store_fails(engine: Engine) -> None:
    chosen = indexed(engine, "a.pdf", BUDGET)
    with failing(EmbeddingStore, "link_chunks"), failing_once(DocumentStore, "mark_version_ended"):
        rebuild_index(engine, [chosen])
    wait_until(lambda: not engine._stores.documents.find_versions(versions.c.state == "building"))
    assert_found(engine, budget=["a.pdf"])
    assert_stores_agree(engine)


@pytest.mark.parametrize(
    ("names", "state", "generation"),
    [
        (("delete",), JobState.DONE, "retired"),
        (("drop",), JobState.DONE, "retired"),
        (("add", "delete", "drop"), JobState.FAILED, "building"),
    ],
)
def test_superseded_index_is_removed_later_after_store_failure(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], state: JobState, generation: str
) -> None:
    indexed(engine, "a.pdf", BUDGET, LONG)
    with failing(DenseIndex, *names):
        job = rebuild_index(engine, chunk_tokens=40)
    assert job.state is state
    assert ("on fire" in job.reason) is (state is JobState.FAILED)
    assert_found(engine, budget=["a.pdf"])
    monkeypatch.setattr(queue, "REMOVE_EVERY_S", 0.0)
    while engine._stores.documents.generations(generation):
        time.sleep(0.01)
    assert_found(engine, budget=["a.pdf"])
    assert_stores_agree(engine)


@pytest.mark.parametrize(
    ("partly", "options", "reason"),
    [
        (False, {"chunk_tokens": 5000}, "RAG_CHUNK_TOKENS"),
        (False, {"embedder": "nobody/no-model"}, "nobody/no-model"),
        (True, {"chunk_tokens": 40}, "chunk_tokens"),
    ],
    ids=["too long for the embedder", "missing embedder", "other settings for one document"],
)
def test_rebuild_fails_with_unusable_settings(
    engine: Engine, partly: bool, options: dict[str, Any], reason: str
) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    job = rebuild_index(engine, [document_id] if partly else [], **options)
    assert job.state is JobState.FAILED
    assert reason in job.reason
    assert_found(engine, budget=["a.pdf"])
    assert engine.index.differences() == {}


def test_document_that_fails_in_rebuild_stays_listed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = indexed(engine, "bad.pdf", BUDGET)
    indexed(engine, "good.pdf", PENGUINS)
    save_chunks = DocumentStore.save_chunks

    def fail_for_bridge(library: DocumentStore, version_id: str, spans: Any) -> list[int]:
        if any("Zanzibar" in span.text for span in spans):
            raise IndexMismatch("This document does not want to.")
        return save_chunks(library, version_id, spans)

    with monkeypatch.context() as patch:
        patch.setattr(DocumentStore, "save_chunks", fail_for_bridge)
        job = rebuild_index(engine, chunk_tokens=40)
    assert job.state is JobState.FAILED
    assert "1 of 2" in job.reason
    assert "does not want to" in job.reason
    assert_found(engine, penguins=["good.pdf"])
    assert engine.documents.get(bad).status is DocumentStatus.FAILED
    assert retry_document(engine, bad).result is DocumentStatus.INDEXED
    assert_found(engine, budget=["bad.pdf"])
    assert_stores_agree(engine)
