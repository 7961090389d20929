"""What a retrieval method costs: the size of the index that it reads, and the time of a search."""

from __future__ import annotations

from rag_core.index import RETRIEVERS
from rag_core.runtime.stores import Stores
from rag_core.types.retrieval import RetrievalConfig, SearchResult

# The score of each retriever, and that of their fusion. A method that orders passages by another score uses the fusion
# and late interaction.
_WITHOUT_LATE_INTERACTION = ("rrf", *(one.score.name for one in RETRIEVERS))


def measure_index(stores: Stores, configuration: RetrievalConfig, rank_by: str) -> int:
    """Return the size in bytes of all indexes that a method reads; 0 if there is no index.

    Token vectors count with their stored size. The sizes of models are left out.
    """
    generations = stores.documents.generations("active")
    if not generations:
        return 0
    generation_id, fingerprint = generations[-1]
    sizes = {
        one.score.name: one.measure_bytes(generation_id, fingerprint)
        for one in stores.list_retrievers(fingerprint, with_optional=configuration.sparse)
    }
    if rank_by in sizes:
        return sizes[rank_by]
    return sum(sizes.values()) + (
        0 if rank_by in _WITHOUT_LATE_INTERACTION else stores.embeddings.measure_token_bytes()
    )


def measure_search_ms(result: SearchResult, elapsed_ms: float, rank_by: str) -> float:
    """Return the milliseconds that a method needs to rank the passages of a question.

    The time of the gate is left out. Late interaction runs for every method, because the gate and the extractive reader
    need its score; its time counts only for methods that order passages by it.
    """
    unneeded = ["gate", *(["rerank"] if rank_by in _WITHOUT_LATE_INTERACTION else [])]
    return elapsed_ms - sum(result.timings_ms.get(name, 0.0) for name in unneeded)
