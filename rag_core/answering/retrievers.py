"""Run the retrievers of a question at the same time, and rerank their hits."""

from __future__ import annotations

from concurrent.futures import Executor, Future

from rag_core.errors import StoreUnavailable
from rag_core.retrieval.chunk_data import ChunkLoader
from rag_core.retrieval.guarded_search import GuardedSearch
from rag_core.retrieval.pipeline import Rerank, RetrievedHits
from rag_core.types import Hit, Question, VersionFilter
from rag_core.types.protocols import Retriever
from rag_core.types.retrieval import Timer


def start_search(
    tasks: Executor,
    loader: ChunkLoader,
    retriever: Retriever,
    question: Question,
    k: int,
    versions: VersionFilter | None,
) -> Future[list[Hit]]:
    """Start a background task that searches and then loads the token vectors of the hits."""

    def search() -> list[Hit]:
        hits = retriever.retrieve(question, k, versions)
        loader.prefetch_vectors([hit.chunk_id for hit in hits])
        return hits

    return tasks.submit(search)


def collect_hits(
    words: Future[list[Hit]] | None,
    lines: Future[list[Hit]] | None,
    dense: Future[list[Hit]] | None,
    dense_search: GuardedSearch,
    rerank: Rerank,
    timer: Timer,
) -> tuple[RetrievedHits, str]:
    """Wait for the retrievers, and rerank their hits; return them with the problem of the dense store, if any.

    The hits of word search are reranked while dense retrieval is still running. The timer measures only how long this
    function waits for each retriever, not how long the retriever runs.
    """
    hits: dict[str, list[Hit]] = {}
    for name, search in (("lexical", words), ("financials", lines)):
        if search is not None:
            with timer.measure(name):
                hits[name] = search.result()
    word_hits, line_hits = hits.get("lexical", []), hits.get("financials", [])
    known = dict.fromkeys(hit.chunk_id for hit in (*word_hits, *line_hits))
    with timer.measure("rerank"):
        reranked = rerank(list(known))
    if dense is None:
        return RetrievedHits((), word_hits, line_hits, reranked), ""
    problem, dense_hits = "", list[Hit]()
    with timer.measure("dense"):
        try:
            dense_hits = dense_search.wait(dense)
        except StoreUnavailable as error:
            if words is None:
                raise
            problem = str(error)
    with timer.measure("rerank"):
        rest = rerank([hit.chunk_id for hit in dense_hits if hit.chunk_id not in known])
    return RetrievedHits(dense_hits, word_hits, line_hits, [*reranked, *rest]), problem
