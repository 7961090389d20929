"""The search strategies by name."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.answering.strategies.base import SearchStrategy, Steps
from rag_core.errors import QuestionError, SettingsError
from rag_core.llm.generator import LanguageModel
from rag_core.types.retrieval import RetrievalConfig, Timer
from rag_core.types.searches import Query
from rag_core.types.strategies import StrategyDescription


class Strategies:
    """Finds the search strategies, and runs searches with them.

    Parameters
    ----------
    strategies : sequence of SearchStrategy
        In the order in which the pages list them; ``plain`` comes first.
    """

    def __init__(self, strategies: Sequence[SearchStrategy]) -> None:
        self._strategies = {one.name: one for one in strategies}

    def list_all(self) -> list[StrategyDescription]:
        """Return all strategies."""
        return [one.describe() for one in self._strategies.values()]

    def list_usable(self, model: str, as_of: str = "") -> list[StrategyDescription]:
        """Return the strategies that can be used with a model, now or as of a snapshot; an empty model means none."""
        usable = (one for one in self._strategies.values() if one.is_usable(model))
        return [one.describe() for one in usable if not (as_of and one.reads_present_only)]

    def find_label(self, name: str) -> str:
        """Return the label of a strategy; the name itself if no strategy has this name, as in old answers."""
        return self._strategies[name].label if name in self._strategies else name

    def reads_pages(self, name: str, writer: LanguageModel) -> bool:
        """Return whether a model reads whole pages with a strategy: it is capable, and the strategy allows it."""
        strategy = self._strategies.get(name)
        return writer.capability == "capable" and (strategy is None or strategy.reads_pages)

    def check(self, configuration: RetrievalConfig) -> None:
        """Raise `SettingsError` if the strategy does not exist, or lacks something that was not built."""
        self._find(configuration.strategy).check()

    def select(self, query: Query) -> SearchStrategy:
        """Return the strategy of a query.

        Raises
        ------
        SettingsError
            There is no strategy with this name.
        QuestionError
            The strategy cannot search the documents as of a snapshot.
        """
        strategy = self._find(query.configuration.strategy)
        if query.as_of is not None and strategy.reads_present_only:
            raise QuestionError(
                f"The strategy “{strategy.name}” reads the documents as they are now. Use another one to ask as of a "
                "snapshot."
            )
        return strategy

    def search(self, query: Query, timer: Timer) -> Steps:
        """Search with the strategy of a query; the result contains the steps and the usage of the model.

        If the model's endpoint fails or the limit of calls is reached, run a plain search instead and add a notice. For
        a strict query, raise the error.

        Raises
        ------
        SettingsError
            The strategy does not exist, or it needs a model and none is set.
        QuestionError
            The strategy ranks no passages, or cannot search as of a snapshot.
        """
        strategy = self.select(query)
        if not strategy.ranks_passages:
            raise QuestionError("A summary reads whole documents and finds no passages. Ask for it instead.")
        return (yield from strategy.search(query, timer))

    def _find(self, name: str) -> SearchStrategy:
        if name not in self._strategies:
            raise SettingsError(f"There is no strategy “{name}”. Use one of: {', '.join(self._strategies)}.")
        return self._strategies[name]
