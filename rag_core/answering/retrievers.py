"""Run the retrievers of a question at the same time, and rerank their hits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future

from rag_core.embedding.sentence_transformer import SparseEncoder
from rag_core.errors import IndexMismatch, SparseEncoderMissing, StoreUnavailable
from rag_core.index.sparse import SparseIndex
from rag_core.retrieval.chunk_data import ChunkLoader
from rag_core.retrieval.guarded_search import GuardedSearch
from rag_core.retrieval.pipeline import Rerank, RetrievedHits
from rag_core.types import Hit, Question, VersionFilter, build_unembedded_question
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


def start_sparse_search(
    tasks: Executor,
    loader: ChunkLoader,
    index: SparseIndex,
    load_encoder: Callable[[], SparseEncoder],
    text: str,
    k: int,
    versions: VersionFilter | None,
) -> Future[list[Hit]]:
    """Start a background task that encodes a question, searches the learned sparse index, and loads token vectors."""

    def search() -> list[Hit]:
        question = build_unembedded_question(text, load_encoder().encode_question(text))
        hits = index.retrieve(question, k, versions)
        loader.prefetch_vectors([hit.chunk_id for hit in hits])
        return hits

    return tasks.submit(search)


def collect_hits(
    words: Future[list[Hit]] | None,
    lines: Future[list[Hit]] | None,
    dense: Future[list[Hit]] | None,
    sparse: Future[list[Hit]] | None,
    dense_search: GuardedSearch,
    rerank: Rerank,
    timer: Timer,
) -> tuple[RetrievedHits, tuple[str, ...]]:
    """Wait for the retrievers, and rerank their hits; return them with the problems of the dense and sparse search.

    If the dense or the sparse search fails, the hits of the other retrievers are returned, with a problem that says
    what was not searched, and why. If no other retriever runs, the error is raised.

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
    problems: list[str] = []
    dense_hits, sparse_hits = list[Hit](), list[Hit]()
    if dense is not None:
        with timer.measure("dense"):
            try:
                dense_hits = dense_search.wait(dense)
            except StoreUnavailable as error:
                if words is None:
                    raise
                problems.append(f"Only words were searched, because the vectors are not available. {error}")
    if sparse is not None:
        with timer.measure("sparse"):
            try:
                sparse_hits = sparse.result()
            except (SparseEncoderMissing, IndexMismatch, StoreUnavailable) as error:
                if words is None:
                    raise
                problems.append(f"Learned sparse retrieval did not run. {error}")
    with timer.measure("rerank"):
        found = dict.fromkeys(hit.chunk_id for hit in (*dense_hits, *sparse_hits))
        rest = rerank([chunk_id for chunk_id in found if chunk_id not in known])
    return RetrievedHits(dense_hits, word_hits, line_hits, [*reranked, *rest], sparse_hits), tuple(problems)
