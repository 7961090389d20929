"""Store and search dense vectors in Chroma, with one collection for each index generation."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from rag_core.errors import ServerUnavailable, StoreUnavailable
from rag_core.index.chroma_http import ChromaHttpClient
from rag_core.index.retriever import ChunkBatch, Retriever
from rag_core.settings import Settings
from rag_core.store.database import Database, create_id, split_batches
from rag_core.store.documents import DocumentStore
from rag_core.store.preferences import PreferenceStore
from rag_core.system import zero_new_allocations
from rag_core.types.chunks import Fingerprint
from rag_core.types.retrieval import Excluding, Hit, PassageScore, Question, SearchStage, VersionFilter

# Maximum number of records in a call. Chroma accepts a few thousand; the exact limit depends on SQLite.
WRITE_BATCH = 2000
# Maximum number of versions in a filter. Chroma passes each version as a parameter of an SQL statement, and SQLite
# accepts at most 32,766 parameters.
MAX_VERSIONS = 10_000
# Maximum time in seconds for which a question waits for a Chroma server, and for an embedded Chroma. The first search
# of an embedded Chroma loads a large library, which takes seconds on a busy machine.
SEARCH_WITHIN_S, EMBEDDED_SEARCH_WITHIN_S = 2.0, 30.0
# Name of the preference that stores the id of the library.
LIBRARY = "library"


class DenseIndex:
    """An index that ranks the chunks of one generation by the cosine similarity of their dense vectors.

    Parameters
    ----------
    client : chromadb.ClientAPI
        A client from `open_chroma`.
    generation_id : int
    library_id : str
        Part of the name of the Chroma collection, so that several libraries can share a Chroma server.
    """

    def __init__(self, client: Any, generation_id: int, library_id: str) -> None:
        self._client = client
        self._settings = client.get_settings()
        self._collection_name = _build_collection_name(generation_id, library_id)
        self._cached_collection: Any = None

    @property
    def _collection(self) -> Any:
        """The Chroma collection; ``None`` if nothing was added yet or the generation was removed."""
        from chromadb.errors import NotFoundError

        def find() -> Any:
            try:
                return self._client.get_collection(self._collection_name, embedding_function=None)
            except NotFoundError:
                return None

        if self._cached_collection is None:
            self._cached_collection = self._call(find)
        return self._cached_collection

    def _get_or_create_collection(self) -> Any:
        """Return the collection, and create it if necessary.

        Only `add` calls this method, so that reads cannot create the collection of a removed generation again.
        """
        if self._collection is None:
            self._cached_collection = self._call(
                lambda: self._client.get_or_create_collection(
                    self._collection_name,
                    embedding_function=None,
                    # These values are larger than the defaults, because recall is more important than speed.
                    configuration={"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 200}},
                )
            )
        return self._cached_collection

    def add(self, chunks: ChunkBatch) -> None:
        """Add or overwrite the vectors and versions of chunks."""
        assert chunks.vectors is not None
        collection = self._get_or_create_collection()
        for first in range(0, len(chunks.chunk_ids), WRITE_BATCH):
            last = first + WRITE_BATCH
            records = {
                "ids": [str(chunk_id) for chunk_id in chunks.chunk_ids[first:last]],
                "embeddings": chunks.vectors[first:last],
                "metadatas": [{"version": version} for version in chunks.versions[first:last]],
            }
            self._call(lambda records=records: collection.upsert(**records))

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """Return the ``k`` chunks of some versions that are nearest to the question, best first."""
        if self._collection is None:
            return []
        hits = [hit for where in _build_filters(versions) for hit in self._find_nearest(question, k, where)]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Delete chunks. Unknown ids are ignored."""
        collection = self._collection
        if collection is not None:
            for batch in split_batches(list(map(str, chunk_ids)), WRITE_BATCH):
                self._call(lambda batch=batch: collection.delete(ids=batch))

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """Return the number of chunks in the index; with ``chunk_ids``, only these chunks are counted."""
        if chunk_ids is None:
            return int(self._call(self._collection.count)) if self._collection is not None else 0
        return len(self.ids(chunk_ids))

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Return the ids of the chunks in the index; with ``chunk_ids``, only ids that are in both."""
        collection = self._collection
        if collection is None:
            return set()
        batches = [None] if chunk_ids is None else split_batches(list(map(str, chunk_ids)), WRITE_BATCH)
        found = (self._call(lambda batch=batch: collection.get(ids=batch, include=[])["ids"]) for batch in batches)
        return set(map(int, chain.from_iterable(found)))

    def drop(self) -> None:
        """Delete the collection of the generation, if it exists."""
        if self._collection is not None:
            # The cached collection is kept, so that a later search raises an error instead of finding nothing.
            self._call(lambda: self._client.delete_collection(self._collection_name))

    def _find_nearest(self, question: Question, k: int, where: dict[str, Any] | None) -> list[Hit]:
        collection = self._collection
        result = self._call(
            lambda: collection.query(
                query_embeddings=question.dense[np.newaxis], n_results=k, where=where, include=["distances"]
            )
        )
        pairs = zip(result["ids"][0], result["distances"][0], strict=True)
        return [Hit(int(chunk_id), 1.0 - float(distance)) for chunk_id, distance in pairs]

    def _call(self, call: Any) -> Any:
        return _call_chroma(call, self._settings)


class DenseRetriever(Retriever):
    """Finds chunks by dense vectors of their texts, in an embedded Chroma or on a Chroma server."""

    score = PassageScore("dense", "meaning")
    stage = SearchStage("dense", "Searching by meaning", "Waited for the search by meaning", "meaning (in parallel)")
    store = "vectors"
    place = "in Chroma"
    reads = "embedding"
    failure = "Only words were searched, because the vectors are not available."

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._documents = DocumentStore(database)
        self._preferences = PreferenceStore(database)
        self._library = self._identify_library()
        self._client: Any = None
        self._indexes: dict[int, DenseIndex] = {}
        self._lock = threading.Lock()

    @property
    def search_limit_s(self) -> float:
        return SEARCH_WITHIN_S if self._settings.chroma_host else EMBEDDED_SEARCH_WITHIN_S

    def open(self, generation_id: int) -> DenseIndex:
        """Return the index of a generation. The first call opens Chroma, which is slow."""
        with self._lock:
            if self._client is None:
                client = open_chroma(self._settings.data_dir / "chroma", self._settings.chroma_host)
                self._rename_collections(client)
                self._client = client
            if generation_id not in self._indexes:
                self._indexes[generation_id] = DenseIndex(self._client, generation_id, self._library["id"])
            return self._indexes[generation_id]

    def drop(self, generation_id: int) -> None:
        self.open(generation_id).drop()
        with self._lock:
            self._indexes.pop(generation_id, None)

    def measure_bytes(self, generation_id: int, fingerprint: Fingerprint) -> int:
        """Return the size of the vectors in bytes, with four bytes for each number."""
        return self.open(generation_id).count() * fingerprint.dimension * 4

    def close(self) -> None:
        with self._lock:
            self._indexes.clear()
            if self._client is not None:
                close_chroma(self._client)
                self._client = None

    def _identify_library(self) -> dict[str, Any]:
        """Return the stored ``id`` and ``renamed`` of this library; create and store them if they are missing.

        ``id`` is a random id, which is part of the names of the library's collections in Chroma. ``renamed`` is false
        as long as the names lack this id, because version 0.1.0 of Footnote created the collections.
        """
        library: dict[str, Any] | None = self._preferences.get(LIBRARY)
        if library is None:
            library = {"id": create_id(), "renamed": not self._list_generations()}
            self._preferences.set(LIBRARY, library)
        return library

    def _list_generations(self) -> list[int]:
        return [generation_id for generation_id, _ in self._documents.generations("building", "active", "retired")]

    def _rename_collections(self, client: Any) -> None:
        """Add the id of the library to the names of collections that lack it; see `_identify_library`."""
        if self._library["renamed"]:
            return
        for generation_id in self._list_generations():
            _rename_collection(client, generation_id, self._library["id"])
        self._library = {**self._library, "renamed": True}
        self._preferences.set(LIBRARY, self._library)


def _build_filters(versions: VersionFilter | None) -> list[dict[str, Any] | None]:
    """Return Chroma filters that together select some versions. Each filter needs a separate query."""
    if versions is None:
        return [None]
    if isinstance(versions, Excluding):
        return [{"version": {"$nin": list(versions.versions)}}]
    return [{"version": {"$in": batch}} for batch in split_batches(list(versions), MAX_VERSIONS)]


def open_chroma(path: Path, server: str | None) -> Any:
    """Return a client of a Chroma server (host or host:port), or without ``server``, of an embedded Chroma in a folder.

    Raises
    ------
    StoreUnavailable
        The server does not answer, or the folder cannot be opened.
    """
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    if server is None:
        return _call_chroma(lambda: _open_embedded(str(path), settings), settings)
    host, port = split_server(server)
    settings.chroma_server_host, settings.chroma_server_http_port = host, port
    return _call_chroma(lambda: _open_server(host, port, settings), settings)


def split_server(server: str) -> tuple[str, int]:
    """Return the host and the port of a Chroma server; the default port is 8000.

    >>> split_server("chroma.example"), split_server("127.0.0.1:9000"), split_server("[::1]:9000")
    (('chroma.example', 8000), ('127.0.0.1', 9000), ('::1', 9000))

    Raises
    ------
    StoreUnavailable
        ``server`` is not a host or host:port.
    """
    try:
        parts = urlsplit(f"//{server}")
        return parts.hostname or server, parts.port or 8000
    except ValueError as error:
        raise StoreUnavailable(f"RAG_CHROMA_HOST={server} is not a host or host:port ({error}). Correct it.") from None


def close_chroma(client: Any) -> None:
    """Close a client from `open_chroma`."""
    if not client.get_settings().is_persistent:
        client._server._session.close()
    client.close()


def _open_server(host: str, port: int, settings: Any) -> Any:
    import chromadb

    # Chroma's client waits for a server without a time limit, so the server is checked before.
    with ChromaHttpClient(f"http://{host}:{port}/api/v2") as session:
        session.check_server()
    client = chromadb.HttpClient(host, port, settings=settings)
    server = client._server
    session = server._session
    server._session = ChromaHttpClient(server.get_api_url(), headers=session.headers, limits=server.http_limits)
    session.close()
    # The client has a second session, which it uses only in its constructor.
    client._admin_client._server._session.close()
    return client


def _open_embedded(path: str, settings: Any) -> Any:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient

    try:
        return chromadb.PersistentClient(path, settings=settings)
    except Exception:
        # Chroma caches a client that failed to start, and would return it again at the next try.
        SharedSystemClient._identifier_to_system.pop(path, None)
        raise


def _rename_collection(client: Any, generation_id: int, library_id: str) -> None:
    """Add the id of the library to the name of a generation's collection, if version 0.1.0 created the collection."""
    from chromadb.errors import NotFoundError

    def rename() -> None:
        try:
            collection = client.get_collection(f"chunks-{generation_id}", embedding_function=None)
        except NotFoundError:
            return
        collection.modify(name=_build_collection_name(generation_id, library_id))

    _call_chroma(rename, client.get_settings())


