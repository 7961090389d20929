"""Load the rows, token vectors and token offsets of chunks for one question."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future

from rag_core.retrieval.on_demand import OnDemandEmbeddings
from rag_core.store.serialization import unpack_sentences
from rag_core.types.chunks import ChunkRow, ChunkVectors
from rag_core.types.protocols import ChunkStore, QuestionEmbedder, TokenVectorStore
from rag_core.types.searches import PassageTokens

# Maximum number of chunks that are embedded during a search. Word search finds new documents before their chunks are
# embedded, but the reranker and the gate need the token vectors of the best chunks.
EMBED_ON_DEMAND = 8
# Maximum time in seconds for which a question waits for these embeddings.
EMBED_WITHIN_S = 0.3


class ChunkLoader:
    """Loads and caches the data of chunks for one question. Several stages need the same chunks.

    Parameters
    ----------
    chunks : ChunkStore
    vectors : TokenVectorStore
    embedder : QuestionEmbedder
        The embedder of the index that contains the chunks.
    pool : Executor
        Executor for loading rows in the background.
    on_demand : OnDemandEmbeddings
        Embeds chunks without stored token vectors.
    """

    def __init__(
        self,
        chunks: ChunkStore,
        vectors: TokenVectorStore,
        embedder: QuestionEmbedder,
        pool: Executor,
        on_demand: OnDemandEmbeddings,
    ) -> None:
        self._chunks = chunks
        self._vector_store = vectors
        self._embedder = embedder
        self._pool = pool
        self._on_demand = on_demand
        self._requested: set[int] = set()
        self._pending: list[Future[dict[int, ChunkRow]]] = []
        self._rows: dict[int, ChunkRow] = {}
        self._vectors: dict[int, ChunkVectors | None] = {}
        # Retrievers run in parallel and often find the same chunks, whose vectors are loaded by only one thread.
        self._loading = threading.Lock()

    def prefetch_rows(self, chunk_ids: Sequence[int]) -> None:
        """Start to load the rows of chunks in the background. Chunks that were requested before are ignored."""
        if new := [one for one in chunk_ids if one not in self._requested]:
            self._requested.update(new)
            self._pending.append(self._pool.submit(self._chunks.visible_chunks, new))

    def rows(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the rows of the chunks by chunk id, without chunks that searches may not find.

        Raises
        ------
        StoreUnavailable
            The database does not answer.
        """
        self.prefetch_rows(chunk_ids)
        while self._pending:
            self._rows |= self._pending.pop().result()
        return {one: self._rows[one] for one in chunk_ids if one in self._rows}

    def texts(self, chunk_ids: Sequence[int]) -> dict[int, str]:
        """Return the embedded texts of the chunks by chunk id, without chunks that searches may not find."""
        return {one: row.embedded_text for one, row in self.rows(chunk_ids).items()}

    def load_stored_vectors(self, chunk_ids: Sequence[int]) -> None:
        """Load the stored token vectors of chunks into the cache, and return when they are loaded.

        No chunks are embedded.
        """
        with self._loading:
            self._vectors |= self._vector_store.read_tokens(self._select_without_vectors(chunk_ids))

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
        """Return the token vectors of the chunks by chunk id.

        Of chunks without stored token vectors, the first `EMBED_ON_DEMAND` are embedded. The others, and those that are
        not embedded within `EMBED_WITHIN_S`, are left out, also by later calls.
        """
        if self._select_without_vectors(chunk_ids):
            with self._loading:
                new = self._select_without_vectors(chunk_ids)
                self._vectors |= {**dict.fromkeys(new), **self._load_vectors(new)}
        loaded = {chunk_id: self._vectors[chunk_id] for chunk_id in chunk_ids}
        return {chunk_id: vectors for chunk_id, vectors in loaded.items() if vectors is not None}

    @property
    def loaded_vectors(self) -> dict[int, ChunkVectors]:
        """All token vectors that have been loaded or computed, by chunk id."""
        # A search that exceeded its time limit may still be adding vectors.
        with self._loading:
            return {chunk_id: vectors for chunk_id, vectors in self._vectors.items() if vectors is not None}

    def _select_without_vectors(self, chunk_ids: Sequence[int]) -> list[int]:
        return [chunk_id for chunk_id in chunk_ids if chunk_id not in self._vectors]

    def _load_vectors(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        stored = dict(self._vector_store.read_tokens(chunk_ids))
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in stored][:EMBED_ON_DEMAND]
        if missing:
            rows = list(self._chunks.visible_chunks(missing).values())
            embeddings = self._on_demand.embed(self._embedder, [row.embedded_text for row in rows], EMBED_WITHIN_S)
            for row, one in zip(rows, embeddings, strict=True):
                if one is not None:
                    stored[row.id] = ChunkVectors(one.tokens, one.scales, unpack_sentences(row.sentences))
        return stored


def load_passage_tokens(
    rows: Sequence[ChunkRow], vectors: Mapping[int, ChunkVectors], embedder: QuestionEmbedder
) -> dict[int, PassageTokens]:
    """Return the token vectors and token offsets of chunks by chunk id, without chunks that have no token vectors."""
    present = [row for row in rows if row.id in vectors]
    offsets = embedder.offsets([row.embedded_text for row in present])
    return {
        row.id: PassageTokens(vectors[row.id], spans - len(row.prefix_text))
        for row, spans in zip(present, offsets, strict=True)
    }
