"""Add chunks to the indexes of the retrievers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rag_core.index.retriever import ChunkBatch, ChunkIndex, Retriever
from rag_core.runtime.stores import Stores
from rag_core.types.chunks import ChunkSpan, SparseVector

Indexes = Iterable[tuple[Retriever, ChunkIndex]]
Encodings = Mapping[str, Sequence[SparseVector]]


def build_chunk_batch(chunk_ids: Sequence[int], spans: Sequence[ChunkSpan], version_id: str) -> ChunkBatch:
    """Return the chunks of a version as a batch for an index, without vectors."""
    return ChunkBatch(chunk_ids, [(span.prefix, span.text) for span in spans], [version_id] * len(spans))


def add_chunks(indexes: Indexes, batch: ChunkBatch, encodings: Encodings) -> None:
    """Add a batch of chunks, which contains their dense vectors, to the indexes of retrievers.

    ``encodings`` maps the name of the score of each retriever with an encoder to the encoder's vectors of the chunks.
    If the vectors for such a retriever are missing, its index gets no chunks.
    """
    for retriever, index in indexes:
        if retriever.reads != "encoding":
            index.add(batch)
        elif vectors := encodings.get(retriever.score.name):
            index.add(replace(batch, encodings=vectors))


def index_chunks(
    stores: Stores, indexes: Indexes, batch: ChunkBatch, embedding_ids: Sequence[int], encodings: Encodings
) -> None:
    """Add chunks with their stored dense vectors to indexes, and link each chunk to its embedding; see `add_chunks`."""
    dense = stores.embeddings.read_dense(embedding_ids)
    add_chunks(indexes, replace(batch, vectors=np.stack([dense[one] for one in embedding_ids])), encodings)
    # The chunks are linked last, because chunks without a link are added again after an interruption.
    stores.embeddings.link_chunks(dict(zip(batch.chunk_ids, embedding_ids, strict=True)))
