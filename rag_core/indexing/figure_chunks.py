"""Make the descriptions of figures searchable, by a chunk at the caption of each figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rag_core.embedding.embedder import Embedder
from rag_core.indexing.chunk_indexing import build_chunk_batch, index_chunks
from rag_core.indexing.removal import Removal
from rag_core.llm.figure_prompt import LABEL
from rag_core.runtime.index_generations import IndexGeneration
from rag_core.runtime.stores import Stores
from rag_core.store.database import AnyRow
from rag_core.store.serialization import hash_text
from rag_core.types.chunks import ChunkRow, ChunkSpan, build_embedded_text
from rag_core.types.documents import VersionRow


def index_descriptions(
    stores: Stores, removal: Removal, generation: IndexGeneration, version: VersionRow, page_texts: Mapping[int, str]
) -> None:
    """Add a chunk to all indexes for each description of `FigureStore.find_unindexed`.

    Do nothing if the version has no chunks or is no longer active.
    """
    rows = stores.figures.find_unindexed(version.id)
    chunks = stores.documents.chunk_rows(version.id) if rows else []
    if not chunks:
        return
    embedder = generation.embedder
    spans = [_build_span(row, number, chunks, page_texts[row.page_index], embedder) for number, row in enumerate(rows)]
    texts = [build_embedded_text(span.prefix, span.text) for span in spans]
    hashes = [hash_text(span.prefix, span.text) for span in spans]
    vectors = embedder.embed(texts)
    encodings = {name: load().encode(texts) for name, load in generation.encoders.items()}
    with removal.lock:
        current = stores.documents.version(version.id)
        if current is None or current.active_version != version.id:
            return
        batch = build_chunk_batch(stores.figures.save_chunks(version.id, rows, spans), spans, version.id)
        stores.embeddings.save(generation.space, dict(zip(hashes, vectors, strict=True)))
        ids = stores.embeddings.find_ids(generation.space, hashes)
        indexes = stores.open_indexes(generation.generation_id)
        index_chunks(stores, indexes, batch, [ids[digest] for digest in hashes], encodings)


def _build_span(row: AnyRow, number: int, chunks: Sequence[ChunkRow], text: str, embedder: Embedder) -> ChunkSpan:
    """Return the chunk of a figure's description; ``number`` is added to the ordinal after the last chunk.

    The text of the chunk is the caption. The prefix contains as much of the description as the embedder reads, because
    a prefix is searched but never quoted.
    """
    place = row.page_index, row.start
    chunk = next((one for one in reversed(chunks) if (one.page_index, one.start) <= place), chunks[0])
    room = embedder.window - embedder.special_tokens
    caption = _cut(text[row.start : row.end], room // 3, embedder)
    [in_caption] = embedder.offsets([caption])
    description = f"{LABEL.format(model=row.model)} {row.text}"
    # Prefix and caption together may have more tokens than apart.
    room -= len(in_caption) + 2
    prefix = _cut("\n".join([chunk.prefix.partition("\n")[0], description]), room, embedder)
    [offsets] = embedder.offsets([build_embedded_text(prefix, caption)])
    first = int(np.searchsorted(offsets[:, 0], len(prefix) + 1))
    return ChunkSpan(
        *(chunks[-1].ordinal + 1 + number, *place, row.page_index, row.start + len(caption)),
        *(caption, prefix, chunk.heading, len(offsets) + embedder.special_tokens, (first,)),
    )


def _cut(text: str, tokens: int, embedder: Embedder) -> str:
    """Return the beginning of a text, with at most ``tokens`` tokens."""
    [offsets] = embedder.offsets([text])
    return text if len(offsets) <= tokens else text[: int(offsets[tokens - 1, 1])]
