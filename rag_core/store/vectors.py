"""Embeddings by model and text: the cache that makes re-indexing cheap, and the reranker's store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import delete, func, insert, select, update

from rag_core.store.codec import pack_embedding, unpack_dense, unpack_tokens
from rag_core.store.database import Database, batches
from rag_core.store.schema import chunks, embeddings
from rag_core.types import Embedding, FloatArray


class VectorStore:
    """Embeddings keyed by space (an embedder's fingerprint) and text hash."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def known(self, space: str, hashes: Sequence[bytes]) -> dict[bytes, int]:
        """Which of these texts are embedded in the space already, as ``hash: embedding id``."""
        found: dict[bytes, int] = {}
        with self._db.read() as connection:
            for run in batches(list(hashes)):
                query = select(embeddings.c.text_hash, embeddings.c.id).where(
                    embeddings.c.space == space, embeddings.c.text_hash.in_(run)
                )
                found |= {bytes(row.text_hash): row.id for row in connection.execute(query)}
        return found

    def save(self, space: str, made: Mapping[bytes, Embedding]) -> dict[bytes, int]:
        """Store new embeddings; returns ``hash: embedding id`` for all of them."""
        fresh = {key: value for key, value in made.items() if key not in self.known(space, list(made))}
        rows = [{"space": space, "text_hash": key, **pack_embedding(value)} for key, value in fresh.items()]
        if rows:
            with self._db.begin() as connection:
                connection.execute(insert(embeddings), rows)
        return self.known(space, list(made))

    def link(self, pairs: Mapping[int, int]) -> None:
        """Say which embedding each chunk has, as ``chunk id: embedding id``."""
        statement = update(chunks)
        with self._db.begin() as connection:
            for chunk_id, embedding_id in pairs.items():
                connection.execute(
                    statement.where(chunks.c.id == chunk_id).values(embedding_id=embedding_id)
                )

    def dense(self, embedding_ids: Sequence[int]) -> dict[int, FloatArray]:
        """Dense vectors by embedding id, each of shape (dimension,)."""
        found: dict[int, FloatArray] = {}
        with self._db.read() as connection:
            for run in batches(list(embedding_ids)):
                query = select(embeddings.c.id, embeddings.c.dense).where(embeddings.c.id.in_(run))
                found |= {row.id: unpack_dense(row.dense) for row in connection.execute(query)}
        return found

    def tokens(self, embedding_ids: Sequence[int]) -> dict[int, tuple[np.ndarray[Any, Any], FloatArray]]:
        """Token vectors (n, dimension) int8 and scales (n,) by embedding id."""
        found: dict[int, tuple[np.ndarray[Any, Any], FloatArray]] = {}
        with self._db.read() as connection:
            for run in batches(list(embedding_ids)):
                query = select(embeddings.c.id, embeddings.c.tokens, embeddings.c.scales)
                for row in connection.execute(query.where(embeddings.c.id.in_(run))):
                    found[row.id] = unpack_tokens(row.tokens, row.scales)
        return found

    def remove_unused(self, embedding_ids: Sequence[int] | None = None) -> int:
        """Delete those embeddings (of these, or of all) that no chunk uses; returns how many."""
        unused = ~select(chunks.c.id).where(chunks.c.embedding_id == embeddings.c.id).exists()
        removed = 0
        with self._db.begin() as connection:
            if embedding_ids is None:
                return int(connection.execute(delete(embeddings).where(unused)).rowcount)
            for run in batches(list(embedding_ids)):
                query = delete(embeddings).where(embeddings.c.id.in_(run), unused)
                removed += int(connection.execute(query).rowcount)
        return removed

    def count(self, embedding_ids: Sequence[int] | None = None) -> int:
        """How many embeddings are held, of these or in all."""
        with self._db.read() as connection:
            if embedding_ids is None:
                return int(connection.execute(select(func.count()).select_from(embeddings)).scalar_one())
            total = 0
            for run in batches(list(embedding_ids)):
                query = select(func.count()).select_from(embeddings).where(embeddings.c.id.in_(run))
                total += int(connection.execute(query).scalar_one())
            return total
