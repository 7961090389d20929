"""Build passages from stored chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_core.text.injection import contains_instructions
from rag_core.types.chunks import ChunkRow
from rag_core.types.documents import PageReference
from rag_core.types.retrieval import Passage


def build_passage(
    rank: int, row: ChunkRow, scores: Mapping[str, Mapping[int, float]], duplicates: Sequence[ChunkRow] = ()
) -> Passage:
    """Return a passage with the data of a chunk's row.

    ``scores`` maps the name of each score to a mapping of chunk id to value. ``duplicates`` contains the rows of the
    chunks that the result omits because they are near duplicates of this chunk.
    """
    hidden = row.hidden or ""
    return Passage(
        rank=rank,
        chunk_id=str(row.id),
        document_id=row.document_id,
        version_id=row.version_id,
        document=row.document,
        page_index=row.page_index,
        page_label=row.page_label,
        page_index_end=row.page_index_end,
        start=row.start,
        end=row.end,
        text=row.text,
        heading=row.heading,
        scores={name: by_chunk.get(row.id) for name, by_chunk in scores.items()},
        instructions=contains_instructions(row.text) or contains_instructions(hidden),
        duplicates=tuple(
            PageReference(one.document_id, one.document, one.page_index, one.page_label) for one in duplicates
        ),
        hidden=hidden,
        document_label=row.document_label,
    )
