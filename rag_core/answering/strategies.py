"""Ways to look for what one search does not find; all but the plain one ask a language model."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from rag_core.answering.call_budget import Gathered, Spending
from rag_core.answering.search import Searching
from rag_core.errors import CallLimit, GeneratorError, QuestionError, SettingsError
from rag_core.llm.context_budget import fit
from rag_core.llm.generator import OpenAIGenerator
from rag_core.llm.query_planning import hypothesis, missing, parts, sub_queries
from rag_core.retrieval.merging import fused, merged
from rag_core.retrieval.queries import Found, Query
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types import Passage, Stage, Strategy
from rag_core.types.retrieval import Timer

T = TypeVar("T")
# Queries, or parts of a question, that a strategy searches for.
MOST_QUERIES = 4
Steps = Generator[Stage, None, Found]

LABELS = {
    "embed": "Reading the question",
    "dense": "Searching by meaning",
    "lexical": "Searching by words",
    "rerank": "Comparing passages",
    "cross_encoder": "Reading the best passages",
    "gate": "Checking whether they answer",
}
# More documents than this are not listed to the model; those of a plain search stand in for them.
MOST_LISTED = 20
# Passages that the model reads between searches, however many are wanted.
MOST_READ = 5


class Strategies:
    """Searches by strategy, telling each step.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    searching : Searching
    generators : LanguageModels
    """

    def __init__(self, settings: Settings, stores: Stores, searching: Searching, generators: LanguageModels) -> None:
        self._settings = settings
        self._stores = stores
        self._searching = searching
        self._generators = generators

    def search(self, query: Query, timer: Timer) -> Steps:
        """Passages found by the query's strategy, its steps and what it took in their result.

        Where the endpoint fails, or the limit of calls is reached, the plain search takes its place, and
        a notice says so; a strict query raises the error instead.

        Raises
        ------
        SettingsError
            The strategy needs a model, and none is set.
        QuestionError
            It is a summary, which reads whole documents and ranks no passages.
        """
        strategy = query.configuration.strategy
        if strategy == "plain":
            return (yield from self._plain(query, timer))
        if strategy == "summary":
            raise QuestionError("A summary reads whole documents and finds no passages. Ask for it instead.")
        how = {
            "queries": self._queries,
            "hyde": self._hyde,
            "iterative": self._iterative,
            "compare": self._compare,
        }[strategy]
        started, gathered = time.perf_counter(), Gathered()
        spending = Spending(self._settings, model_for(strategy, self._generators), gathered)
        try:
            found = yield from how(query, timer, spending, gathered)
        except (GeneratorError, CallLimit) as error:
            if query.strict:
                raise
            gathered.notices.append(f"{error} Searched plainly instead.")
            found = yield from self._plain(query, timer)
        timer.ms["total"] = 1000 * (time.perf_counter() - started)
        result = replace(
            found.result,
            timings_ms=dict(timer.ms),
            notices=(*found.result.notices, *gathered.notices),
            steps=tuple(gathered.steps),
            usage=gathered.usage,
        )
        return replace(found, result=result)

    def _plain(self, query: Query, timer: Timer) -> Steps:
        # A search takes a fraction of a second, so its stages are told as soon as it is over.
        stages: list[str] = []
        found = self._searching.search(query, timer, stages.append)
        for name in stages:
            yield Stage(name, LABELS[name], done=True)
        return found

    def _queries(self, query: Query, timer: Timer, spending: Spending, gathered: Gathered) -> Steps:
        """The question and the model's queries for it, rankings fused (RAG-Fusion; Rackauckas 2024)."""
        made = yield from _planned(
            "Asking the model for more queries",
            timer,
            partial(sub_queries, spending.complete, query.text, MOST_QUERIES),
        )
        if not made:
            gathered.steps.append("The model made no further queries.")
        rankings = []
        for text in (query.text, *made):
            one = replace(query, text=text)
            rankings.append((yield from _searched(text, gathered, partial(self._searching.rank, one, timer))))
        return self._searching.judge(query, fused(rankings, self._rrf_k(query)))

    def _hyde(self, query: Query, timer: Timer, spending: Spending, gathered: Gathered) -> Steps:
        """Passages like one that the model made up, ranked and gated by the question alone."""
        made_up = yield from _planned(
            "Asking the model for a made-up answer", timer, partial(hypothesis, spending.complete, query.text)
        )
        gathered.steps.append(f"Made up by the model, to search with and for nothing else: “{made_up}”")
        ranked = yield from _step(
            "search_1",
            "Searching for passages like it",
            partial(self._searching.rank, query, timer, hypothesis=made_up),
        )
        return self._searching.judge(query, ranked)

    def _iterative(self, query: Query, timer: Timer, spending: Spending, gathered: Gathered) -> Steps:
        """Search, let the model read and say what is missing, search for that, and so on."""
        asked = [query.text]
        found = yield from self._one(query, query.text, timer, gathered)
        searches = [found]
        while len(searches) < self._settings.strategy_rounds:
            read = self._fitting(query.text, found.result.passages[:MOST_READ])
            try:
                wanted = yield from _planned(
                    f"Reading what search {len(searches)} found",
                    timer,
                    partial(missing, spending.complete, query.text, read, asked),
                    len(searches),
                )
            except (GeneratorError, CallLimit) as error:
                if query.strict and isinstance(error, GeneratorError):
                    raise
                gathered.notices.append(f"{error} What was found until then is used.")
                break
            if not wanted:
                gathered.steps.append("The model found nothing more to search for.")
                break
            asked.append(wanted)
            searches.append((yield from self._one(query, wanted, timer, gathered)))
            found = merged(searches[0], searches, query.top_k, self._rrf_k(query))
        return found

    def _compare(self, query: Query, timer: Timer, spending: Spending, gathered: Gathered) -> Steps:
        """A question for each of the things compared, each searched for and gated by itself."""
        whole = yield from _step(
            "search_0", "Searching for the whole question", partial(self._searching.search, query, timer)
        )
        documents = self._listed(query, whole)
        names = list(documents.values())
        made = yield from _planned(
            "Asking the model what to look up",
            timer,
            partial(parts, spending.complete, query.text, names, MOST_QUERIES),
        )
        if len(made) < 2:
            gathered.steps.append("The model saw a single question, which was searched for as it is.")
            return whole
        searches = []
        for part in made:
            scope = query if part.document is None else replace(query, documents=(list(documents)[part.document],))
            where = "" if part.document is None else f" in {names[part.document]}"
            searches.append((yield from self._one(scope, part.question, timer, gathered, where)))
            if not searches[-1].result.gate.answerable:
                gathered.notices.append(f"Nothing was found that answers “{part.question}”{where}.")
        return merged(whole, searches, query.top_k, self._rrf_k(query))

    def _one(self, query: Query, text: str, timer: Timer, gathered: Gathered, where: str = "") -> Steps:
        search = partial(self._searching.search, replace(query, text=text), timer)
        return (yield from _searched(text, gathered, search, where))

    def _listed(self, query: Query, found: Found) -> dict[str, str]:
        """Names by id of the documents that are asked, or of those found where they are too many to list."""
        scope = query.documents
        listed = {
            one.document_id: one.name
            for one in self._stores.library.documents(scope if scope is None else list(scope))
            if one.chunks
        }
        if len(listed) <= MOST_LISTED:
            return listed
        return {one.document_id: one.document for one in found.result.passages[:MOST_LISTED]}

    def _fitting(self, question: str, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        room = self._settings.openai_context_tokens
        return fit(
            passages, question, (), context_tokens=room, answer_tokens=self._settings.openai_answer_tokens
        ).passages

    def _rrf_k(self, query: Query) -> int:
        return query.configuration.rrf_k or self._settings.rrf_k


def model_for(strategy: Strategy, generators: LanguageModels) -> OpenAIGenerator:
    """The language model; raises `SettingsError` where none is set."""
    generator = generators.active()
    if generator is None:
        raise SettingsError(
            f"The strategy “{strategy}” needs a language model, and none is set. Set RAG_OPENAI_MODEL, and "
            "OPENAI_BASE_URL to the address of its endpoint, or RAG_GGUF; or use the plain search."
        )
    return generator


def finished(steps: Generator[object, None, T]) -> T:
    """What steps come to, for callers that need not be told of them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


def _step(name: str, label: str, work: Callable[[], T]) -> Generator[Stage, None, T]:
    yield Stage(name, label)
    try:
        return work()
    finally:
        # Also where it failed: what comes instead is told as stages of its own.
        yield Stage(name, label, done=True)


def _planned(label: str, timer: Timer, work: Callable[[], T], number: int = 1) -> Generator[Stage, None, T]:
    def timed() -> T:
        with timer.measure("plan"):
            return work()

    return (yield from _step(f"plan_{number}", label, timed))


def _searched(text: str, gathered: Gathered, work: Callable[[], T], where: str = "") -> Generator[Stage, None, T]:
    gathered.steps.append(f"Searched{where} for “{text}”")
    return (yield from _step(f"search_{len(gathered.steps)}", f"Searching{where} for “{text}”", work))
