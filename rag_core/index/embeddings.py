"""Store the embeddings of texts, so that a text is embedded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, func, insert, select, update

from rag_core.index.token_cache import TokenCache
from rag_core.store.database import Database, split_batches
from rag_core.store.schema import chunks, embeddings
from rag_core.store.serialization import pack_embedding, unpack_dense, unpack_sentences, unpack_tokens
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import ChunkVectors, Embedding

# Number of chunks whose token vectors are prefetched together. It is small, so that questions do not wait long.
PREFETCH_BATCH = 64
_IS_UNUSED = ~select(chunks.c.id).where(chunks.c.embedding_id == embeddings.c.id).exists()


class EmbeddingStore:
    """The stored embeddings, by vector space and text hash. The vector space identifies the embedder.

    Parameters
    ----------
    database : Database
    cached_bytes : int
        Maximum size in bytes of the token vectors that are cached in memory.
    """

    def __init__(self, database: Database, cached_bytes: int = 0) -> None:
        self._db = database
        self._cache = TokenCache(cached_bytes)

    def find_ids(self, space: str, hashes: Sequence[bytes]) -> dict[bytes, int]:
        """Return the ids of the embeddings of texts in a vector space, by text hash. Other texts are left out."""
        query = select(embeddings.c.text_hash, embeddings.c.id).where(embeddings.c.space == space)
        rows = self._db.fetch_batches(query, embeddings.c.text_hash, hashes)
        return {bytes(row.text_hash): row.id for row in rows}

    def save(self, space: str, vectors: Mapping[bytes, Embedding]) -> None:
        """Store embeddings by text hash. Embeddings that are stored already are not changed."""
        known = self.find_ids(space, list(vectors))
        new = {key: value for key, value in vectors.items() if key not in known}
        rows = [{"space": space, "text_hash": key, **pack_embedding(value)} for key, value in new.items()]
        if rows:
            with self._db.begin() as connection:
                connection.execute(insert(embeddings), rows)

    def link_chunks(self, pairs: Mapping[int, int]) -> None:
        """Link chunks to their embeddings. ``pairs`` maps chunk ids to embedding ids."""
        statement = update(chunks).where(chunks.c.id == bindparam("chunk")).values(embedding_id=bindparam("embedding"))
        rows = [{"chunk": chunk_id, "embedding": embedding_id} for chunk_id, embedding_id in pairs.items()]
        if rows:
            with self._db.begin() as connection:
                connection.execute(statement, rows)

    def read_dense(self, embedding_ids: Sequence[int]) -> dict[int, FloatArray]:
        """Return dense vectors by embedding id, each of shape (dimension,)."""
        rows = self._db.fetch_batches(select(embeddings.c.id, embeddings.c.dense), embeddings.c.id, embedding_ids)
        return {row.id: unpack_dense(row.dense) for row in rows}

    def read_dense_of_chunks(self, chunk_ids: Sequence[int]) -> dict[int, FloatArray]:
        """Return dense vectors by chunk id. Chunks that are not embedded are left out."""
        query = select(chunks.c.id, embeddings.c.dense).join(embeddings, embeddings.c.id == chunks.c.embedding_id)
        return {row.id: unpack_dense(row.dense) for row in self._db.fetch_batches(query, chunks.c.id, chunk_ids)}

    def read_tokens(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        """Return token vectors by chunk id. Chunks without token vectors are left out."""
        cached = self._cache.get(chunk_ids)
        clear_count = self._cache.clear_count
        loaded = self._read_tokens([chunk_id for chunk_id in chunk_ids if chunk_id not in cached])
        self._cache.put(loaded, clear_count)
        return cached | loaded

    def prefetch(self, chunk_ids: Sequence[int]) -> None:
        """Load the token vectors of chunks into the cache, where they replace the least recently used vectors."""
        if self._cache.max_bytes:
            for batch in split_batches(list(chunk_ids), PREFETCH_BATCH):
                self.read_tokens(batch)

    def warm_up(self) -> None:
        """Load the token vectors of the newest chunks into the cache until it is full."""
        newest = select(chunks.c.id).where(chunks.c.embedding_id.is_not(None)).order_by(chunks.c.id.desc())
        query = newest
        while True:
            clear_count = self._cache.clear_count
            batch = self._db.fetch_values(query.limit(PREFETCH_BATCH))
            loaded = self._read_tokens(batch)
            if not batch or not self._cache.has_room_for(loaded):
                return
            self._cache.put(loaded, clear_count)
            query = newest.where(chunks.c.id < batch[-1])

    def _read_tokens(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        query = select(chunks.c.id, chunks.c.sentences, embeddings.c.tokens, embeddings.c.scales).join(
            embeddings, embeddings.c.id == chunks.c.embedding_id
        )
        rows = self._db.fetch_batches(query, chunks.c.id, chunk_ids)
        # Unpacking rows as tuples is faster than reading their columns by name.
        unpacked = unpack_tokens([(tokens, scales) for _, _, tokens, scales in rows])
        return {
            chunk_id: ChunkVectors(tokens, scales, unpack_sentences(sentences))
            for (chunk_id, sentences, _, _), (tokens, scales) in zip(rows, unpacked, strict=True)
        }

    def remove_unused(self, embedding_ids: Sequence[int] | None = None) -> int:
        """Delete the given embeddings, or all embeddings, except those that chunks use.

        Return the number of deleted embeddings.
        """
        query = delete(embeddings).where(_IS_UNUSED)
        queries = [query]
        if embedding_ids is not None:
            queries = [query.where(embeddings.c.id.in_(batch)) for batch in split_batches(list(embedding_ids))]
        with self._db.begin() as connection:
            removed = sum(connection.execute(one).rowcount for one in queries)
        self._cache.clear()
        return removed

    def find_ids_of_versions(self, version_ids: Sequence[str]) -> list[int]:
        """Return the ids of all embeddings, in any vector space, whose text is that of a chunk of the given versions.

        The chunk need not be linked to the embedding.
        """
        query = select(embeddings.c.id).join(chunks, chunks.c.text_hash == embeddings.c.text_hash)
        return sorted({row.id for row in self._db.fetch_batches(query, chunks.c.version_id, version_ids)})

    def is_fully_linked(self, version_id: str) -> bool:
        """Return whether each chunk of a version has an embedding."""
        query = select(chunks.c.id).outerjoin(embeddings, embeddings.c.id == chunks.c.embedding_id)
        unlinked = query.where(chunks.c.version_id == version_id, embeddings.c.id.is_(None)).limit(1)
        return self._db.fetch_first(unlinked) is None

    def count(self) -> int:
        """Return the number of stored embeddings."""
        return int(self._db.fetch_values(select(func.count()).select_from(embeddings))[0])

    def measure_token_bytes(self) -> int:
        """Return the size in bytes of all stored token vectors."""
        size = func.coalesce(func.length(embeddings.c.tokens), 0) + func.coalesce(func.length(embeddings.c.scales), 0)
        return int(self._db.fetch_values(select(func.coalesce(func.sum(size), 0)))[0])

    def count_unused(self, embedding_ids: Sequence[int]) -> int:
        """Return how many of the given embeddings are stored although no chunk uses them."""
        return len(self._db.fetch_batches(select(embeddings.c.id).where(_IS_UNUSED), embeddings.c.id, embedding_ids))
