"""Store embeddings by model and text. Re-indexing reuses them, and the reranker reads their token vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, func, insert, select, update

from rag_core.index.token_cache import TokenCache
from rag_core.store.database import Database, split_batches
from rag_core.store.schema import chunks, embeddings
from rag_core.store.serialization import pack_embedding, unpack_dense, unpack_sentences, unpack_tokens
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import ChunkVectors, Embedding

# Number of chunks whose token vectors are prefetched in one read. It is small, so that a read does not delay questions
# for long.
PREFETCH_BATCH = 64


class EmbeddingStore:
    """Embeddings by space and text hash. The space identifies the embedder that computed an embedding.

    Parameters
    ----------
    database : Database
    kept_bytes : int
        Maximum size of the token vectors that are cached in memory.
    """

    def __init__(self, database: Database, kept_bytes: int = 0) -> None:
        self._db = database
        self._cache = TokenCache(kept_bytes)

    def find_ids(self, space: str, hashes: Sequence[bytes]) -> dict[bytes, int]:
        """Return embedding ids by text hash; leave out texts that have no embedding in the space."""
        ids: dict[bytes, int] = {}
        with self._db.read() as connection:
            for batch in split_batches(list(hashes)):
                query = select(embeddings.c.text_hash, embeddings.c.id).where(
                    embeddings.c.space == space, embeddings.c.text_hash.in_(batch)
                )
                ids |= {bytes(row.text_hash): row.id for row in connection.execute(query)}
        return ids

    def save(self, space: str, vectors: Mapping[bytes, Embedding]) -> None:
        """Store embeddings by text hash; embeddings that are stored already do not change."""
        known = self.find_ids(space, list(vectors))
        new = {key: value for key, value in vectors.items() if key not in known}
        rows = [{"space": space, "text_hash": key, **pack_embedding(value)} for key, value in new.items()]
        if rows:
            with self._db.begin() as connection:
                connection.execute(insert(embeddings), rows)

    def link_chunks(self, pairs: Mapping[int, int]) -> None:
        """Link each chunk to its embedding; ``pairs`` maps chunk ids to embedding ids."""
        statement = update(chunks).where(chunks.c.id == bindparam("chunk")).values(embedding_id=bindparam("embedding"))
        rows = [{"chunk": chunk_id, "embedding": embedding_id} for chunk_id, embedding_id in pairs.items()]
        if rows:
            with self._db.begin() as connection:
                connection.execute(statement, rows)

    def read_dense(self, embedding_ids: Sequence[int]) -> dict[int, FloatArray]:
        """Return dense vectors by embedding id, each of shape (dimension,)."""
        vectors: dict[int, FloatArray] = {}
        with self._db.read() as connection:
            for batch in split_batches(list(embedding_ids)):
                query = select(embeddings.c.id, embeddings.c.dense).where(embeddings.c.id.in_(batch))
                vectors |= {row.id: unpack_dense(row.dense) for row in connection.execute(query)}
        return vectors

    def read_dense_of_chunks(self, chunk_ids: Sequence[int]) -> dict[int, FloatArray]:
        """Return dense vectors by chunk id; leave out chunks that are not embedded."""
        vectors: dict[int, FloatArray] = {}
        query = select(chunks.c.id, embeddings.c.dense).join(embeddings, embeddings.c.id == chunks.c.embedding_id)
        with self._db.read() as connection:
            for batch in split_batches(list(chunk_ids)):
                rows = connection.execute(query.where(chunks.c.id.in_(batch)))
                vectors |= {row.id: unpack_dense(row.dense) for row in rows}
        return vectors

    def read_tokens(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        """Return token vectors by chunk id; leave out chunks that have no token vectors."""
        cached = self._cache.get(chunk_ids)
        version = self._cache.clear_count
        loaded = self._read_tokens([chunk_id for chunk_id in chunk_ids if chunk_id not in cached])
        self._cache.put(loaded, version)
        return cached | loaded

    def prefetch(self, chunk_ids: Sequence[int]) -> None:
        """Load the token vectors of these chunks into the cache, in place of the least recently used vectors."""
        if self._cache.max_bytes:
            for batch in split_batches(list(chunk_ids), PREFETCH_BATCH):
                self.read_tokens(batch)

    def warm_up(self) -> None:
        """Load the token vectors of the newest chunks into the cache until it is full."""
        newest = select(chunks.c.id).where(chunks.c.embedding_id.is_not(None)).order_by(chunks.c.id.desc())
        query = newest
        while True:
            version = self._cache.clear_count
            with self._db.read() as connection:
                batch = list(connection.execute(query.limit(PREFETCH_BATCH)).scalars())
            loaded = self._read_tokens(batch)
            if not batch or not self._cache.has_room_for(loaded):
                return
            self._cache.put(loaded, version)
            query = newest.where(chunks.c.id < batch[-1])

    def _read_tokens(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        if not chunk_ids:
            return {}
        vectors: dict[int, ChunkVectors] = {}
        query = select(chunks.c.id, chunks.c.sentences, embeddings.c.tokens, embeddings.c.scales).join(
            embeddings, embeddings.c.id == chunks.c.embedding_id
        )
        with self._db.read() as connection:
            for batch in split_batches(list(chunk_ids)):
                # Unpacking rows as tuples is faster than reading their columns by name.
                rows = connection.execute(query.where(chunks.c.id.in_(batch))).all()
                unpacked = unpack_tokens([(tokens, scales) for _, _, tokens, scales in rows])
                for (chunk_id, sentences, _, _), (tokens, scales) in zip(rows, unpacked, strict=True):
                    vectors[chunk_id] = ChunkVectors(tokens, scales, unpack_sentences(sentences))
        return vectors

    def remove_unused(self, embedding_ids: Sequence[int] | None = None) -> int:
        """Delete those of these embeddings, or of all embeddings, that no chunk uses; return their number."""
        unused = ~select(chunks.c.id).where(chunks.c.embedding_id == embeddings.c.id).exists()
        conditions = [unused]
        if embedding_ids is not None:
            conditions = [embeddings.c.id.in_(batch) & unused for batch in split_batches(list(embedding_ids))]
        with self._db.begin() as connection:
            removed = sum(connection.execute(delete(embeddings).where(condition)).rowcount for condition in conditions)
        self._cache.clear()
        return removed

    def ids_for_versions(self, version_ids: Sequence[str]) -> list[int]:
        """Return the ids of the embeddings of these versions' texts, even if no chunk is linked to them yet."""
        ids: set[int] = set()
        of_texts = select(embeddings.c.id).join(chunks, chunks.c.text_hash == embeddings.c.text_hash)
        with self._db.read() as connection:
            for batch in split_batches(list(version_ids)):
                ids.update(connection.execute(of_texts.where(chunks.c.version_id.in_(batch))).scalars())
        return sorted(ids)

    def is_fully_linked(self, version_id: str) -> bool:
        """Return whether every chunk of a version has an embedding."""
        query = select(chunks.c.id).outerjoin(embeddings, embeddings.c.id == chunks.c.embedding_id)
        unlinked = query.where(chunks.c.version_id == version_id, embeddings.c.id.is_(None)).limit(1)
        with self._db.read() as connection:
            return connection.execute(unlinked).first() is None

    def count(self) -> int:
        """Return the number of stored embeddings."""
        with self._db.read() as connection:
            return int(connection.execute(select(func.count()).select_from(embeddings)).scalar_one())

    def token_bytes(self) -> int:
        """Return the size in bytes of all stored token vectors."""
        size = func.coalesce(func.length(embeddings.c.tokens), 0) + func.coalesce(func.length(embeddings.c.scales), 0)
        with self._db.read() as connection:
            return int(connection.execute(select(func.coalesce(func.sum(size), 0))).scalar_one())

    def count_unused(self, embedding_ids: Sequence[int]) -> int:
        """Return how many of these embeddings are stored although no chunk uses them."""
        unused = ~select(chunks.c.id).where(chunks.c.embedding_id == embeddings.c.id).exists()
        total = 0
        with self._db.read() as connection:
            for batch in split_batches(list(embedding_ids)):
                query = select(func.count()).select_from(embeddings).where(embeddings.c.id.in_(batch), unused)
                total += int(connection.execute(query).scalar_one())
        return total
