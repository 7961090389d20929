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
    """Return a passage with the data of a chunk.

    Parameters
    ----------
    rank : int
    row : ChunkRow
    scores : mapping of str to mapping of int to float
        For each score, its values by chunk id.
    duplicates : sequence of ChunkRow
        Near duplicates of the chunk, which the result leaves out.
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
