"""The cache of token vectors."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.index.token_cache import TokenCache
from rag_core.types.chunks import ChunkVectors

# Ten tokens: 40 numbers of one byte, ten scales of four bytes and an offset of four.
SIZE = 84


def vectors(value: int) -> ChunkVectors:
    return ChunkVectors(np.full((10, 4), value, np.int8), np.full(10, value, np.float32), np.zeros(1, np.int32))


def test_least_recently_used_vectors_are_evicted() -> None:
    cache = TokenCache(2 * SIZE)
    cache.put({1: vectors(1)}, cache.clear_count)
    assert cache.has_room_for({2: vectors(2)})
    cache.put({2: vectors(2)}, cache.clear_count)
    assert not cache.has_room_for({3: vectors(3)})
    assert cache.get([1, 9]).keys() == {1}
    cache.put({3: vectors(3)}, cache.clear_count)
    cached = cache.get([1, 2, 3])
    assert list(cached) == [1, 3]
    assert cached[3].tokens[0, 0] == 3
    assert cached[1].scales[9] == 1


@pytest.mark.parametrize("room", [0, SIZE - 1])
def test_cache_without_room_is_empty(room: int) -> None:
    cache = TokenCache(room)
    cache.put({1: vectors(1)}, cache.clear_count)
    assert len(cache) == 0


def test_repeated_put_counts_once() -> None:
    cache = TokenCache(2 * SIZE)
    for _ in range(5):
        cache.put({1: vectors(1)}, cache.clear_count)
    cache.put({2: vectors(2)}, cache.clear_count)
    assert len(cache) == 2


def test_vectors_read_before_a_removal_are_not_cached() -> None:
    cache = TokenCache(10 * SIZE)
    before = cache.clear_count
    cache.put({1: vectors(1)}, before)
    cache.clear()
    assert cache.get([1]) == {}
    cache.put({1: vectors(1)}, before)
    assert len(cache) == 0
    cache.put({2: vectors(2)}, cache.clear_count)
    assert cache.get([2]).keys() == {2}


def test_cached_vectors_do_not_keep_a_larger_array() -> None:
    together = np.zeros((1000, 4), np.int8)
    cache = TokenCache(10 * SIZE)
    cache.put({1: ChunkVectors(together[:10], np.zeros(10, np.float32), np.zeros(1, np.int32))}, cache.clear_count)
    assert not np.shares_memory(cache.get([1])[1].tokens, together)
