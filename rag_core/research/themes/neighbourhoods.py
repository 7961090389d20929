"""Search the neighbourhood of the entities that a question names: the chunks with statements that mention them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rag_core.answering.search import Searcher
from rag_core.research.themes.entity_graphs import EntityGraphs
from rag_core.research.themes.graph import EntityGraph
from rag_core.retrieval.fusion import fuse_rankings
from rag_core.retrieval.late_interaction import rerank_chunks
from rag_core.runtime.stores import Stores
from rag_core.types.retrieval import Ranking, Timer
from rag_core.types.searches import Query, RankedChunks, SearchOutcome
from rag_core.types.themes import NOT_BUILT

# Most chunks of a neighbourhood that are compared with the question.
_MAX_CHUNKS = 300


class NeighbourhoodSearch:
    """Searches the neighbourhood of the entities of a question if a plain search does not answer the question.

    The ranking of the neighbourhood is fused with that of the plain search.

    Parameters
    ----------
    stores : Stores
    graphs : EntityGraphs
    searcher : Searcher
    """

    def __init__(self, stores: Stores, graphs: EntityGraphs, searcher: Searcher) -> None:
        self._stores = stores
        self._graphs = graphs
        self._searcher = searcher

    @property
    def has_themes(self) -> bool:
        """Whether themes were built."""
        return bool(self._graphs.build_id)

    def search(self, query: Query, timer: Timer) -> tuple[SearchOutcome, list[str]]:
        """Return the outcome of the search, and the names of the entities whose neighbourhood was searched.

        Return the outcome of a plain search, and no names, in these cases:

        - No themes were built. A notice says so.
        - The gate decides to answer from the plain search.
        - The question mentions no entity, or the neighbourhood contains no chunks that can be ranked.
        """
        plain = self._searcher.search(query, timer)
        if not self.has_themes:
            notices = (*plain.result.notices, f"{NOT_BUILT} A plain search was used instead.")
            return replace(plain, result=replace(plain.result, notices=notices)), []
        if plain.result.gate.answerable:
            return plain, []
        ranked, graph = plain.ranked, self._graphs.load()
        entities = graph.find_in_question(query.text)
        with timer.measure("themes"):
            chunk_ids = self._select_chunks(graph, entities, query.documents)
            near = self._rank_chunks(ranked, chunk_ids)
        if not near.ranking.order:
            return plain, []
        ranked = fuse_rankings([ranked, near], self._searcher.select_rrf_k(query))
        with timer.measure("gate"):
            return self._searcher.apply_gate(query, ranked), [graph.name(one) for one in entities]

    def _select_chunks(self, graph: EntityGraph, entities: Sequence[int], documents: Sequence[str] | None) -> list[int]:
        """Return at most `_MAX_CHUNKS` chunks, first those with the most mentions of the entities in their statements.

        Rare entities count more.
        """
        visible = self._stores.documents.visible_versions(documents)
        scores: Counter[int] = Counter()
        for entity in entities:
            positions = graph.by_entity[entity]
            for position in positions:
                source = graph.statements[position].source
                if source.version_id in visible:
                    scores[source.chunk_id] += 1 / len(positions) ** 0.5
        return [chunk_id for chunk_id, _ in scores.most_common(_MAX_CHUNKS)]

    def _rank_chunks(self, ranked: RankedChunks, chunk_ids: Sequence[int]) -> RankedChunks:
        rows = self._stores.documents.visible_chunks(chunk_ids)
        vectors = self._stores.embeddings.read_tokens(list(rows))
        hits = rerank_chunks(ranked.mapped_question, ranked.token_weights, lambda _: vectors, list(rows))
        ranking = Ranking(tuple(hit.chunk_id for hit in hits), {"rerank": {hit.chunk_id: hit.score for hit in hits}})
        return replace(ranked, ranking=ranking, rows=rows, vectors=vectors)
