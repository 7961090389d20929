"""From a question to passages, and the gate's verdict on them."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from rag_core.errors import QuestionError, StoreUnavailable
from rag_core.gate.calibration import GATED, calibration, decide
from rag_core.gate.features import judged
from rag_core.retrieval.near_duplicates import fold
from rag_core.retrieval.passages import passage_of
from rag_core.retrieval.queries import AS_SET, Found, Query, Ranked
from rag_core.retrieval.ranking import Ranker
from rag_core.runtime.index_generations import Generation, Generations
from rag_core.runtime.models import Models
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.system import leave_loaded_alone
from rag_core.types import Configuration, Gate, Passage, Scope, SearchResult
from rag_core.types.retrieval import Timer

# How often a question is asked of an index that changes under it.
TRIES = 3
# No stage is without work for it: statements are looked up as well.
WARM_QUESTION = "What were the total assets and the revenue in 2000?"


class Searching:
    """Finds passages in what is indexed.

    Parameters
    ----------
    preferences : Preferences
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        models: Models,
        generations: Generations,
        preferences: Preferences,
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self._ranker = Ranker(settings, stores, models)
        self._generations = generations
        self._preferences = preferences
        self._searched = False

    def warm_up(self) -> None:
        """Search once for nobody.

        Each of the threads opens a connection to the databases when it first needs one, which takes as long as half a
        search. What the reranker reads is taken into memory after it.
        """
        self.search(Query(WARM_QUESTION, None, self._preferences.top_k, AS_SET), Timer())
        self._stores.vectors.warm_up()

    def query(
        self,
        text: str,
        scope: Scope,
        top_k: int | None = None,
        configuration: Configuration = AS_SET,
    ) -> Query:
        """A question as it is searched for; raises `QuestionError`, `UnknownDocument` and `CollectionError`."""
        library, held = self._stores.library, None
        if scope:
            named = [*library.resolve(scope.documents), *library.in_collections(scope.collections)]
            held = tuple(dict.fromkeys(named))
        return Query(self.checked(text), held, top_k or configuration.top_k or self._preferences.top_k, configuration)

    def search(self, query: Query, timer: Timer, on_stage: Callable[[str], None] = lambda name: None) -> Found:
        """Retrieve, rerank and gate; see `Engine.search`."""
        started = time.perf_counter()
        ranked = self.rank(query, timer, on_stage)
        on_stage("gate")
        with timer.measure("gate"):
            found = self.judge(query, ranked)
        timer.ms["total"] = 1000 * (time.perf_counter() - started)
        if not self._searched:
            # What the first search loaded stays, Chroma above all: looking it through for what could be freed takes
            # 35 ms, and comes upon one search in fifty.
            leave_loaded_alone()
            self._searched = True
        return replace(found, result=replace(found.result, timings_ms=dict(timer.ms)))

    def judge(self, query: Query, ranked: Ranked) -> Found:
        """The first passages of a ranking, and whether they answer."""
        rows, order = ranked.rows, ranked.ranking.order
        folded = fold([rows[chunk_id] for chunk_id in order if chunk_id in rows], max(query.top_k, query.depth, GATED))
        unjudged = [
            passage_of(rank, rows[chunk_id], ranked.ranking.scores, [rows[one] for one in repeats])
            for rank, (chunk_id, repeats) in enumerate(folded.items(), 1)
        ]
        ranges = cache(self._stores.library.chunk_range)

        def holds(version: str, word: str, beginning: str) -> bool:
            return self._stores.words.holds(version, word, beginning, ranges(version))

        passages = tuple(unjudged)
        if query.gated:
            passages = judged(ranked, unjudged, holds, self._models.answerability())
        given = query.configuration.threshold
        gate = decide(passages[:GATED], self._preferences.threshold if given is None else given, self._preferences.gate)
        notices = self._notices(query.documents, ranked.generation)
        return Found(SearchResult(query.text, passages[: query.top_k], gate, {}, notices), ranked, passages)

    def quotes_gate(self, passages: Sequence[Passage], threshold: float | None = None) -> Gate:
        """Whether passages may be quoted: the gate of answers without a language model."""
        preferences = self._preferences
        return decide(
            passages[:GATED], preferences.quotes_threshold if threshold is None else threshold, preferences.quotes_gate
        )

    def rank(
        self,
        query: Query,
        timer: Timer,
        on_stage: Callable[[str], None] = lambda name: None,
        hypothesis: str = "",
    ) -> Ranked:
        """Chunks in their order, found in an index that did not change meanwhile.

        Where documents or the whole index were replaced or removed, what was found is no longer there,
        and what is there was not searched: it is tried again, and the last try's result stands.

        ``hypothesis`` is a made-up answer: dense retrieval looks for what is close to it and to the
        question, at the mean of their vectors (HyDE; Gao et al., "Precise zero-shot dense retrieval
        without relevance labels", ACL 2023). Words and reranker keep to the question.
        """
        for _ in range(TRIES - 1):
            generation = self._generations.active()
            try:
                ranked = self._ranker.rank(query, timer, on_stage, hypothesis, generation)
            except StoreUnavailable:
                if self._is_active(generation):
                    raise
            else:
                # Of an index that is gone as a whole nothing is found, and so nothing is missing.
                if len(ranked.rows) == len(ranked.ranking.order) and (ranked.rows or self._is_active(generation)):
                    return ranked
            on_stage = _unheard
        return self._ranker.rank(query, timer, on_stage, hypothesis, self._generations.active())

    def _is_active(self, generation: Generation) -> bool:
        return self._generations.active().generation_id == generation.generation_id

    def checked(self, text: str) -> str:
        """The question as it is asked, white space folded; raises `QuestionError`."""
        # Half surrogate pairs come out of broken JSON and terminals; no tokenizer and no store takes them.
        question = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
        question = " ".join(question.split())
        limit = self._settings.max_question_chars
        if not question:
            raise QuestionError("The question is empty. Type what you want to know.")
        if len(question) > limit:
            raise QuestionError(
                f"The question has {len(question)} characters; the limit is {limit}. Shorten it, or raise "
                "RAG_MAX_QUESTION_CHARS."
            )
        return question

    def _notices(self, scope: Sequence[str] | None, generation: Generation) -> tuple[str, ...]:
        notices = []
        states = ("still being indexed and found by words only so far", "still being read and not found yet")
        for number, state in zip(self._stores.library.unfinished(scope), states, strict=True):
            if number:
                notices.append(f"{'1 document is' if number == 1 else f'{number} documents are'} {state}.")
        identity = generation.embedder.identity
        if self._settings.gate == "answerable" and not calibration().fits(identity.weights, identity.projection):
            notices.append(
                f"Whether to answer was not calibrated for the embedding model {identity.name}, so it may be decided "
                "wrongly. Set RAG_GATE to rerank, and RAG_THRESHOLD (with a language model RAG_MODEL_THRESHOLD) to "
                "what suits your documents."
            )
        return tuple(notices)


def _unheard(_name: str) -> None:
    """For stages that were told before."""
