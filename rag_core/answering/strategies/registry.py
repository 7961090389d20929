"""The search strategies by name."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.answering.agent import Agent
from rag_core.answering.page_reading import PageReader
from rag_core.answering.search import Searcher
from rag_core.answering.strategies.base import SearchStrategy, Steps
from rag_core.answering.strategies.comparison import Comparison
from rag_core.errors import QuestionError
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types import RetrievalConfig, Strategy
from rag_core.types.retrieval import Timer
from rag_core.types.searches import Query


class Strategies:
    """Runs searches with the strategy of the query, and reports each step.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    searcher : Searcher
    models : LanguageModels
    reader : PageReader
    further : sequence of SearchStrategy
        Strategies in addition to those of this package.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        searcher: Searcher,
        models: LanguageModels,
        reader: PageReader,
        further: Sequence[SearchStrategy],
    ) -> None:
        strategies = [
            SearchStrategy(searcher),
            Comparison(settings, stores, searcher, models),
            Agent(settings, stores, searcher, models, reader),
            *further,
        ]
        self._strategies = {one.name: one for one in strategies}

    def find(self, name: Strategy) -> SearchStrategy:
        """Return the strategy with a name; for ``summary``, which ranks no passages, the plain search."""
        return self._strategies["plain" if name == "summary" else name]

    def check(self, configuration: RetrievalConfig) -> None:
        """Raise `SettingsError` if a plain search would replace the strategy; see `SearchStrategy.check`."""
        self.find(configuration.strategy).check()

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
        if strategy == "summary":
            raise QuestionError("A summary reads whole documents and finds no passages. Ask for it instead.")
        return (yield from self.find(strategy).search(query, timer))
