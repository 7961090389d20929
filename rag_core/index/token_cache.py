"""A cache of the token vectors of recently used chunks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from rag_core.types.chunks import ChunkVectors

# Memory for the token vectors of about 5,000 chunks.
TOKEN_CACHE_BYTES = 256 << 20


class TokenCache:
    """A thread-safe LRU cache of token vectors, so that searches need not read and unpack the same vectors again.

    Entries are never outdated: a chunk's vectors do not change, and its id is not reused.

    Parameters
    ----------
    most_bytes : int
        Maximum total size; 0 disables the cache.

    Attributes
    ----------
    max_bytes : int
        The value of ``most_bytes``.
    """

    def __init__(self, most_bytes: int) -> None:
        self.max_bytes = most_bytes
        self._total_bytes = 0
        self._vectors: OrderedDict[int, ChunkVectors] = OrderedDict()
        self._lock = threading.Lock()
        self._version = 0

    @property
    def clear_count(self) -> int:
        """Number of calls of `clear`. Read it before you read the vectors that you pass to `put`."""
        return self._version

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        """Return the cached token vectors of these chunks by chunk id; leave out chunks that are not cached."""
        with self._lock:
            cached = {chunk_id: self._vectors[chunk_id] for chunk_id in chunk_ids if chunk_id in self._vectors}
            for chunk_id in cached:
                self._vectors.move_to_end(chunk_id)
        return cached

    def has_room_for(self, vectors: Mapping[int, ChunkVectors]) -> bool:
        """Return whether these vectors fit into the cache without removing other vectors."""
        return self._total_bytes + sum(map(_size, vectors.values())) <= self.max_bytes

    def put(self, vectors: Mapping[int, ChunkVectors], version: int) -> None:
        """Add token vectors, unless `clear` was called since `clear_count` had the value ``version``."""
        # Vectors that were read together are views of one large array. They are copied, because each view would keep
        # the whole array in memory.
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
