"""Measure, without a language model, how often the pages that one would get contain the expected answer, by budget."""

from __future__ import annotations

import statistics
from collections.abc import Collection
from dataclasses import replace

from rag_core.answering.page_context import PageContext, PageSelector
from rag_core.evaluation.answer_metrics import contains_answer
from rag_core.evaluation.ranking_metrics import find_relevant_spans, list_ranked_pages
from rag_core.types.documents import PageKey
from rag_core.types.evaluation import ContextValue, Evaluation, Label, LabelKind
from rag_core.types.searches import SearchOutcome

# Tokens of pages, as in the setting `context_budget`.
BUDGETS = (4000, 8000, 12_000, 24_000)


def name_context_value(budget: int) -> str:
    """Return the name of the metric whether the pages for a question contain its answer."""
    return f"value_in_context@{budget}"


def name_context_tokens(budget: int) -> str:
    """Return the name of the number of tokens of these pages."""
    return f"context_tokens@{budget}"


def measure_context(
    label: Label, relevant: Collection[PageKey], outcome: SearchOutcome, selector: PageSelector
) -> dict[str, float]:
    """Return whether the pages for a question contain its answer, and their tokens, for each budget.

    The pages contain it if one of them contains an expected answer or, if the label names none, is a labelled page.
    There are no values for questions that the documents do not answer, or whose label has neither.

    Parameters
    ----------
    label : Label
    relevant : collection of PageKey
        The pages that answer the question, by document id.
    outcome : SearchOutcome
        The search for the question, whose result has the passages of a search in the chat.
    selector : PageSelector
    """
    if label.kind is not LabelKind.ANSWERABLE or not (label.answers or relevant):
        return {}
    # An evaluation ranks more passages than the chat uses. The result contains only those that the chat uses.
    outcome = replace(outcome, passages=outcome.result.passages)
    values = {}
    for budget in BUDGETS:
        context = selector.select([outcome], budget)
        values[name_context_value(budget)] = float(_contains_value(label, relevant, context))
        values[name_context_tokens(budget)] = float(context.tokens)
    return values


def summarize_context(evaluation: Evaluation) -> tuple[ContextValue, ...]:
    """Return the share of questions whose pages contain the answer, and the median of their tokens, by budget."""
    shares = {one.metric: one for one in evaluation.figures}
    return tuple(
        ContextValue(budget, share, round(statistics.median(one.values[tokens] for one in measured)))
        for budget in BUDGETS
        if (share := shares.get(name_context_value(budget)))
        and (tokens := name_context_tokens(budget))
        and (measured := [one for one in evaluation.outcomes if tokens in one.values])
    )


def _contains_value(label: Label, relevant: Collection[PageKey], context: PageContext) -> bool:
    if label.answers:
        return any(contains_answer(one.text, label.answers) for one in context.prompt_sources)
    pages = list_ranked_pages(span for one in context.sources for span in find_relevant_spans(one, relevant))
    return not set(pages).isdisjoint(relevant)
