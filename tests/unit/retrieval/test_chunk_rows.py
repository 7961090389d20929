"""Rows of chunks are loaded once, in the background; errors are raised on access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from rag_core.errors import StoreUnavailable
from rag_core.retrieval.chunk_data import ChunkLoader
from rag_core.retrieval.on_demand import OnDemandEmbeddings
from rag_core.types.protocols import ChunkStore, QuestionEmbedder, TokenVectorStore


class RecordingStore:
    """A store with rows for even ids that records the requested ids."""

    def __init__(self) -> None:
        self.requests: list[list[int]] = []

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, Any]:
        self.requests.append(list(chunk_ids))
        if 99 in chunk_ids:
            raise StoreUnavailable("The database does not answer.")
        return {chunk_id: f"row {chunk_id}" for chunk_id in chunk_ids if chunk_id % 2 == 0}


def loader(store: RecordingStore, pool: ThreadPoolExecutor) -> ChunkLoader:
    return ChunkLoader(
        cast(ChunkStore, store),
        cast(TokenVectorStore, None),
        cast(QuestionEmbedder, None),
        pool,
        cast(OnDemandEmbeddings, None),
    )


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_each_row_is_loaded_once(pool: ThreadPoolExecutor) -> None:
    store = RecordingStore()
    rows = loader(store, pool)
    rows.prefetch_rows([1, 2])
    rows.prefetch_rows([2, 4])
    assert rows.rows([4, 2, 1]) == {4: "row 4", 2: "row 2"}
    assert rows.rows([2, 6]) == {2: "row 2", 6: "row 6"}
    assert rows.rows([1, 6]) == {6: "row 6"}
    assert sorted(store.requests) == [[1, 2], [4], [6]]


def test_error_of_prefetch_is_raised_on_access(pool: ThreadPoolExecutor) -> None:
    rows = loader(RecordingStore(), pool)
    rows.prefetch_rows([99])
    with pytest.raises(StoreUnavailable):
        rows.rows([99])
