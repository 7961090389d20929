"""Rows are fetched once, in the background, and what went wrong there is raised where they are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from rag_core.errors import StoreUnavailable
from rag_core.retrieval.chunk_data import ChunkLoader
from rag_core.types.protocols import ChunkStore, QuestionEmbedder, TokenVectorStore


class Shelf:
    """Has rows for even ids, and remembers for which it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, Any]:
        self.asked.append(list(chunk_ids))
        if 99 in chunk_ids:
            raise StoreUnavailable("The database does not answer.")
        return {one: f"row {one}" for one in chunk_ids if one % 2 == 0}


def loader(shelf: Shelf, pool: ThreadPoolExecutor) -> ChunkLoader:
    return ChunkLoader(cast(ChunkStore, shelf), cast(TokenVectorStore, None), cast(QuestionEmbedder, None), pool)


@pytest.fixture
def calls() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_each_row_is_fetched_once_whether_begun_or_asked_for(calls: ThreadPoolExecutor) -> None:
    shelf = Shelf()
    rows = loader(shelf, calls)
    rows.prefetch_rows([1, 2])
    rows.prefetch_rows([2, 4])
    assert rows.rows([4, 2, 1]) == {4: "row 4", 2: "row 2"}
    assert rows.rows([2, 6]) == {2: "row 2", 6: "row 6"}
    assert rows.rows([1, 6]) == {6: "row 6"}
    assert sorted(shelf.asked) == [[1, 2], [4], [6]]


def test_what_went_wrong_is_raised_where_rows_are_wanted(calls: ThreadPoolExecutor) -> None:
    rows = loader(Shelf(), calls)
    rows.prefetch_rows([99])
    with pytest.raises(StoreUnavailable):
        rows.rows([99])