def _build_collection_name(generation_id: int, library_id: str) -> str:
    return f"footnote-{library_id}-{generation_id}"


def _call_chroma(call: Any, settings: Any) -> Any:
    """Return the result of a function that calls Chroma; raise `StoreUnavailable` if Chroma fails."""
    from chromadb.errors import ChromaError, InternalError

    try:
        # An embedded Chroma writes memory that it has not initialized to its files. They must not contain earlier data
        # of this process.
        with zero_new_allocations():
            return call()
    except (ChromaError, httpx.HTTPError, OSError, ValueError) as error:
        if settings.is_persistent:
            raise StoreUnavailable(
                f"Chroma in {settings.persist_directory} does not answer ({error}). If its disk is full, free some "
                "space. If its files are damaged, stop Footnote, delete that folder, start again and re-index all "
                "documents: their vectors are also in the database. Nothing was lost."
            ) from error
        server = f"Chroma at {settings.chroma_server_host}:{settings.chroma_server_http_port}"
        message = (
            f"{server} does not answer ({error}). Check that it runs, and check RAG_CHROMA_HOST; or remove "
            "RAG_CHROMA_HOST to use the embedded Chroma. Nothing was lost."
        )
        # chromadb raises a ValueError if it cannot connect to its server, but also if a server refuses a value.
        if isinstance(error, httpx.TransportError | OSError | InternalError) or "connect" in str(error):
            raise ServerUnavailable(message, server) from error
        raise StoreUnavailable(message) from error
