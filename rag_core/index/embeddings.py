"""Embeddings by model and text, so that re-indexing reuses them and the reranker reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, func, insert, select, update

from rag_core.index.token_cache import TokenCache
from rag_core.store.database import Database, batches
from rag_core.store.schema import chunks, embeddings
from rag_core.store.serialization import pack_embedding, unpack_dense, unpack_sentences, unpack_tokens
from rag_core.types import ChunkVectors, Embedding, FloatArray

# Chunks whose token vectors are prefetched in one read, which must not delay questions for long.
WARMED_AT_ONCE = 64


class EmbeddingStore:
    """Embeddings keyed by space (an embedder's fingerprint) and text hash.

    Parameters
    ----------
    database : Database
    kept_bytes : int
        Size limit of the token vectors in memory.
    """

    def __init__(self, database: Database, kept_bytes: int = 0) -> None:
        self._db = database
        self._kept = TokenCache(kept_bytes)

    def known(self, space: str, hashes: Sequence[bytes]) -> dict[bytes, int]:
        """Return those of these texts that have embeddings in the space, as ``hash: embedding id``."""
        found: dict[bytes, int] = {}
        with self._db.read() as connection:
            for run in batches(list(hashes)):
                query = select(embeddings.c.text_hash, embeddings.c.id).where(
                    embeddings.c.space == space, embeddings.c.text_hash.in_(run)
                )
                found |= {bytes(row.text_hash): row.id for row in connection.execute(query)}
        return found

    def save(self, space: str, made: Mapping[bytes, Embedding]) -> None:
        """Store new embeddings; existing ones do not change."""
        known = self.known(space, list(made))
        fresh = {key: value for key, value in made.items() if key not in known}
        rows = [{"space": space, "text_hash": key, **pack_embedding(value)} for key, value in fresh.items()]
        if rows:
            with self._db.begin() as connection:
                connection.execute(insert(embeddings), rows)

    def link(self, pairs: Mapping[int, int]) -> None:
        """Set the embeddings of chunks, as ``chunk id: embedding id``."""
        statement = update(chunks).where(chunks.c.id == bindparam("chunk")).values(embedding_id=bindparam("embedding"))
        rows = [{"chunk": chunk_id, "embedding": embedding_id} for chunk_id, embedding_id in pairs.items()]
        if rows:
            with self._db.begin() as connection:
                connection.execute(statement, rows)

    def dense(self, embedding_ids: Sequence[int]) -> dict[int, FloatArray]:
        """Return dense vectors by embedding id, each of shape (dimension,)."""
        found: dict[int, FloatArray] = {}
        with self._db.read() as connection:
            for run in batches(list(embedding_ids)):
                query = select(embeddings.c.id, embeddings.c.dense).where(embeddings.c.id.in_(run))
                found |= {row.id: unpack_dense(row.dense) for row in connection.execute(query)}
        return found

    def tokens(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        """Return token vectors by chunk id, without the chunks that have none."""
        found = self._kept.get(chunk_ids)
        version = self._kept.version
        read = self._read_tokens([chunk_id for chunk_id in chunk_ids if chunk_id not in found])
        self._kept.put(read, version)
        return found | read

    def prefetch(self, chunk_ids: Sequence[int]) -> None:
        """Load the token vectors of these chunks into memory, replacing the least recently used."""
        if self._kept.most_bytes:
            for run in batches(list(chunk_ids), WARMED_AT_ONCE):
                self.tokens(run)

    def warm_up(self) -> None:
        """Load the token vectors of the newest chunks into memory, as many as fit."""
        newest = select(chunks.c.id).where(chunks.c.embedding_id.is_not(None)).order_by(chunks.c.id.desc())
        query = newest
        while True:
            version = self._kept.version
            with self._db.read() as connection:
                run = list(connection.execute(query.limit(WARMED_AT_ONCE)).scalars())
            read = self._read_tokens(run)
            if not run or not self._kept.has_room_for(read):
                return
            self._kept.put(read, version)
            query = newest.where(chunks.c.id < run[-1])

    def _read_tokens(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        if not chunk_ids:
            return {}
        found: dict[int, ChunkVectors] = {}
        query = select(chunks.c.id, chunks.c.sentences, embeddings.c.tokens, embeddings.c.scales).join(
            embeddings, embeddings.c.id == chunks.c.embedding_id
        )
        with self._db.read() as connection:
            for run in batches(list(chunk_ids)):
                # Tuples in one batch are faster than rows accessed by column name.
                rows = connection.execute(query.where(chunks.c.id.in_(run))).all()
                unpacked = unpack_tokens([(tokens, scales) for _, _, tokens, scales in rows])
                for (chunk_id, sentences, _, _), (tokens, scales) in zip(rows, unpacked, strict=True):
                    found[chunk_id] = ChunkVectors(tokens, scales, unpack_sentences(sentences))
        return found

    def remove_unused(self, embedding_ids: Sequence[int] | None = None) -> int:
        """Delete the embeddings, of these or of all, that no chunk uses, and return their number."""
        unused = ~select(chunks.c.id).where(chunks.c.embedding_id == embeddings.c.id).exists()
        all_or_some = [unused]
        if embedding_ids is not None:
            all_or_some = [embeddings.c.id.in_(run) & unused for run in batches(list(embedding_ids))]
        with self._db.begin() as connection:
            removed = sum(connection.execute(delete(embeddings).where(one)).rowcount for one in all_or_some)
        self._kept.empty()
        return removed

    def ids_for_versions(self, version_ids: Sequence[str]) -> list[int]:
        """Return the ids of the embeddings of these versions' texts, even if no chunk is linked to them yet."""
        found: set[int] = set()
        of_texts = select(embeddings.c.id).join(chunks, chunks.c.text_hash == embeddings.c.text_hash)
        with self._db.read() as connection:
            for run in batches(list(version_ids)):
                found.update(connection.execute(of_texts.where(chunks.c.version_id.in_(run))).scalars())
        return sorted(found)

    def all_linked(self, version_id: str) -> bool:
        """Return whether every chunk of a version has an embedding."""
        query = select(chunks.c.id).outerjoin(embeddings, embeddings.c.id == chunks.c.embedding_id)
        lacking = query.where(chunks.c.version_id == version_id, embeddings.c.id.is_(None)).limit(1)
        with self._db.read() as connection:
            return connection.execute(lacking).first() is None

    def count(self) -> int:
        """Return the number of stored embeddings."""
        with self._db.read() as connection:
            return int(connection.execute(select(func.count()).select_from(embeddings)).scalar_one())

    def count_unused(self, embedding_ids: Sequence[int]) -> int:
        """Return how many of these embeddings are stored although no chunk uses them."""
        unused = ~select(chunks.c.id).where(chunks.c.embedding_id == embeddings.c.id).exists()
        total = 0
        with self._db.read() as connection:
            for run in batches(list(embedding_ids)):
                query = select(func.count()).select_from(embeddings).where(embeddings.c.id.in_(run), unused)
                total += int(connection.execute(query).scalar_one())
        return total
