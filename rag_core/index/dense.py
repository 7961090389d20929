"""Store and search dense vectors in Chroma, with one collection per generation. Only this module imports chromadb."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from rag_core.errors import ServerUnavailable, StoreUnavailable
from rag_core.index.chroma_http import ChromaHttpClient
from rag_core.index.retriever import ChunkBatch, Retriever
from rag_core.settings import Settings
from rag_core.store.database import Database, create_id
from rag_core.store.documents import DocumentStore
from rag_core.store.preferences import PreferenceStore
from rag_core.system import zero_new_allocations
from rag_core.types.chunks import Fingerprint
from rag_core.types.retrieval import Excluding, Hit, PassageScore, Question, SearchStage, VersionFilter

# Maximum number of records per call. Chroma accepts at most a few thousand; the exact limit depends on SQLite.
WRITE_BATCH = 2000
# Maximum number of versions in a filter. Chroma passes each version as a parameter of an SQL statement, and SQLite
# accepts at most 32,766 parameters.
MAX_VERSIONS = 10_000
# Seconds that a question waits for a server, and for an embedded Chroma. The latter does not hang, but its first search
# loads a large library, which takes seconds on a busy machine.
SEARCH_WITHIN_S, EMBEDDED_SEARCH_WITHIN_S = 2.0, 30.0
# Name of the preference that stores the id of the library.
LIBRARY = "library"


class DenseIndex:
    """An index that ranks the chunks of one generation by the cosine similarity of their dense vectors.

    Parameters
    ----------
    client : chromadb.ClientAPI
        A client that `open_chroma` returned.
    generation_id : int
    library_id : str
        Part of the collection's name, so that several libraries can share one Chroma server.
    """

    def __init__(self, client: Any, generation_id: int, library_id: str) -> None:
        self._client = client
        self._settings = client.get_settings()
        self._collection_name = _collection_name(generation_id, library_id)
        self._cached_collection: Any = None

    @property
    def _collection(self) -> Any:
        """The Chroma collection, or ``None`` if nothing was added yet or the generation was removed."""
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
        """Return the collection; create it if necessary.

        Only `add` calls this method. If reads called it, they would create the collection of a removed generation.
        """
        if self._collection is None:
            self._cached_collection = self._call(
                lambda: self._client.get_or_create_collection(
                    self._collection_name,
                    embedding_function=None,
                    # Larger than the defaults, because recall of the approximate search matters more than its speed.
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
        """Return the ``k`` chunks nearest to the question, best first; ``versions`` restricts the search."""
        if self._collection is None:
            return []
        hits = [hit for where in _where_filters(versions) for hit in self._nearest(question, k, where)]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Delete these chunks; ignore unknown ids."""
        collection = self._collection
        for first in range(0, len(chunk_ids) if collection is not None else 0, WRITE_BATCH):
            ids = [str(chunk_id) for chunk_id in chunk_ids[first : first + WRITE_BATCH]]
            self._call(lambda ids=ids: collection.delete(ids=ids))

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """Return how many of these chunks are stored, or the number of all stored chunks."""
        if chunk_ids is None:
            return int(self._call(self._collection.count)) if self._collection is not None else 0
        return len(self.ids(chunk_ids))

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Return the ids of those of these chunks that are stored, or of all stored chunks."""
        collection = self._collection
        if collection is None:
            return set()
        if chunk_ids is None:
            stored_ids = self._call(lambda: collection.get(include=[])["ids"])
            return {int(chunk_id) for chunk_id in stored_ids}
        ids: set[int] = set()
        for first in range(0, len(chunk_ids), WRITE_BATCH):
            batch = [str(chunk_id) for chunk_id in chunk_ids[first : first + WRITE_BATCH]]
            ids |= {
                int(chunk_id)
                for chunk_id in self._call(lambda batch=batch: collection.get(ids=batch, include=[])["ids"])
            }
        return ids

    def drop(self) -> None:
        """Delete the collection of the generation, if it exists."""
        if self._collection is not None:
            # The cached collection is not reset, so that a later search raises an error instead of finding nothing.
            self._call(lambda: self._client.delete_collection(self._collection_name))

    def _nearest(self, question: Question, k: int, where: dict[str, Any] | None) -> list[Hit]:
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
    """Finds chunks by the meaning of their text: by dense vectors in Chroma, embedded or on a server."""

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
        """Return the index of a generation. The first call is slow, because it opens Chroma."""
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
        """Return the size in bytes of the vectors, with four bytes per number."""
        return self.open(generation_id).count() * fingerprint.dimension * 4

    def close(self) -> None:
        with self._lock:
            self._indexes.clear()
            if self._client is not None:
                close_chroma(self._client)
                self._client = None

    def _identify_library(self) -> dict[str, Any]:
        """Return the stored ``id`` and ``renamed`` of this library; create and store them if there are none.

        ``id`` is a random id, which is part of the names of the library's collections in Chroma. ``renamed`` is false
        as long as the collections still have the names that earlier versions of Footnote gave them, without an id.
        """
        library: dict[str, Any] | None = self._preferences.get(LIBRARY)
        if library is None:
            library = {"id": create_id(), "renamed": not self._list_generations()}
            self._preferences.set(LIBRARY, library)
        return library

    def _list_generations(self) -> list[int]:
        states = ("building", "active", "retired")
        return [generation_id for state in states for generation_id, _ in self._documents.generations(state)]

    def _rename_collections(self, client: Any) -> None:
        if self._library["renamed"]:
            return
        for generation_id in self._list_generations():
            adopt_collection(client, generation_id, self._library["id"])
        self._library = {**self._library, "renamed": True}
        self._preferences.set(LIBRARY, self._library)


def _where_filters(versions: VersionFilter | None) -> list[dict[str, Any] | None]:
    """Return the Chroma filters for these versions. Each filter needs its own query."""
    if versions is None:
        return [None]
    if isinstance(versions, Excluding):
        return [{"version": {"$nin": list(versions.versions)}}]
    firsts = range(0, len(versions), MAX_VERSIONS)
    return [{"version": {"$in": list(versions[first : first + MAX_VERSIONS])}} for first in firsts]


def open_chroma(path: Path, server: str | None) -> Any:
    """Return a Chroma client: for ``server`` (host or host:port), or, without one, for an embedded database.

    Raises
    ------
    StoreUnavailable
        The server does not answer or the folder cannot be opened.
    """
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    if server is None:
        return _call_chroma(lambda: _open_embedded(str(path), settings), settings)
    host, port = split_server(server)
    settings.chroma_server_host, settings.chroma_server_http_port = host, port
    return _call_chroma(lambda: _open_server(host, port, settings), settings)


def split_server(server: str) -> tuple[str, int]:
    """Return the host and the port of a Chroma server, which is 8000 unless ``server`` ends with another one.

    >>> split_server("chroma.example"), split_server("127.0.0.1:9000"), split_server("[::1]:9000")
    (('chroma.example', 8000), ('127.0.0.1', 9000), ('::1', 9000))

    Raises
    ------
    StoreUnavailable
    """
    try:
        parts = urlsplit(f"//{server}")
        return parts.hostname or server, parts.port or 8000
    except ValueError as error:
        raise StoreUnavailable(f"RAG_CHROMA_HOST={server} is not a host or host:port ({error}). Correct it.") from None


def close_chroma(client: Any) -> None:
    """Close a client that `open_chroma` returned."""
    if not client.get_settings().is_persistent:
        client._server._session.close()
    client.close()


def _open_server(host: str, port: int, settings: Any) -> Any:
    import chromadb

    # Chroma's client waits for a server without limit, also in its constructor, and has no option to change that.
    with ChromaHttpClient(f"http://{host}:{port}/api/v2") as session:
        session.check_server()
    client = chromadb.HttpClient(host, port, settings=settings)
    server = client._server
    session = server._session
    server._session = ChromaHttpClient(server.get_api_url(), headers=session.headers, limits=server.http_limits)
    session.close()
    # The client has used its second session to check the tenant, and never uses it again.
    client._admin_client._server._session.close()
    return client


def _open_embedded(path: str, settings: Any) -> Any:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient

    try:
        return chromadb.PersistentClient(path, settings=settings)
    except Exception:
        # Chroma caches a client even if it failed to start, and would return the same client at the next try.
        SharedSystemClient._identifier_to_system.pop(path, None)
        raise


def adopt_collection(client: Any, generation_id: int, library_id: str) -> None:
    """Rename the collection of a generation if an earlier version of Footnote named it without the library id."""
    from chromadb.errors import NotFoundError

    def rename() -> None:
        try:
            collection = client.get_collection(f"chunks-{generation_id}", embedding_function=None)
        except NotFoundError:
            return
        collection.modify(name=_collection_name(generation_id, library_id))

    _call_chroma(rename, client.get_settings())


def _collection_name(generation_id: int, library_id: str) -> str:
    return f"footnote-{library_id}-{generation_id}"


def _call_chroma(call: Any, settings: Any) -> Any:
    """Return the result of ``call``, a call to Chroma; raise `StoreUnavailable` if Chroma fails."""
    import httpx
    from chromadb.errors import ChromaError, InternalError

    try:
        # An embedded Chroma allocates memory for future vectors and writes it to its files without initializing it. The
        # files could then contain earlier data of this process.
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
        # chromadb raises a bare ValueError when it cannot connect to its server. Other values are refused by a server
        # that answers.
        if isinstance(error, httpx.TransportError | OSError | InternalError) or "connect" in str(error):
            raise ServerUnavailable(message, server) from error
        raise StoreUnavailable(message) from error
