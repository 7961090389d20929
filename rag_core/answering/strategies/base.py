"""The base classes of search strategies: the plain search, and strategies that call a language model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import replace

from rag_core.answering.call_budget import CallBudget, require_model
from rag_core.answering.prompt_evidence import PromptEvidence
from rag_core.answering.search import Searcher
from rag_core.answering.streamed_text import stream_text
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit, GeneratorError, QuestionError
from rag_core.llm.generator import LanguageModel
from rag_core.runtime.language_models import LanguageModels
from rag_core.stages import STAGES
from rag_core.types.answers import AskEvent, Stage
from rag_core.types.conversations import Message
from rag_core.types.retrieval import Timer
from rag_core.types.searches import Query, SearchOutcome
from rag_core.types.strategies import StrategyDescription

# Yields progress, and returns the outcome of the search.
Steps = Generator[Stage, None, SearchOutcome]


class SearchStrategy:
    """The plain search, which is also the base class of all other strategies.

    Parameters
    ----------
    searcher : Searcher

    Attributes
    ----------
    name, label, description, in_chat, uses_model, ranks_passages
        As in `StrategyDescription`.
    reads_pages : bool
        Whether a capable model reads whole pages. If false, the strategy chooses the text in the prompt.
    reads_present_only : bool
        Whether the strategy reads only the present versions of documents, so that it cannot ask a snapshot.
    summarizes_without_model : bool
        Whether a request for a summary is answered with key sentences if there is no language model.
    """

    name = "plain"
    label = "Automatic"
    description = "One search; a capable model asks for more if something is missing"
    in_chat = True
    uses_model = False
    ranks_passages = True
    reads_pages = True
    reads_present_only = False
    summarizes_without_model = True

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    def describe(self) -> StrategyDescription:
        """Return the description of the strategy for the pages and the command line."""
        return StrategyDescription(
            *(self.name, self.label, self.description, self.in_chat, self.uses_model, self.ranks_passages)
        )

    def check(self) -> None:
        """Raise `SettingsError` if something that the strategy needs was not built; by default, do nothing."""

    def is_usable(self, model: str) -> bool:
        """Return whether the strategy can be used with a language model; an empty name means none."""
        return bool(model) or not self.uses_model

    def answer(self, query: Query, trace: AnswerTrace) -> Generator[AskEvent, None, bool]:
        """Answer without a search, if the strategy can: yield the events, and return whether there is an answer."""
        yield from ()
        return False

    def search(self, query: Query, timer: Timer) -> Steps:
        """Search for a question; see `Strategies.search`."""
        # A search is fast, so all its stages are reported at the end.
        outcome = self._searcher.search(query, timer)
        for stage in STAGES:
            if stage.running and stage.name in timer.ms:
                yield Stage(stage.name, stage.running, done=True)
        return outcome

    def write_text(
        self,
        writer: LanguageModel,
        query: Query,
        evidence: PromptEvidence,
        history: Sequence[Message],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, tuple[str, str]]:
        """Yield the text of an answer from passages while it is written; return the text, and why it is incomplete."""
        return (yield from stream_text(writer, query, evidence, history, trace))


class ModelStrategy(SearchStrategy, ABC):
    """A strategy that searches with the help of a language model; if a call fails, a plain search is used instead.

    Parameters
    ----------
    searcher : Searcher
    models : LanguageModels
    """

    in_chat = False
    uses_model = True
    summarizes_without_model = False

    def __init__(self, searcher: Searcher, models: LanguageModels) -> None:
        super().__init__(searcher)
        self._models = models

    @abstractmethod
    def run(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Search for a question; the calls to the model go through the budget."""

    def search(self, query: Query, timer: Timer) -> Steps:
        """Search with the help of the model; see `Strategies.search`."""
        trace = AnswerTrace(timer=timer)
        budget = CallBudget(require_model(query, self._models), trace)
        try:
            outcome = yield from self.run(query, budget, trace)
        except (GeneratorError, CallLimit, QuestionError) as error:
            # The model may have written a query that cannot be searched for.
            if query.strict:
                raise
            trace.notices.append(f"{error} A plain search was used instead.")
            outcome = yield from super().search(query, timer)
        timer.ms["total"] = trace.elapsed_ms
        result = replace(
            outcome.result,
            timings_ms=dict(timer.ms),
            notices=(*outcome.result.notices, *trace.notices),
            steps=tuple(trace.steps),
            usage=trace.usage,
        )
        return replace(outcome, result=result)
