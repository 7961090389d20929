"""The index as a whole: compared with the settings, and built anew."""

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

        If all documents are re-indexed with unchanged settings, those that are complete in every store
        are kept. If settings changed, a new index is built while the old one answers, and one
        transaction swaps the two. Text that was embedded by the same model before is not embedded again.

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
        """Return how long computing every vector again would take, at the rate of the newest files.

        ``None`` if no file has been indexed yet.
        """
        rate = self._stores.jobs.chunks_per_second()
        return self._stores.library.counts()["chunks"] / rate if rate else None

    def differences(self) -> dict[str, tuple[Any, Any]]:
        """Return the differences between the index and the settings as ``name: (index, settings)``."""
        return self._generations.mismatch()
