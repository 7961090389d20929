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
        self.most_bytes = most_bytes
        self._bytes = 0
        self._held: OrderedDict[int, ChunkVectors] = OrderedDict()
        self._lock = threading.Lock()
        self._version = 0

    @property
    def version(self) -> int:
        """Number of calls of `empty`; read it before reading the vectors that are passed to `put`."""
        return self._version

    def __len__(self) -> int:
        return len(self._held)

    def get(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        """Return those of these chunks' token vectors that are in the cache."""
        with self._lock:
            found = {chunk_id: self._held[chunk_id] for chunk_id in chunk_ids if chunk_id in self._held}
            for chunk_id in found:
                self._held.move_to_end(chunk_id)
        return found

    def has_room_for(self, read: Mapping[int, ChunkVectors]) -> bool:
        """Return whether these vectors fit without removing others."""
        return self._bytes + sum(map(_size, read.values())) <= self.most_bytes

    def put(self, read: Mapping[int, ChunkVectors], version: int) -> None:
        """Add token vectors, unless `empty` was called since `version` had the given value."""
        # Copied, because vectors that were read together are views of one array, which each view keeps alive.
        copies = {
            chunk_id: ChunkVectors(one.tokens.copy(), one.scales.copy(), one.sentences)
            for chunk_id, one in read.items()
            if self.most_bytes
        }
        with self._lock:
            if version != self._version:
                return
            for chunk_id, one in copies.items():
                if chunk_id not in self._held:
                    self._held[chunk_id] = one
                    self._bytes += _size(one)
            while self._bytes > self.most_bytes:
                _, oldest = self._held.popitem(last=False)
                self._bytes -= _size(oldest)

    def empty(self) -> None:
        """Remove all entries, so that deleted documents are not kept in memory."""
        with self._lock:
            self._held.clear()
            self._bytes = 0
            self._version += 1


def _size(one: ChunkVectors) -> int:
    return one.tokens.nbytes + one.scales.nbytes + one.sentences.nbytes
