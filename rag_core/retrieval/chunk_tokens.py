"""The tokens of chunks: their vectors, and where they stand in the text."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from rag_core.runtime.index_generations import Generation
from rag_core.runtime.stores import Stores
from rag_core.store.serialization import unpack_sentences
from rag_core.types import ChunkVectors, FloatArray, IntArray, embedded_text
from rag_core.types.protocols import TextEncoder

# A document that was just added is found by its words; so many of its chunks are embedded while the
# reader waits, best first, so that they can be ranked and gated like the others (about 40 ms each).
EMBED_WHILE_ASKED = 8


class ChunkTokens:
    """Fetches what is asked for and keeps it: reranker, gate and reader of one question want the same.

    Parameters
    ----------
    stores : Stores
    generation : Generation
        The index whose chunks they are.
    """

    def __init__(self, stores: Stores, generation: Generation) -> None:
        self._stores = stores
        self._generation = generation
        self._vectors: dict[int, ChunkVectors | None] = {}
        # Searches that go on side by side find the same chunks: one fetches them, the other waits.
        self._fetching = threading.Lock()
        self._spans: dict[int, IntArray] = {}

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
        """Token vectors by chunk: those that are stored, and of the first few others, made now."""
        if self._new(chunk_ids):
            with self._fetching:
                new = self._new(chunk_ids)
                self._vectors |= {**dict.fromkeys(new), **self._fetched(new)}
        found = {chunk_id: self._vectors[chunk_id] for chunk_id in chunk_ids}
        return {chunk_id: vectors for chunk_id, vectors in found.items() if vectors is not None}

    def fetch(self, chunk_ids: Sequence[int]) -> None:
        """Take what is stored of these into memory, in whatever thread; `vectors` then has it."""
        with self._fetching:
            self._vectors |= self._stores.vectors.tokens(self._new(chunk_ids))

    def spans(self, rows: Sequence[Any]) -> list[IntArray]:
        """For each chunk's row the character spans of its tokens, shape (n, 2).

        Offsets are into the chunk's own text; the tokens of its prefix have negative ones.
        """
        new = [row for row in rows if row.id not in self._spans]
        offsets = self._generation.embedder.offsets([embedded_text(row.prefix, row.text) for row in new])
        for row, spans in zip(new, offsets, strict=True):
            self._spans[row.id] = spans - len(embedded_text(row.prefix, ""))
        return [self._spans[row.id] for row in rows]

    def _new(self, chunk_ids: Sequence[int]) -> list[int]:
        return [chunk_id for chunk_id in chunk_ids if chunk_id not in self._vectors]

    def _fetched(self, chunk_ids: Sequence[int]) -> dict[int, ChunkVectors]:
        stored = dict(self._stores.vectors.tokens(chunk_ids))
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in stored][:EMBED_WHILE_ASKED]
        if missing:
            rows = self._stores.library.visible_chunks(missing)
            present = [chunk_id for chunk_id in missing if chunk_id in rows]
            texts = [embedded_text(rows[one].prefix, rows[one].text) for one in present]
            made_now = self._generation.embedder.embed(texts, queued=False)
            for chunk_id, made in zip(present, made_now, strict=True):
                sentences = unpack_sentences(rows[chunk_id].sentences)
                stored[chunk_id] = ChunkVectors(made.tokens, made.scales, sentences)
        return stored


def token_vectors(generation: Generation) -> TextEncoder:
    """Token vectors of any text, by which statements and sources are compared."""

    def vectors(text: str) -> tuple[FloatArray, IntArray]:
        embedded = generation.embedder.embed_question(text)
        return embedded.tokens, embedded.offsets

    return vectors
