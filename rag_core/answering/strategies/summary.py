"""The strategy ``summary``: read whole documents instead of ranking passages."""

from __future__ import annotations

from collections.abc import Generator

from rag_core.answering.answer_builder import build_answer
from rag_core.answering.search import Searcher
from rag_core.answering.strategies.base import SearchStrategy
from rag_core.answering.summary import Summarizer
from rag_core.answering.trace import AnswerTrace
from rag_core.types.answers import AskEvent
from rag_core.types.searches import Query


class SummaryStrategy(SearchStrategy):
    """Lets a language model summarize documents; if that fails, the question is answered from a plain search.

    Parameters
    ----------
    searcher : Searcher
    summarizer : Summarizer
    """

    name = "summary"
    label = "Summarise"
    description = "The model reads all of the chosen documents"
    uses_model = True
    ranks_passages = False

    def __init__(self, searcher: Searcher, summarizer: Summarizer) -> None:
        super().__init__(searcher)
        self._summarizer = summarizer

    def answer(self, query: Query, trace: AnswerTrace) -> Generator[AskEvent, None, bool]:
        """Yield the events of a summary, and return whether it was written; see `Summarizer.summary`."""
        summary = yield from self._summarizer.summarize(query, trace)
        if summary is None:
            return False
        yield build_answer(query, summary.result, summary.verified, summary.generator, trace)
        return True
