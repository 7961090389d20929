"""The engine, through which the web pages and the command line use the application."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from rag_core import guide
from rag_core.answering.ask import Answerer
from rag_core.answering.continuation import Continuations
from rag_core.answering.conversations import Conversations
from rag_core.answering.explain import Explanations
from rag_core.answering.follow_up import FollowUps
from rag_core.answering.page_reading import PageReader
from rag_core.answering.search import Searcher
from rag_core.answering.steps import run_to_end
from rag_core.answering.strategies import Strategies
from rag_core.answering.summary import Summarizer
from rag_core.errors import RagError
from rag_core.evaluation.evaluations import Evaluations
from rag_core.evaluation.labels import Labels
from rag_core.evaluation.runner import EvaluationRunner
from rag_core.finance.lookup import FinancialLookup
from rag_core.indexing.collections import Collections
from rag_core.indexing.documents import Documents
from rag_core.indexing.index import Index
from rag_core.indexing.jobs import Jobs
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.recovery import record_clean_shutdown, recover
from rag_core.indexing.removal import Removal
from rag_core.indexing.watches import Watches
from rag_core.runtime.health import check_health
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.model_downloads import ModelDownloads
from rag_core.runtime.models import LocalModels
from rag_core.runtime.pool import SearchPool
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.runtime.warm_up import WarmUp
from rag_core.settings import Settings
from rag_core.system import configure_malloc
from rag_core.types import (
    Answer,
    AskEvent,
    Explanation,
    Message,
    Readiness,
    RetrievalConfig,
    Scope,
    SearchResult,
    Status,
    Suggestions,
)
from rag_core.types.retrieval import Timer
from rag_core.types.searches import DEFAULT_CONFIGURATION, Writer


class Engine:
    """Answers questions from documents, with citations. All methods are thread-safe.

    The constructor loads no models. `warm_up` loads them in the background; without it, each model is loaded at its
    first use. The constructor continues jobs that an earlier process left unfinished.

    Parameters
    ----------
    settings : Settings

    Attributes
    ----------
    documents : Documents
    jobs : Jobs
    index : Index
    collections : Collections
    watches : Watches
    conversations : Conversations
    labels : Labels
    evaluations : Evaluations
    models : LanguageModels
    model_downloads : ModelDownloads
    preferences : Preferences
    continuations : Continuations
    explanations : Explanations

    Raises
    ------
    DataFolderInUse, DataFolderUnwritable, StoreUnavailable, SettingsError
    """

    GUIDE_QUESTIONS: tuple[str, ...] = guide.GUIDE_QUESTIONS

    def __init__(self, settings: Settings) -> None:
        configure_malloc()
        self.settings = settings
        stores = self._stores = Stores(settings)
        self._local_models = LocalModels(settings)
        self._generations = IndexGenerations(settings, stores, self._local_models)
        self.models = LanguageModels(settings, stores)
        self.model_downloads = ModelDownloads(settings, self.models)
        self.preferences = Preferences(settings, stores, self.models)

        self._pool = SearchPool()
        self._searcher = Searcher(
            *(settings, stores, self._local_models, self._generations, self.preferences),
            FinancialLookup(enabled=settings.finance),
            self._pool,
        )
        self._strategies = Strategies(settings, stores, self._searcher, self.models)
        summarizer = Summarizer(settings, stores, self._generations, self.models)
        pages = PageReader(stores, self._local_models, computes_figures=settings.finance)
        answerer = Answerer(self._searcher, self._strategies, summarizer, self.models, pages, stores)
        self._follow_ups = FollowUps(self.models, self._searcher, answerer, stores)
        self.continuations = Continuations(self.models, self._generations, self.preferences, pages, stores)
        self.conversations = Conversations(self.models, stores.conversations)
        self.explanations = Explanations(stores, self._generations, self._searcher)

        self._removal = Removal(stores)
        self._indexer = IndexingQueue(settings, stores, self._generations, self._removal)
        self.jobs = Jobs(stores.jobs, self._indexer)
        self.documents = Documents(stores, self._indexer, self.jobs, self._removal)
        self.index = Index(stores, self._indexer, self._generations)
        self.collections = Collections(stores.documents)
        self.watches = Watches(stores, self._indexer, self.documents, settings.watch_interval_s)

        self.labels = Labels(stores)
        runner = EvaluationRunner(
            settings, stores, self._searcher, self._strategies, answerer, self.preferences, self.models
        )
        self.evaluations = Evaluations(stores, runner, self.preferences)
        self._warm_up = WarmUp(
            settings,
            stores,
            self._local_models,
            self._generations,
            self.models,
            start_parsers=self._indexer.warm_up,
            run_search=self._searcher.warm_up,
        )
        self._closed = False
        try:
            self._is_recovered = recover(stores, self._removal)
            self._indexer.start()
        except BaseException:
            stores.close()
            raise

    def close(self) -> None:
        """Stop all work and close the stores. Interrupted jobs continue at the next start."""
        if self._closed:
            return
        self._closed = True
        try:
            self.watches.stop()
            self.evaluations.close()
            self._indexer.stop()
            self._warm_up.join()
            self.model_downloads.close()
            self.models.close()
            self._local_models.close()
            if self._is_recovered:
                record_clean_shutdown(self._stores)
        finally:
            self._searcher.close()
            self._pool.shutdown()
            self._stores.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def warm_up(self) -> None:
        """Load models, open the dense index and start parser processes in the background; later calls do nothing."""
        self._warm_up.start()

    def load_search(self) -> None:
        """Load everything that searches need, and wait for it, so that the first question is as fast as later ones."""
        self._warm_up.load_search()

    def readiness(self) -> Readiness:
        """Return whether the models are loaded; if they are not, the result contains the reason."""
        return self._local_models.readiness

    def status(self) -> Status:
        """Return the state of the installation; block while the embedding model is being loaded."""
        return check_health(
            self.settings,
            self._stores,
            self._generations,
            self.preferences,
            self.models,
            self._removal.unfinished_names,
        )

    def search(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        top_k: int | None = None,
        configuration: RetrievalConfig | None = None,
    ) -> SearchResult:
        """Return passages for a question, best first, without an answer.

        Parameters
        ----------
        question : str
        documents, collections : sequence of str, optional
            Names or ids of the documents, and names of the collections, to search. By default, all documents are
            searched.
        top_k : int, optional
            Number of passages; overrides ``configuration.top_k``.
        configuration : RetrievalConfig, optional
            How to retrieve; by default as in the settings.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, EmbedderError, RerankerMissing, IndexMismatch, StoreError
        SettingsError
            The configuration's strategy needs a language model, but none is set.
        """
        query = self._searcher.build_query(
            question, Scope.of(documents, collections), top_k, configuration or DEFAULT_CONFIGURATION
        )
        return run_to_end(self._strategies.search(query, Timer())).result

    def ask(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        top_k: int | None = None,
        history: Sequence[Message] = (),
        configuration: RetrievalConfig | None = None,
        search_for: str | None = None,
        suggest: bool = False,
        model: str | None = None,
        instructions: str = "",
    ) -> Generator[AskEvent, None, None]:
        """Answer a question, and yield the steps, the text and finally the `Answer` as events.

        A `Stage` names the current step. A `Rewritten` contains the question that replaces a follow-up question. A
        `SearchResult` contains the passages for the answer. A `Delta` adds text to the answer, and a `Restart`
        discards all text so far. If ``suggest`` is true, `Suggestions` follow the answer. Closing the iterator stops
        the work.

        Parameters
        ----------
        question : str
        documents, collections, top_k
            As in `search`.
        history : sequence of Message
            Earlier messages, oldest first. A question that refers to them is rewritten before the search;
            ``rewritten`` of the answer contains the new question.
        configuration : RetrievalConfig, optional
            How to retrieve; by default as in the settings. The steps of its search strategy are yielded as events
            and listed in the answer.
        search_for : str, optional
            Search for this text instead of the question; the question is then not rewritten.
        suggest : bool
            Whether to yield `Suggestions` after the answer, which takes a few more searches.
        model : str, optional
            Name of the language model, as in `LanguageModels.find_name`; an empty name means quotes only.
        instructions : str
            Instructions about the language, length and tone of the answer, after those of the preferences. They have no
            effect on quotes, and change neither citing nor checking nor refusing.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, EmbedderError, RerankerMissing, IndexMismatch, StoreError
        SettingsError
            The configuration's strategy needs a language model, but none is set, or the instructions are too long.
        """
        scope = Scope.of(documents, collections)
        how, writer = configuration or DEFAULT_CONFIGURATION, Writer(model, instructions)
        events = self._follow_ups.ask(question, scope, top_k, history, how, search_for, writer)
        return self._follow_ups.with_suggestions(events, scope) if suggest else events

    def answer(self, question: str, **options: Any) -> Answer:
        """Return the answer to a question.

        ``options`` are the keyword arguments of `ask`. If ``suggest`` is true, the answer contains the suggested
        questions.
        """
        answer = None
        for event in self.ask(question, **options):
            if isinstance(event, Answer):
                answer = event
            elif isinstance(event, Suggestions) and answer is not None:
                answer = answer.with_suggestions(event)
        if answer is not None:
            return answer
        raise RagError("The question ended without an answer. Ask it again.")

    def explain(self, question: str, **options: Any) -> Explanation:
        """Return the ranking of each stage of a search; ``options`` are those of `Explanations.explain`."""
        return self.explanations.explain(question, **options)
