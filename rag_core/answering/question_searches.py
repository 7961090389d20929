"""Run several retrievers for a question at the same time, and rerank their hits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, Future

from rag_core.errors import IndexMismatch, RagError, SparseEncoderMissing, StoreUnavailable
from rag_core.index.retriever import ChunkIndex, Retriever
from rag_core.retrieval.chunk_data import ChunkLoader
from rag_core.retrieval.guarded_search import GuardedSearch
from rag_core.retrieval.pipeline import Rerank, RetrievedHits
from rag_core.runtime.index_generations import IndexGeneration
from rag_core.types.retrieval import Hit, Question, Timer, VersionFilter, build_unembedded_question


class QuestionSearches:
    """Runs the searches for one question at the same time.

    Parameters
    ----------
    generation : IndexGeneration
    loader : ChunkLoader
        Loads the token vectors of the hits as soon as a search ends.
    tasks : Executor
        Runs the searches.
    guards : mapping of str to GuardedSearch
        Run the searches of retrievers that may hang, by the name of the retriever's score.
    """

    def __init__(
        self,
        generation: IndexGeneration,
        loader: ChunkLoader,
        tasks: Executor,
        guards: Mapping[str, GuardedSearch],
    ) -> None:
        self._generation = generation
        self._loader = loader
        self._tasks = tasks
        self._guards = guards
        self._running: dict[Retriever, Future[list[Hit]]] = {}
        self._lookup: Future[list[Hit]] | None = None

    def start(self, retriever: Retriever, question: Question, k: int, versions: VersionFilter | None) -> None:
        """Start the search of a retriever for at most ``k`` hits in ``versions``, or in all versions.

        If the retriever has an encoder, the text of the question is encoded with it.
        """

        def search() -> list[Hit]:
            asked = question
            if load_encoder := self._generation.encoders.get(retriever.score.name):
                asked = build_unembedded_question(question.text, load_encoder().encode_question(question.text))
            return self._search(retriever.open(self._generation.generation_id), asked, k, versions)

        guard = self._guards.get(retriever.score.name)
        self._running[retriever] = guard.start(search) if guard else self._tasks.submit(search)

    def start_lookup(self, index: ChunkIndex, text: str, k: int, versions: VersionFilter | None) -> None:
        """Start the word search of a look-up for lines of statements; it returns at most ``k`` hits in ``versions``."""
        self._lookup = self._tasks.submit(self._search, index, build_unembedded_question(text), k, versions)

    def _search(self, index: ChunkIndex, question: Question, k: int, versions: VersionFilter | None) -> list[Hit]:
        hits = index.retrieve(question, k, versions)
        self._loader.load_stored_vectors([hit.chunk_id for hit in hits])
        return hits

    def collect(self, names: Iterable[str], rerank: Rerank, timer: Timer) -> tuple[RetrievedHits, tuple[str, ...]]:
        """Wait for all searches, and rerank their hits; return the hits, and a message for each search that failed.

        ``names`` are the names of all scores in the order in which passages list them, even of retrievers that did not
        run. ``rerank`` returns the reranked hits of some chunk ids.

        The hits of searches by text are reranked while the other searches are still running. If all searches fail, the
        error of the last one is raised. The timer measures how long this method waits for each search, and not how long
        the search runs.
        """
        found: dict[str, list[Hit]] = {name: [] for name in names}
        failed: dict[Retriever, RagError] = {}

        def wait(retriever: Retriever) -> None:
            with timer.measure(retriever.stage.name):
                try:
                    found[retriever.score.name] = self._wait(retriever)
                except (SparseEncoderMissing, IndexMismatch, StoreUnavailable) as error:
                    failed[retriever] = error

        by_text = [one for one in self._running if one.reads == "text"]
        for retriever in by_text:
            wait(retriever)
        lines: list[Hit] = []
        problems: list[str] = []
        if self._lookup is not None:
            with timer.measure("financials"):
                try:
                    lines = self._lookup.result()
                except StoreUnavailable as error:
                    problems.append(f"Lines of statements were not searched. {error}")
        known = dict.fromkeys(_list_chunk_ids([*found.values(), lines]))
        with timer.measure("rerank"):
            reranked = rerank(list(known))
        for retriever in [one for one in self._running if one not in by_text]:
            wait(retriever)
        if failed and failed.keys() == self._running.keys():
            raise [*failed.values()][-1]
        with timer.measure("rerank"):
            rest = rerank([one for one in _list_chunk_ids(found.values()) if one not in known])
        problems += [f"{retriever.failure} {error}" for retriever, error in failed.items()]
        return RetrievedHits(found, lines, [*reranked, *rest]), tuple(problems)

    def _wait(self, retriever: Retriever) -> list[Hit]:
        guard, search = self._guards.get(retriever.score.name), self._running[retriever]
        return guard.wait(search) if guard else search.result()


def _list_chunk_ids(rankings: Iterable[list[Hit]]) -> list[int]:
    return list(dict.fromkeys(hit.chunk_id for hits in rankings for hit in hits))
