"""The services of an engine, which are opened, connected and closed together."""

from __future__ import annotations

from rag_core.answering.ask import Answerer
from rag_core.answering.cards.document_cards import DocumentCards
from rag_core.answering.continuation import Continuations
from rag_core.answering.conversations import Conversations
from rag_core.answering.extractive_summary import ExtractiveSummarizer
from rag_core.answering.follow_up import FollowUps
from rag_core.answering.library_questions import LibraryAnswerer
from rag_core.answering.page_reading import PageReader
from rag_core.answering.search import Searcher
from rag_core.answering.statement_checks import StatementChecker
from rag_core.answering.strategies.agent import Agent
from rag_core.answering.strategies.base import SearchStrategy
from rag_core.answering.strategies.comparison import Comparison
from rag_core.answering.strategies.registry import Strategies
from rag_core.answering.strategies.summary import SummaryStrategy
from rag_core.answering.summary import Summarizer
from rag_core.answering.verifier import Verifier
from rag_core.evaluation.evaluations import Evaluations
from rag_core.evaluation.labels import Labels
from rag_core.evaluation.runner import EvaluationRunner
from rag_core.indexing.collections import Collections
from rag_core.indexing.documents import Documents
from rag_core.indexing.figure_descriptions import FigureDescriber
from rag_core.indexing.index_service import Index
from rag_core.indexing.jobs import Jobs
from rag_core.indexing.office_drawings import OfficeDrawings
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.recovery import record_clean_shutdown, recover
from rag_core.indexing.removal import Removal
from rag_core.indexing.snapshots import Snapshots
from rag_core.indexing.transfers import Transfers
from rag_core.indexing.watches import Watches
from rag_core.parsing.formats.accepted import ACCEPTED
from rag_core.research.baselines import build_ranker
from rag_core.research.closed_book import ClosedBook
from rag_core.research.explanations import Explanations
from rag_core.research.judge import Judge
from rag_core.research.learning.learning import Learning
from rag_core.research.marginalization.marginal_answers import MarginalAnswers
from rag_core.research.mixtures import Mixtures
from rag_core.research.prompt_strategies import LongContext, PassageByPassage
from rag_core.research.query_expansion import HypotheticalAnswer, SeveralQueries
from rag_core.research.snapshot_comparison import SnapshotComparisons
from rag_core.research.themes.entity_graphs import EntityGraphs
from rag_core.research.themes.neighbourhoods import NeighbourhoodSearch
from rag_core.research.themes.theme_answers import ThemeAnswerer
from rag_core.research.themes.theme_building import ThemeBuilder
from rag_core.research.themes.theme_strategy import ThemeStrategy
from rag_core.research.themes.theme_summaries import ThemeSummarizer
from rag_core.research.themes.themes import Themes
from rag_core.runtime.access_tokens import AccessTokens
from rag_core.runtime.activity import Activity
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.model_downloads import ModelDownloads
from rag_core.runtime.models import LocalModels
from rag_core.runtime.pool import SearchPool
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.runtime.tracing import start_tracing, stop_tracing
from rag_core.runtime.warm_up import WarmUp
from rag_core.settings import Settings
from rag_core.system import configure_malloc
from rag_core.types.marginalization import MARGINALIZATIONS


