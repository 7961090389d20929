"""Rebuild the index, and compare it with the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag_core.indexing.queue import IndexingQueue
from rag_core.parsing.formats.accepted import PARSER_VERSIONS
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.types.jobs import Job


class Index:
    """Rebuilds the index of all or some documents, and compares the index with the settings.

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
        embedder: str | None = None,
    ) -> Job:
        """Queue a re-index of the given documents, or of all documents if ``document_ids`` is ``None``.

        `Reindexer` says which documents are indexed again. Embeddings are reused if the text and the model are
        unchanged.

        Parameters
        ----------
        document_ids : sequence of str, optional
        chunk_tokens, embedder : optional
            Values to use instead of the settings with the same names.
        """
        return self._indexer.reindex(document_ids, chunk_tokens=chunk_tokens, embedder=embedder)

    def estimate_seconds(self) -> float | None:
        """Return the estimated time in seconds for a re-index of all chunks, from the files that were indexed last.

        Return ``None`` if the time of no file is known.
        """
        rate = self._stores.jobs.chunks_per_second()
        return self._stores.documents.counts()["chunks"] / rate if rate else None

    def outdated_ids(self) -> list[str]:
        """Return the ids of the searchable documents that another version of a parser read."""
        return self._stores.documents.outdated_ids(PARSER_VERSIONS)

    def differences(self) -> dict[str, tuple[Any, Any]]:
        """Return the value in the index and the value in the settings of each setting whose values differ, by name."""
        return self._generations.find_differences()
