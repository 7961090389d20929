"""Search strategies; all except the plain search and the neighbourhoods of entities use a language model."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial

from rag_core.answering.agent import Agent
from rag_core.answering.call_budget import CallBudget, require_model
from rag_core.answering.merging import merge_outcomes
from rag_core.answering.neighbourhoods import NeighbourhoodSearch
from rag_core.answering.page_reading import PageReader
from rag_core.answering.prompt_strategies import PromptStrategies
from rag_core.answering.search import Searcher
from rag_core.answering.steps import run_plan, run_search, run_step
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit, GeneratorError, QuestionError, SettingsError
from rag_core.llm.query_planning import decompose_question, expand_queries, write_hypothesis
from rag_core.retrieval.fusion import fuse_rankings
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types import MARGINALIZATIONS, RetrievalConfig, Stage
from rag_core.types.retrieval import Timer
from rag_core.types.searches import Query, SearchOutcome
from rag_core.types.themes import NOT_BUILT

# Maximum number of queries, or of parts of a question, that a strategy takes from the reply of the model.
MOST_QUERIES = 4
Steps = Generator[Stage, None, SearchOutcome]

# Labels of the stages of a search, in the order in which the stages end.
LABELS = {
    "embed": "Reading the question",
    "lexical": "Searching by words",
    "dense": "Searching by meaning",
    "sparse": "Searching by learned terms",
    "rerank": "Comparing passages",
    "cross_encoder": "Reading the best passages",
    "gate": "Checking whether they answer",
}
# Maximum number of documents that a prompt lists. If the search covers more documents, the prompt lists only those in
# the result of a plain search.
MOST_LISTED = 20


class Strategies:
    """Runs searches with the strategy of the query, and reports each step.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    searcher : Searcher
    models : LanguageModels
    neighbourhoods : NeighbourhoodSearch
    reader : PageReader

    Attributes
    ----------
    prompts : PromptStrategies
        The strategies ``fid`` and ``long-context``.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        searcher: Searcher,
        models: LanguageModels,
        neighbourhoods: NeighbourhoodSearch,
        reader: PageReader,
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._searcher = searcher
        self._models = models
        self.prompts = PromptStrategies(settings, searcher, models)
        self._neighbourhoods = neighbourhoods
        self._agent = Agent(settings, stores, searcher, models, reader)

    def check(self, configuration: RetrievalConfig) -> None:
        """Raise `SettingsError` if a plain search would replace the strategy, because no themes were built."""
        if configuration.strategy == "themes" and not self._neighbourhoods.has_themes:
            raise SettingsError(NOT_BUILT)

    def search(self, query: Query, timer: Timer) -> Steps:
        """Search with the query's strategy; the result contains the steps of the strategy and the usage of the model.

        If the endpoint fails or the limit of calls is reached, run a plain search instead and add a notice. For a
        strict query, raise the error.

        Raises
        ------
        SettingsError
            The strategy needs a model, and none is set.
        QuestionError
            The strategy is ``summary``, which reads whole documents and ranks no passages.
        """
        strategy = query.configuration.strategy
        if strategy in MARGINALIZATIONS:
            # They generate answers in another way, but search as the plain strategy does.
            require_model(query, self._models).causal_model()
        if strategy == "plain" or strategy in MARGINALIZATIONS:
            return (yield from self._plain(query, timer))
        if strategy == "summary":
            raise QuestionError("A summary reads whole documents and finds no passages. Ask for it instead.")
        if strategy == "themes":
            return (yield from self._search_neighbourhood(query, timer))
        run = {
            "queries": self._queries,
            "hyde": self._hyde,
            "iterative": self._agent.search,
            "compare": self._compare,
            "fid": self.prompts.search_for_extracts,
            "long-context": self.prompts.search_for_all,
        }[strategy]
        trace = AnswerTrace(timer=timer)
        budget = CallBudget(self._settings, require_model(query, self._models), trace)
        try:
            outcome = yield from run(query, budget, trace)
        except (GeneratorError, CallLimit) as error:
            if query.strict:
                raise
            trace.notices.append(f"{error} A plain search was used instead.")
            outcome = yield from self._plain(query, timer)
        timer.ms["total"] = trace.elapsed_ms
        result = replace(
            outcome.result,
            timings_ms=dict(timer.ms),
            notices=(*outcome.result.notices, *trace.notices),
            steps=tuple(trace.steps),
            usage=trace.usage,
        )
        return replace(outcome, result=result)

    def _plain(self, query: Query, timer: Timer) -> Steps:
        # A search is fast, so all its stages are reported at the end.
        outcome = self._searcher.search(query, timer)
        for name, label in LABELS.items():
            if name in timer.ms:
                yield Stage(name, label, done=True)
        return outcome

    def _search_neighbourhood(self, query: Query, timer: Timer) -> Steps:
        search = partial(self._neighbourhoods.search, query, timer, self._rrf_k(query))
        outcome, names = yield from run_step("themes", "Searching around the entities of the question", search)
        step = f"Searched around {', '.join(names)}" if names else "Used the plain search"
        return replace(outcome, result=replace(outcome.result, timings_ms=dict(timer.ms), steps=(step,)))

    def _queries(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Search for the question and for the model's queries; fuse the rankings (RAG-Fusion; Rackauckas 2024)."""
        queries = yield from run_plan(
            "Asking the model for more queries",
            trace.timer,
            partial(expand_queries, budget.complete, query.text, MOST_QUERIES),
        )
        if not queries:
            trace.steps.append("The model returned no further queries.")
        rankings = []
        for text in (query.text, *queries):
            text_query = replace(query, text=text)
            rankings.append((yield from run_search(text, trace, partial(self._searcher.rank, text_query, trace.timer))))
        return self._searcher.apply_gate(query, fuse_rankings(rankings, self._rrf_k(query)))

    def _hyde(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Search with the question and a hypothetical answer; the reranker and the gate use only the question."""
        hypothesis = yield from run_plan(
            "Asking the model for a hypothetical answer",
            trace.timer,
            partial(write_hypothesis, budget.complete, query.text),
        )
        trace.steps.append(f"Hypothetical answer of the model, used only to search: “{hypothesis}”")
        ranked = yield from run_step(
            "search_1",
            "Searching for passages like it",
            partial(self._searcher.rank, query, trace.timer, hypothesis=hypothesis),
        )
        return self._searcher.apply_gate(query, ranked)

    def _compare(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Search for each part of a comparison separately, and merge the outcomes."""
        whole = yield from run_step(
            "search_0", "Searching for the whole question", partial(self._searcher.search, query, trace.timer)
        )
        documents = self._list_documents(query, whole)
        names = list(documents.values())
        parts = yield from run_plan(
            "Asking the model what to look up",
            trace.timer,
            partial(decompose_question, budget.complete, query.text, names, MOST_QUERIES),
        )
        if len(parts) < 2:
            trace.steps.append("The model did not split the question, which was searched for as it is.")
            return whole
        searches = []
        for part in parts:
            scope = query if part.document is None else replace(query, documents=(list(documents)[part.document],))
            where = "" if part.document is None else f" in {names[part.document]}"
            searches.append((yield from self._search_for(scope, part.question, trace, where)))
            if not searches[-1].result.gate.answerable:
                trace.notices.append(f"Nothing was found that answers “{part.question}”{where}.")
        return merge_outcomes(whole, searches, query.top_k, self._rrf_k(query))

    def _search_for(self, query: Query, text: str, trace: AnswerTrace, where: str = "") -> Steps:
        search = partial(self._searcher.search, replace(query, text=text), trace.timer)
        return (yield from run_search(text, trace, search, where))

    def _list_documents(self, query: Query, outcome: SearchOutcome) -> dict[str, str]:
        """Return a mapping of id to name for the documents that the prompt lists; see `MOST_LISTED`."""
        scope = query.documents
        names = {
            one.document_id: one.name
            for one in self._stores.view(query.as_of).documents(scope if scope is None else list(scope))
            if one.chunks
        }
        if len(names) <= MOST_LISTED:
            return names
        return {one.document_id: one.document for one in outcome.result.passages[:MOST_LISTED]}

    def _rrf_k(self, query: Query) -> int:
        return query.configuration.rrf_k or self._settings.rrf_k
