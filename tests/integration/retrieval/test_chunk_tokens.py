"""Token vectors of chunks: fetched once per question, with correct offsets."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from rag_core.engine import Engine
from rag_core.index.embeddings import EmbeddingStore
from rag_core.retrieval.chunk_data import ChunkLoader, load_passage_tokens
from rag_core.types.chunks import ChunkRow
from tests.support.engines import ASK_BUDGET, BUDGET, PENGUINS, indexed


def chunk_tokens(engine: Engine) -> ChunkLoader:
    return ChunkLoader(
        *(
            engine._stores.documents,
            engine._stores.embeddings,
            engine._generations.active().embedder,
            engine._pool._executor,
            engine._searcher._on_demand,
        )
    )


def rows_of(engine: Engine, *names: str) -> list[ChunkRow]:
    library = engine._stores.documents
    return [
        row
        for version in library.visible_versions(engine.documents.find_ids(names))
        for row in library.chunk_rows(version)
    ]


def test_fetched_vectors_survive_deletion_of_the_document(engine: Engine) -> None:
    bridge = indexed(engine, "bridge.pdf", BUDGET)
    rows = rows_of(engine, "bridge.pdf")
    tokens = chunk_tokens(engine)
    before = tokens.vectors([row.id for row in rows])
    assert len(before) == len(rows) == 1
    engine.documents.delete([bridge])
    assert tokens.vectors([row.id for row in rows]) == before
    assert chunk_tokens(engine).vectors([row.id for row in rows]) == {}


def test_offsets_are_relative_to_the_chunk(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    rows = rows_of(engine, "bridge.pdf", "birds.pdf")
    tokens = chunk_tokens(engine)
    vectors = tokens.vectors([row.id for row in rows])
    loaded = load_passage_tokens(rows, vectors, engine._generations.active().embedder)
    for row in rows:
        spans = loaded[row.id].offsets
        assert len(spans) == len(loaded[row.id].vectors.scales)
        tokens_of_chunk = [row.text[start:end] for start, end in spans if start >= 0]
        assert "".join(tokens_of_chunk) == "".join(row.text.split())
        assert (spans[:, 0] < 0).any()


def test_missing_vectors_are_fetched_after_prefetch(engine: Engine) -> None:
    bridge = indexed(engine, "bridge.pdf", BUDGET)
    [row] = rows_of(engine, "bridge.pdf")
    tokens = chunk_tokens(engine)
    tokens.load_stored_vectors([row.id, row.id + 1000])
    engine.documents.delete([bridge])
    assert set(tokens.vectors([row.id, row.id + 1000])) == {row.id}


def test_question_fetches_vectors_of_each_chunk_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    fetched: list[int] = []
    tokens = EmbeddingStore.read_tokens

    def record(store: EmbeddingStore, chunk_ids: Sequence[int]) -> Any:
        fetched.extend(chunk_ids)
        return tokens(store, chunk_ids)

    monkeypatch.setattr(EmbeddingStore, "read_tokens", record)
    assert engine.answer(ASK_BUDGET).citations
    assert len(fetched) == len(set(fetched)) == 2


def test_concurrent_searches_fetch_each_chunk_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    bridge, birds = (row.id for row in rows_of(engine, "bridge.pdf", "birds.pdf"))
    tokens, fetched = chunk_tokens(engine), list[list[int]]()
    other = threading.Thread(target=lambda: tokens.load_stored_vectors([bridge, birds]))
    stored = EmbeddingStore.read_tokens

    def record(store: EmbeddingStore, chunk_ids: Sequence[int]) -> Any:
        fetched.append(list(chunk_ids))
        if len(fetched) == 1:
            other.start()
        return stored(store, chunk_ids)

    monkeypatch.setattr(EmbeddingStore, "read_tokens", record)
    tokens.load_stored_vectors([bridge])
    other.join()
    assert set(tokens.vectors([bridge, birds])) == {bridge, birds}
    assert fetched == [[bridge], [birds]]
