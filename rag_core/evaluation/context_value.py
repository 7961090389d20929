"""Measure how often the pages in the prompt of a capable model contain the expected answer. No model is called."""

from __future__ import annotations

import statistics
from collections.abc import Collection
from dataclasses import replace

from rag_core.answering.page_context import PageContext, PageSelector
from rag_core.evaluation.answer_metrics import contains_answer
from rag_core.evaluation.ranking_metrics import find_relevant_pages
from rag_core.types.documents import PageKey
from rag_core.types.evaluation import ContextValue, Evaluation, Label, LabelKind
from rag_core.types.searches import SearchOutcome

# Limits on the tokens of pages in the prompt, as in the setting `context_budget`. Each gives one pair of metrics.
BUDGETS = (4000, 8000, 12_000, 24_000)


def name_context_value(budget: int) -> str:
    """Return the name of the metric that is 1 if the pages in the prompt contain the answer, else 0."""
    return f"value_in_context@{budget}"


def name_context_tokens(budget: int) -> str:
    """Return the name of the metric that counts the tokens of the pages in the prompt."""
    return f"context_tokens@{budget}"


def measure_context(
    label: Label, relevant: Collection[PageKey], outcome: SearchOutcome, selector: PageSelector
) -> dict[str, float]:
    """Return the two metrics of each budget by name: whether the pages contain the answer, and their tokens.

    If the label has expected answers, a page must contain one of these answers; otherwise, a page in ``relevant`` must
    be among the pages. Return an empty dictionary if the documents do not answer the question, or if the label has
    neither answers nor pages.

    Parameters
    ----------
    label : Label
    relevant : collection of PageKey
        The pages that answer the question, as (document id, page index).
    outcome : SearchOutcome
        The search for the question. Its result has the passages that the chat would use.
    selector : PageSelector
    """
    if label.kind is not LabelKind.ANSWERABLE or not (label.answers or relevant):
        return {}
    # An evaluation ranks more passages than the chat uses.
    outcome = replace(outcome, passages=outcome.result.passages)
    values = {}
    for budget in BUDGETS:
        context = selector.select([outcome], budget)
        values[name_context_value(budget)] = float(_contains_evidence(label, relevant, context))
        values[name_context_tokens(budget)] = float(context.tokens)
    return values


def summarize_context(evaluation: Evaluation) -> tuple[ContextValue, ...]:
    """Return, by measured budget, the share of questions whose pages contain the answer, and the median tokens."""
    figures = {one.metric: one for one in evaluation.figures}
    return tuple(
        ContextValue(budget, share, round(statistics.median(one.values[tokens] for one in measured)))
        for budget in BUDGETS
        if (share := figures.get(name_context_value(budget)))
        and (tokens := name_context_tokens(budget))
        and (measured := [one for one in evaluation.outcomes if tokens in one.values])
    )


def _contains_evidence(label: Label, relevant: Collection[PageKey], context: PageContext) -> bool:
    if label.answers:
        return any(contains_answer(one.text, label.answers) for one in context.prompt_sources)
    return any(find_relevant_pages(one, relevant) for one in context.sources)
