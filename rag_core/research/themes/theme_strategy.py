"""The strategy ``themes``: answer from all themes, or search around the entities that a question names."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial

from rag_core.answering.search import Searcher
from rag_core.answering.steps import run_step
from rag_core.answering.strategies.base import SearchStrategy, Steps
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import SettingsError
from rag_core.research.themes.neighbourhoods import NeighbourhoodSearch
from rag_core.research.themes.theme_answers import ThemeAnswerer
from rag_core.types.answers import AskEvent
from rag_core.types.retrieval import Timer
from rag_core.types.searches import Query
from rag_core.types.themes import NOT_BUILT


class ThemeStrategy(SearchStrategy):
    """Answers questions that name no entity from the themes. For others, searches around the entities.

    Parameters
    ----------
    searcher : Searcher
    neighbourhoods : NeighbourhoodSearch
    answerer : ThemeAnswerer
    """

    name = "themes"
    label = "Themes"
    description = "Answers from the themes of all documents"
    in_chat = False
    reads_present_only = True
    summarizes_without_model = False

    def __init__(self, searcher: Searcher, neighbourhoods: NeighbourhoodSearch, answerer: ThemeAnswerer) -> None:
        super().__init__(searcher)
        self._neighbourhoods = neighbourhoods
        self._answerer = answerer

    def check(self) -> None:
        """Raise `SettingsError` if no themes were built."""
        if not self._neighbourhoods.has_themes:
            raise SettingsError(NOT_BUILT)

    def is_usable(self, model: str) -> bool:
        """Return whether themes were built; no language model is needed."""
        return self._neighbourhoods.has_themes

    def answer(self, query: Query, trace: AnswerTrace) -> Generator[AskEvent, None, bool]:
        """Yield the events of an answer from all themes; see `ThemeAnswerer.answer`."""
        return (yield from self._answerer.answer(query, trace))

    def search(self, query: Query, timer: Timer) -> Steps:
        """Search around the entities of the question; see `NeighbourhoodSearch`."""
        search = partial(self._neighbourhoods.search, query, timer)
        outcome, names = yield from run_step("themes", "Searching around the entities of the question", search)
        step = f"Searched around {', '.join(names)}" if names else "Used the plain search"
        return replace(outcome, result=replace(outcome.result, timings_ms=dict(timer.ms), steps=(step,)))
