"""A cache of the token vectors of recently used chunks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from rag_core.types.chunks import ChunkVectors

# Default size in bytes, for the token vectors of about 5,000 chunks.
TOKEN_CACHE_BYTES = 256 << 20


class TokenCache:
    """A thread-safe LRU cache of token vectors, so that searches do not read and unpack the same vectors again.

    Entries are always valid, because the vectors of a chunk never change, and chunk ids are not reused.

    Parameters
    ----------
    max_bytes : int
        Maximum total size in bytes; 0 disables the cache.

    Attributes
    ----------
    clear_count : int
        Number of calls of `clear`. Callers get this number before they read vectors from the database; see `put`.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.clear_count = 0
        self._total_bytes = 0
        self._vectors: OrderedDict[int, ChunkVectors] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        """Return the cached token vectors of chunks by chunk id. Chunks that are not cached are left out."""
        with self._lock:
            cached = {chunk_id: self._vectors[chunk_id] for chunk_id in chunk_ids if chunk_id in self._vectors}
            for chunk_id in cached:
                self._vectors.move_to_end(chunk_id)
        return cached

    def has_room_for(self, vectors: Mapping[int, ChunkVectors]) -> bool:
        """Return whether vectors can be added to the cache without removing other vectors."""
        return self._total_bytes + sum(map(_size, vectors.values())) <= self.max_bytes

    def put(self, vectors: Mapping[int, ChunkVectors], clear_count: int) -> None:
        """Add token vectors by chunk id. Do nothing if `clear` was called since `clear_count` had the given value."""
        # Vectors that were read together are views of one large array, which a single view would keep in memory.
        copies = {
            chunk_id: ChunkVectors(entry.tokens.copy(), entry.scales.copy(), entry.sentences)
            for chunk_id, entry in vectors.items()
            if self.max_bytes
        }
        with self._lock:
            if clear_count != self.clear_count:
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
            self.clear_count += 1


def _size(entry: ChunkVectors) -> int:
    return entry.tokens.nbytes + entry.scales.nbytes + entry.sentences.nbytes
