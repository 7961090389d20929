"""Search with texts that a language model writes: further queries, or a hypothetical answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rag_core.answering.call_budget import CallBudget
from rag_core.answering.steps import run_plan, run_search, run_step
from rag_core.answering.strategies.base import ModelStrategy, Steps
from rag_core.answering.trace import AnswerTrace
from rag_core.llm.query_planning import expand_queries, write_hypothesis
from rag_core.retrieval.fusion import fuse_rankings
from rag_core.types.searches import Query

# Most queries that are taken from the reply of the model.
MAX_QUERIES = 4


class SeveralQueries(ModelStrategy):
    """Searches for the question and for the model's queries, and fuses the rankings (RAG-Fusion; Rackauckas 2024)."""

    name = "queries"
    label = "Several queries"
    description = "The model rephrases the question; results are merged"

    def run(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Let the model write queries, and search for the question and these queries, one after another."""
        queries = yield from run_plan(
            "Asking the model for more queries",
            trace.timer,
            partial(expand_queries, budget.complete, query.text, MAX_QUERIES),
        )
        if not queries:
            trace.steps.append("The model returned no further queries.")
        rankings = []
        for text in (query.text, *queries):
            text_query = replace(query, text=text)
            rankings.append((yield from run_search(text, trace, partial(self._searcher.rank, text_query, trace.timer))))
        return self._searcher.apply_gate(query, fuse_rankings(rankings, self._searcher.select_rrf_k(query)))


class HypotheticalAnswer(ModelStrategy):
    """Searches with the question and a hypothetical answer. The reranker and the gate use only the question."""

    name = "hyde"
    label = "Hypothetical answer"
    description = "The model drafts an answer; similar passages are searched for"

    def run(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Let the model write a hypothetical answer, and search for passages that are similar to this answer."""
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
