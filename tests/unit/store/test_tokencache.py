"""Token vectors in memory."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.index.token_cache import TokenCache
from rag_core.types import ChunkVectors

# Of ten tokens: 40 numbers of a byte, ten scales of four bytes and a place of four.
SIZE = 84


def vectors(value: int) -> ChunkVectors:
    return ChunkVectors(np.full((10, 4), value, np.int8), np.full(10, value, np.float32), np.zeros(1, np.int32))


def test_what_was_used_longest_ago_makes_room() -> None:
    cache = TokenCache(2 * SIZE)
    cache.put({1: vectors(1)}, cache.version)
    assert cache.has_room_for({2: vectors(2)})
    cache.put({2: vectors(2)}, cache.version)
    assert not cache.has_room_for({3: vectors(3)})
    assert cache.get([1, 9]).keys() == {1}
    cache.put({3: vectors(3)}, cache.version)
    held = cache.get([1, 2, 3])
    assert list(held) == [1, 3]
    assert held[3].tokens[0, 0] == 3
    assert held[1].scales[9] == 1


@pytest.mark.parametrize("room", [0, SIZE - 1])
def test_without_room_nothing_is_kept(room: int) -> None:
    cache = TokenCache(room)
    cache.put({1: vectors(1)}, cache.version)
    assert len(cache) == 0


def test_what_is_kept_twice_counts_once() -> None:
    cache = TokenCache(2 * SIZE)
    for _ in range(5):
        cache.put({1: vectors(1)}, cache.version)
    cache.put({2: vectors(2)}, cache.version)
    assert len(cache) == 2


def test_what_was_read_before_a_removal_is_not_kept_after_it() -> None:
    cache = TokenCache(10 * SIZE)
    before = cache.version
    cache.put({1: vectors(1)}, before)
    cache.empty()
    assert cache.get([1]) == {}
    cache.put({1: vectors(1)}, before)
    assert len(cache) == 0
    cache.put({2: vectors(2)}, cache.version)
    assert cache.get([2]).keys() == {2}


def test_a_part_of_what_was_read_together_does_not_hold_the_rest() -> None:
    together = np.zeros((1000, 4), np.int8)
    cache = TokenCache(10 * SIZE)
    cache.put({1: ChunkVectors(together[:10], np.zeros(10, np.float32), np.zeros(1, np.int32))}, cache.version)
    assert not np.shares_memory(cache.get([1])[1].tokens, together)
