"""Embedding of chunks that questions find before indexing has embedded them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rag_core.retrieval import on_demand
from rag_core.retrieval.on_demand import OnDemandEmbeddings
from rag_core.types.chunks import Embedding
from tests.support.embedders import HashingEmbedder


class SlowEmbedder(HashingEmbedder):
    """An embedder that waits for a gate, and counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], **options: Any) -> list[Embedding]:
        self.texts += texts
        self.gate.wait(30)
        if "broken" in texts:
            raise ValueError("a bug")
        return list(super().embed(texts, **options))


@pytest.fixture
def embedder() -> Iterator[SlowEmbedder]:
    embedder = SlowEmbedder()
    yield embedder
    embedder.gate.set()


@pytest.fixture
def embeddings(embedder: SlowEmbedder) -> Iterator[OnDemandEmbeddings]:
    embeddings = OnDemandEmbeddings()
    yield embeddings
    embedder.gate.set()
    embeddings.close()


def test_texts_are_embedded_once_for_all_questions(embeddings: OnDemandEmbeddings, embedder: SlowEmbedder) -> None:
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(embeddings.embed, embedder, ["one", "two"], 30.0) for _ in range(8)]
        embedder.gate.set()
        results = [future.result() for future in asked]
    assert sorted(embedder.texts) == ["one", "two"]
    assert all(found is not None for result in results for found in result)


def test_question_goes_on_without_late_embeddings(embeddings: OnDemandEmbeddings, embedder: SlowEmbedder) -> None:
    assert embeddings.embed(embedder, ["one"], 0.01) == [None]
    embedder.gate.set()
    (found,) = embeddings.embed(embedder, ["one"], 30.0)
    assert found is not None
    assert embedder.texts == ["one"]


def test_failed_embedding_is_tried_again(embeddings: OnDemandEmbeddings, embedder: SlowEmbedder) -> None:
    embedder.gate.set()
    assert embeddings.embed(embedder, ["broken"], 30.0) == [None]
    assert embeddings.embed(embedder, ["broken"], 30.0) == [None]
    assert embedder.texts == ["broken", "broken"]


def test_cache_is_limited(
    embeddings: OnDemandEmbeddings, embedder: SlowEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_demand, "MAX_CACHED", 2)
    embedder.gate.set()
    for text in ("one", "two", "three", "one"):
        assert embeddings.embed(embedder, [text], 30.0) != [None]
    assert embedder.texts == ["one", "two", "three", "one"]
