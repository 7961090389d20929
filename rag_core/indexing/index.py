"""Rebuilding of the index, and its comparison with the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag_core.indexing.queue import IndexingQueue
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.types import Job


class Index:
    """Rebuilds the index, of all documents or of some.

    Parameters
    ----------
    stores : Stores
    indexer : IndexingQueue
    generations : IndexGenerations
    """

    def __init__(self, stores: Stores, indexer: IndexingQueue, generations: IndexGenerations) -> None:
        self._stores = stores
        self._indexer = indexer
        self._generations = generations

    def rebuild(
        self,
        document_ids: Sequence[str] | None = None,
        *,
        chunk_tokens: int | None = None,
        chunk_overlap: float | None = None,
        embedder: str | None = None,
    ) -> Job:
        """Queue a re-index of these documents, or of all.

        A re-index of all documents with unchanged settings keeps those that are complete in every store. If
        settings changed, a new index is built while the old one stays in use, and one transaction swaps them.
        Embeddings of unchanged text by the same model are reused.

        Parameters
        ----------
        document_ids : sequence of str, optional
        chunk_tokens, chunk_overlap, embedder : optional
            Values in place of the settings of the same names.
        """
        return self._indexer.reindex(
            document_ids, chunk_tokens=chunk_tokens, chunk_overlap=chunk_overlap, embedder=embedder
        )

    def estimate_seconds(self) -> float | None:
        """Return the time to embed all chunks again at the rate of the newest files, ``None`` without files."""
        rate = self._stores.jobs.chunks_per_second()
        return self._stores.documents.counts()["chunks"] / rate if rate else None

    def differences(self) -> dict[str, tuple[Any, Any]]:
        """Return the differences between the index and the settings as ``name: (index, settings)``."""
        return self._generations.mismatch()
