"""Dense vectors in Chroma, one collection a generation; the only module that imports chromadb."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.errors import StoreUnavailable
from rag_core.system import zero_new_allocations
from rag_core.types import Excluding, FloatArray, Hit, Question, VersionFilter

# Chroma takes at most a few thousand records in one call; the exact number depends on SQLite.
WRITE_BATCH = 2000
# It binds each version of a filter to SQL, which takes 32,766 values.
MOST_VERSIONS = 10_000


class DenseIndex:
    """Cosine similarity over the dense vectors of one generation; a retriever named ``dense``.

    Parameters
    ----------
    client : chromadb.ClientAPI
        As `open_chroma` gives it.
    generation_id : int
    """

    name = "dense"

    def __init__(self, client: Any, generation_id: int) -> None:
        self._client = client
        self._settings = client.get_settings()
        self._collection_name = collection_name(generation_id)
        self._found: Any = None

    @property
    def _collection(self) -> Any:
        """The collection, or ``None`` where nothing was ever added or the generation was removed."""
        from chromadb.errors import NotFoundError

        def find() -> Any:
            try:
                return self._client.get_collection(self._collection_name, embedding_function=None)
            except NotFoundError:
                return None

        if self._found is None:
            self._found = self._call(find)
        return self._found

    def _made(self) -> Any:
        """The collection, made if need be: only adding does, or reading would bring a removed one back."""
        if self._collection is None:
            self._found = self._call(
                lambda: self._client.get_or_create_collection(
                    self._collection_name,
                    embedding_function=None,
                    # Wider than the defaults: recall of the approximate search matters more here than
                    # the millisecond it costs.
                    configuration={"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 200}},
                )
            )
        return self._found

    def add(self, chunk_ids: Sequence[int], vectors: FloatArray, versions: Sequence[str]) -> None:
        """Add or overwrite vectors, shape (n, dimension), one a chunk, each with its version."""
        collection = self._made()
        for first in range(0, len(chunk_ids), WRITE_BATCH):
            last = first + WRITE_BATCH
            records = {
                "ids": [str(one) for one in chunk_ids[first:last]],
                "embeddings": vectors[first:last],
                "metadatas": [{"version": version} for version in versions[first:last]],
            }
            self._call(lambda records=records: collection.upsert(**records))

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """The ``k`` chunks nearest to the question, best first, within these versions, or all but these, if given."""
        if self._collection is None:
            return []
        hits = [hit for where in _filters(versions) for hit in self._nearest(question, k, where)]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Remove these chunks; ids that are not held are passed over."""
        collection = self._collection
        for first in range(0, len(chunk_ids) if collection is not None else 0, WRITE_BATCH):
            ids = [str(one) for one in chunk_ids[first : first + WRITE_BATCH]]
            self._call(lambda ids=ids: collection.delete(ids=ids))

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """How many chunks are held, of these or in all."""
        if chunk_ids is None:
            return int(self._call(self._collection.count)) if self._collection is not None else 0
        return len(self.ids(chunk_ids))

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Ids of the chunks that are held, of these or in all."""
        collection = self._collection
        if collection is None:
            return set()
        if chunk_ids is None:
            found = self._call(lambda: collection.get(include=[])["ids"])
            return {int(one) for one in found}
        ids: set[int] = set()
        for first in range(0, len(chunk_ids), WRITE_BATCH):
            run = [str(one) for one in chunk_ids[first : first + WRITE_BATCH]]
            ids |= {int(one) for one in self._call(lambda run=run: collection.get(ids=run, include=[])["ids"])}
        return ids

    def drop(self) -> None:
        """Remove the whole generation, if anything was ever added to it."""
        if self._collection is not None:
            # Kept in hand: who still searches it is told that it is gone, not that it holds nothing.
            self._call(lambda: self._client.delete_collection(self._collection_name))

    def _nearest(self, question: Question, k: int, where: dict[str, Any] | None) -> list[Hit]:
        collection = self._collection
        found = self._call(
            lambda: collection.query(
                query_embeddings=question.dense[np.newaxis], n_results=k, where=where, include=["distances"]
            )
        )
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [Hit(int(chunk_id), 1.0 - float(distance)) for chunk_id, distance in pairs]

    def _call(self, call: Any) -> Any:
        return _in_words(call, self._settings)


def _filters(versions: VersionFilter | None) -> list[dict[str, Any] | None]:
    """What to ask Chroma for, one query each."""
    if versions is None:
        return [None]
    if isinstance(versions, Excluding):
        return [{"version": {"$nin": list(versions.versions)}}]
    firsts = range(0, len(versions), MOST_VERSIONS)
    return [{"version": {"$in": list(versions[first : first + MOST_VERSIONS])}} for first in firsts]


def open_chroma(path: Path, host: str | None, port: int) -> Any:
    """A Chroma client: a server's when ``host`` is given, else one embedded in a folder.

    Raises
    ------
    StoreUnavailable
        The server does not answer or the folder cannot be opened.
    """
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    if host is None:
        return _in_words(lambda: _embedded(str(path), settings), settings)
    return _in_words(lambda: chromadb.HttpClient(host, port, settings=settings), settings)


def _embedded(path: str, settings: Any) -> Any:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient

    try:
        return chromadb.PersistentClient(path, settings=settings)
    except Exception:
        # Chroma keeps what it could not start, and gives it out at the next try.
        SharedSystemClient._identifier_to_system.pop(path, None)
        raise


def collection_name(generation_id: int) -> str:
    """Chroma's name for a generation."""
    return f"chunks-{generation_id}"


def _in_words(call: Any, settings: Any) -> Any:
    """What is asked of the Chroma with these settings, its own; raises `StoreUnavailable`."""
    import httpx
    from chromadb.errors import ChromaError

    try:
        # An embedded Chroma keeps room for vectors to come, and writes it to its files as malloc gave it.
        with zero_new_allocations():
            return call()
    # chromadb raises a bare ValueError when it cannot connect to its server.
    except (ChromaError, httpx.HTTPError, OSError, ValueError) as error:
        if settings.is_persistent:
            where = f"in {settings.persist_directory}"
            todo = (
                "Where its disk is full, free some space. Where its files are damaged, stop Footnote, remove that "
                "folder, start again and re-index all documents: their vectors are in the database as well"
            )
        else:
            where = f"at {settings.chroma_server_host}:{settings.chroma_server_http_port}"
            todo = (
                "Check that it runs and CHROMA_HOST and RAG_CHROMA_PORT, or remove CHROMA_HOST to use the embedded one"
            )
        raise StoreUnavailable(f"Chroma {where} does not answer ({error}). {todo}. Nothing was lost.") from error
