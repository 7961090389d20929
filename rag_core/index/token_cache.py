"""A cache of the token vectors of recently used chunks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from rag_core.types import ChunkVectors


class TokenCache:
    """A thread-safe LRU cache of chunks' token vectors, which saves reading and unpacking them for each search.

    Entries are never outdated: a chunk's vectors do not change, and its id is not reused.

    Parameters
    ----------
    most_bytes : int
        Maximum total size; 0 disables the cache.

    Attributes
    ----------
    most_bytes : int
    """

    def __init__(self, most_bytes: int) -> None:
        self.max_bytes = most_bytes
        self._total_bytes = 0
        self._vectors: OrderedDict[int, ChunkVectors] = OrderedDict()
        self._lock = threading.Lock()
        self._version = 0

    @property
    def clear_count(self) -> int:
        """Number of calls of `empty`; read it before reading the vectors that are passed to `put`."""
        return self._version

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        """Return those of these chunks' token vectors that are in the cache."""
        with self._lock:
            cached = {chunk_id: self._vectors[chunk_id] for chunk_id in chunk_ids if chunk_id in self._vectors}
            for chunk_id in cached:
                self._vectors.move_to_end(chunk_id)
        return cached

    def has_room_for(self, vectors: Mapping[int, ChunkVectors]) -> bool:
        """Return whether these vectors fit without removing others."""
        return self._total_bytes + sum(map(_size, vectors.values())) <= self.max_bytes

    def put(self, vectors: Mapping[int, ChunkVectors], version: int) -> None:
        """Add token vectors, unless `empty` was called since `version` had the given value."""
        # Copied, because vectors that were read together are views of one array, which each view keeps alive.
        copies = {
            chunk_id: ChunkVectors(entry.tokens.copy(), entry.scales.copy(), entry.sentences)
            for chunk_id, entry in vectors.items()
            if self.max_bytes
        }
        with self._lock:
            if version != self._version:
                return
            for chunk_id, entry in copies.items():
                if chunk_id not in self._vectors:
                    self._vectors[chunk_id] = entry
                    self._total_bytes += _size(entry)
            while self._total_bytes > self.max_bytes:
                _, oldest = self._vectors.popitem(last=False)
                self._total_bytes -= _size(oldest)

    def clear(self) -> None:
        """Remove all entries, so that deleted documents are not kept in memory."""
        with self._lock:
            self._vectors.clear()
            self._total_bytes = 0
            self._version += 1


def _size(entry: ChunkVectors) -> int:
    return entry.tokens.nbytes + entry.scales.nbytes + entry.sentences.nbytes
