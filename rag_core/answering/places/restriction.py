"""Restrict a ranking to the chunks of the places that a question names."""

from __future__ import annotations

from dataclasses import replace

from rag_core.retrieval.late_interaction import rerank_chunks
from rag_core.runtime.stores import Stores
from rag_core.types.chunks import PAGE_BREAK, ChunkRow
from rag_core.types.places import NamedPlaces, Place
from rag_core.types.retrieval import Ranking
from rag_core.types.searches import RankedChunks


def list_rows(place: Place, stores: Stores) -> list[ChunkRow]:
    """Return the chunks that contain text of a place, in reading order."""
    return [row for row in stores.documents.chunk_rows(place.version_id) if has_text_of(row, place)]


def keep_places(ranked: RankedChunks, named: NamedPlaces, stores: Stores) -> RankedChunks:
    """Return a ranking of exactly the chunks of some places, including chunks that no retriever found.

    The chunks are ordered by their late-interaction scores; in reading order if the question asks for the text itself.
    """
    rows = {row.id: row for place in named.places for row in list_rows(place, stores)}
    missing = [one for one in rows if one not in ranked.vectors]
    vectors = {**ranked.vectors, **stores.embeddings.read_tokens(missing)}
    hits = rerank_chunks(ranked.mapped_question, ranked.token_weights, lambda _: vectors, list(rows))
    first = [] if named.is_whole else [hit.chunk_id for hit in hits]
    scores = {
        name: {one: value for one, value in of.items() if one in rows} for name, of in ranked.ranking.scores.items()
    }
    scores["rerank"] = {hit.chunk_id: hit.score for hit in hits}
    ranking = Ranking(tuple(dict.fromkeys([*first, *rows])), scores)
    return replace(ranked, ranking=ranking, rows=rows, vectors=vectors)


def has_text_of(row: ChunkRow, place: Place) -> bool:
    """Return whether a chunk contains text of a place."""
    first_page, _, rest = row.text.partition(PAGE_BREAK)
    return place.overlaps(row.version_id, row.page_index, row.start, row.start + len(first_page)) or (
        bool(rest) and place.overlaps(row.version_id, row.page_index_end, 0, row.end)
    )
