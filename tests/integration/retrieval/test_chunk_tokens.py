"""Tokens of chunks: fetched once a question, and standing where they say."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from rag_core.engine import Engine
from rag_core.index.embeddings import EmbeddingStore
from rag_core.retrieval.chunk_data import ChunkLoader, load_passage_tokens
from rag_core.types import ChunkRow
from tests.support.engines import ASK_BUDGET, BUDGET, PENGUINS, indexed


def chunk_tokens(engine: Engine) -> ChunkLoader:
    return ChunkLoader(
        *(engine._stores.library, engine._stores.vectors, engine._generations.active().embedder, engine._pool._executor)
    )


def rows_of(engine: Engine, *names: str) -> list[ChunkRow]:
    library = engine._stores.library
    return [
        row
        for version in library.visible_versions(engine.documents.find_ids(names))
        for row in library.chunk_rows(version)
    ]


def test_what_was_fetched_stays_at_hand_when_its_document_is_deleted(engine: Engine) -> None:
    bridge = indexed(engine, "bridge.pdf", BUDGET)
    rows = rows_of(engine, "bridge.pdf")
    tokens = chunk_tokens(engine)
    before = tokens.vectors([row.id for row in rows])
    assert len(before) == len(rows) == 1
    engine.documents.delete([bridge])
    assert tokens.vectors([row.id for row in rows]) == before
    assert chunk_tokens(engine).vectors([row.id for row in rows]) == {}


def test_a_chunk_that_is_not_there_has_none(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    [row] = rows_of(engine, "bridge.pdf")
    assert set(chunk_tokens(engine).vectors([row.id, row.id + 1000])) == {row.id}


def test_spans_are_offsets_into_the_chunk_and_negative_before_it(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    rows = rows_of(engine, "bridge.pdf", "birds.pdf")
    tokens = chunk_tokens(engine)
    vectors = tokens.vectors([row.id for row in rows])
    loaded = load_passage_tokens(rows, vectors, engine._generations.active().embedder)
    for row in rows:
        spans = loaded[row.id].offsets
        assert len(spans) == len(loaded[row.id].vectors.scales)
        own = [row.text[start:end] for start, end in spans if start >= 0]
        assert "".join(own) == "".join(row.text.split())
        assert (spans[:, 0] < 0).any()


def test_what_was_fetched_before_is_at_hand_and_the_rest_is_still_made(engine: Engine) -> None:
    bridge = indexed(engine, "bridge.pdf", BUDGET)
    [row] = rows_of(engine, "bridge.pdf")
    tokens = chunk_tokens(engine)
    tokens.prefetch_vectors([row.id, row.id + 1000])
    engine.documents.delete([bridge])
    assert set(tokens.vectors([row.id, row.id + 1000])) == {row.id}


def test_a_question_reads_the_vectors_of_a_chunk_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    read: list[int] = []
    real = EmbeddingStore.tokens

    def tokens(store: EmbeddingStore, chunk_ids: Sequence[int]) -> Any:
        read.extend(chunk_ids)
        return real(store, chunk_ids)

    monkeypatch.setattr(EmbeddingStore, "tokens", tokens)
    assert engine.answer(ASK_BUDGET).citations
    assert len(read) == len(set(read)) == 2


def test_searches_side_by_side_fetch_each_chunk_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    bridge, birds = (row.id for row in rows_of(engine, "bridge.pdf", "birds.pdf"))
    tokens, asked = chunk_tokens(engine), list[list[int]]()
    other = threading.Thread(target=lambda: tokens.prefetch_vectors([bridge, birds]))
    stored = EmbeddingStore.tokens

    def noted(store: EmbeddingStore, chunk_ids: Sequence[int]) -> Any:
        asked.append(list(chunk_ids))
        if len(asked) == 1:
            other.start()
        return stored(store, chunk_ids)

    monkeypatch.setattr(EmbeddingStore, "tokens", noted)
    tokens.prefetch_vectors([bridge])
    other.join()
    assert set(tokens.vectors([bridge, birds])) == {bridge, birds}
    assert asked == [[bridge], [birds]]