class Services:
    """Opens the stores, creates the services and connects them.

    The constructor loads no models. It continues jobs that an earlier process left unfinished.

    Parameters
    ----------
    settings : Settings

    Attributes
    ----------
    formats : AcceptedFormats
    documents : Documents
    cards : DocumentCards
    jobs : Jobs
    index : Index
    collections : Collections
    snapshots : Snapshots
    transfers : Transfers
    watches : Watches
    conversations : Conversations
    labels : Labels
    evaluations : Evaluations
    learning : Learning
    models : LanguageModels
    model_downloads : ModelDownloads
    preferences : Preferences
    tokens : AccessTokens
    activity : Activity
    strategies : Strategies
    continuations : Continuations
    explanations : Explanations
    themes : Themes
    theme_builder : ThemeBuilder
    mixtures : Mixtures
    checker : StatementChecker
    closed_book : ClosedBook
    snapshot_comparisons : SnapshotComparisons

    Raises
    ------
    DataFolderInUse, DataFolderUnwritable, StoreUnavailable, SettingsError, PackageNotInstalled
    """

    def __init__(self, settings: Settings) -> None:
        configure_malloc()
        start_tracing()
        self.settings = settings
        self.formats = ACCEPTED
        stores = self._stores = Stores(settings)
        self._local_models = LocalModels(settings)
        self._generations = IndexGenerations(settings, stores, self._local_models)
        self.models = LanguageModels(settings, stores)
        self.model_downloads = ModelDownloads(settings, self.models)
        self.preferences = Preferences(settings, stores, self.models)
        self.tokens = AccessTokens(stores.tokens)
        self.activity = Activity(stores)

        self._pool = SearchPool()
        self._searcher = Searcher(settings, stores, self._local_models, self._generations, self.preferences, self._pool)
        graphs = EntityGraphs(stores)
        pages = PageReader(stores, self._local_models)
        summarizer = Summarizer(settings, stores, self._generations, self.models)
        self.themes = Themes(stores, graphs)
        # A new strategy needs a module and an entry in this list.
        self.strategies = Strategies(
            [
                SearchStrategy(self._searcher),
                Comparison(stores, self._searcher, self.models),
                Agent(stores, self._searcher, self.models, pages),
                SummaryStrategy(self._searcher, summarizer),
                *(
                    strategy(self._searcher, self.models)
                    for strategy in (SeveralQueries, HypotheticalAnswer, PassageByPassage, LongContext)
                ),
                ThemeStrategy(
                    self._searcher,
                    NeighbourhoodSearch(stores, graphs, self._searcher),
                    ThemeAnswerer(stores, graphs, self.themes, self._generations, summarizer, self.models),
                ),
                *(MarginalAnswers(method, self._searcher, self.models) for method in MARGINALIZATIONS),
            ]
        )
        library = LibraryAnswerer(stores, self._generations)
        extracts = ExtractiveSummarizer(stores, self._generations)
        verifier = Verifier(self.preferences, self._local_models)
        answerer = Answerer(self._searcher, self.strategies, extracts, self.models, pages, stores, library, verifier)
        self.cards = DocumentCards(stores, answerer, self.models)
        self._follow_ups = FollowUps(self.models, self._searcher, answerer, stores)
        self.continuations = Continuations(
            *(self.models, self._generations, self.preferences, pages, stores, self.strategies, verifier)
        )
        self.conversations = Conversations(self.models, stores.conversations, are_kept=not stores.is_read_only)
        self.explanations = Explanations(stores, self._generations, self._searcher)
        self.mixtures = Mixtures(pages, self.models)
        self.closed_book = ClosedBook(self.models, self._follow_ups)
        self.checker = StatementChecker(settings, self._searcher, self._generations, self.models, verifier)
        self.snapshot_comparisons = SnapshotComparisons(self._follow_ups)

        self._removal = Removal(stores)
        self._figures = FigureDescriber(stores, self._generations, self._removal, self.models, self.preferences)
        pipeline = Pipeline(settings, stores, self._generations, self._removal, self._figures.request)
        self._indexer = IndexingQueue(pipeline)
        self.jobs = Jobs(stores.jobs, self._indexer)
        self._drawings = OfficeDrawings(stores)
        self.documents = Documents(
            stores, self._indexer, self.jobs, self._removal, self._drawings, self._figures.request
        )
        self.index = Index(stores, self._indexer, self._generations)
        self.collections = Collections(stores.documents)
        theme_writer = ThemeSummarizer(stores, self._generations)
        self.theme_builder = ThemeBuilder(stores, graphs, self.models, self._indexer, theme_writer)
        self.snapshots = Snapshots(stores, self._removal, self._indexer)
        self.transfers = Transfers(settings, stores, self.documents)
        self.watches = Watches(stores, self._indexer, self.documents)

        self.labels = Labels(stores)
        judge = Judge(self._generations, self.models)
        runner = EvaluationRunner(
            *(settings, stores, self._searcher, self.strategies, answerer, self.preferences, self.models, judge),
            *(pages, build_ranker),
        )
        self.evaluations = Evaluations(settings, stores, runner, self.strategies, self.preferences)
        self.learning = Learning(stores, self._generations, self._local_models, self._searcher, self.preferences)
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
            self._is_recovered = not stores.is_read_only and recover(stores, self._removal)
            if not stores.is_read_only:
                self._indexer.start()
                self.theme_builder.start()
                self._figures.start(pipeline)
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
            self.cards.stop()
            self._drawings.close()
            self.evaluations.close()
            self.learning.close()
            if not self._stores.is_read_only:
                self.theme_builder.stop()
                self._indexer.stop()
                self._figures.stop()
            self._warm_up.join()
            self.model_downloads.close()
            self.models.close()
            self._local_models.close()
            if self._is_recovered:
                record_clean_shutdown(self._stores)
        finally:
            self._searcher.close()
            self._pool.close()
            self._stores.close()
            stop_tracing()
