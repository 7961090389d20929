"""Compute metrics over the results of questions, and compare two sets of results."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rag_core.evaluation.context_value import BUDGETS, name_context_value
from rag_core.evaluation.intervals import compute_auroc_interval, compute_mean_interval, compute_paired_difference
from rag_core.evaluation.ranking_metrics import RECALL_LEVELS, name_interpolated_precision
from rag_core.evaluation.thresholds import compute_risk_points
from rag_core.types.evaluation import Comparison, LabelKind, Metric, QuestionResult, RiskPoint
from rag_core.types.judgements import JUDGE_METRICS

UNANSWERABLE = tuple(kind for kind in LabelKind if kind is not LabelKind.ANSWERABLE)
# Metrics in the order in which they are displayed. Each metric is the mean over the questions to which it applies.
METRICS = (
    *("recall@1", "recall@5", "recall@10", "precision@1", "precision@5", "mrr@10", "map", "ndcg@10"),
    *map(name_context_value, BUDGETS),
    *("answered", "contains_answer", "exact_match", "token_f1", "cited_page"),
    *("coverage", "evidence_mass", "answer_probability", "correct", "source_support"),
    *("covered_but_wrong", "stale_outweighs"),
    *("refused", *(f"refused {kind.value}" for kind in UNANSWERABLE)),
    *JUDGE_METRICS,
)


def compute_metrics(outcomes: Sequence[QuestionResult]) -> tuple[Metric, ...]:
    """Return the metrics that apply to at least one question, in the order of `METRICS`, then AUROC.

    ``auroc`` measures how well the gate's score separates answerable from unanswerable questions, and ``auroc KIND``
    how well the score separates answerable questions from unanswerable questions of one kind.
    """
    metrics = []
    for metric in METRICS:
        values = [one.values[metric] for one in outcomes if metric in one.values]
        if values:
            metrics.append(Metric(metric, compute_mean_interval(values), len(values)))
    answerable = _list_scores(outcomes, (LabelKind.ANSWERABLE,))
    for name, kinds in (("auroc", UNANSWERABLE), *((f"auroc {kind.value}", (kind,)) for kind in UNANSWERABLE)):
        unanswerable = _list_scores(outcomes, kinds)
        if answerable and unanswerable:
            metrics.append(
                Metric(name, compute_auroc_interval(answerable, unanswerable), len(answerable) + len(unanswerable))
            )
    return tuple(metrics)


def compute_precision_recall(outcomes: Sequence[QuestionResult]) -> tuple[float, ...]:
    """Return the mean interpolated precision at recall 0.0, 0.1, … 1.0 over the questions with labelled pages.

    Return an empty tuple if there are no such questions.
    """
    names = [name_interpolated_precision(level) for level in RECALL_LEVELS]
    labelled = [one.values for one in outcomes if names[0] in one.values]
    return tuple(sum(values[name] for values in labelled) / len(labelled) for name in names) if labelled else ()


def compute_risk_coverage(outcomes: Sequence[QuestionResult]) -> tuple[RiskPoint, ...]:
    """Return the risk and the coverage at each threshold, over the questions that were answered or refused."""
    decided = [one for one in outcomes if _has_decision(one)]
    return compute_risk_points([_find_score(one) for one in decided], [one.wrong for one in decided])


def split_gate_scores(outcomes: Sequence[QuestionResult]) -> tuple[list[float], list[float]]:
    """Return two lists: the gate's scores of answerable questions, and those of unanswerable questions.

    The score is minus infinity if the question is refused at every threshold.
    """
    return _list_scores(outcomes, (LabelKind.ANSWERABLE,)), _list_scores(outcomes, UNANSWERABLE)


def compare(
    first: Sequence[QuestionResult], second: Sequence[QuestionResult], metrics: Sequence[str] = METRICS
) -> tuple[Comparison, ...]:
    """Return the difference ``second - first`` of each metric, over the questions that both evaluations contain."""
    # Ids alone are not unique, because many files number their questions from 1.
    before = {(one.label_id, one.question): one.values for one in first}
    comparisons = []
    for metric in metrics:
        pairs = [
            (earlier[metric], one.values[metric])
            for one in second
            if (earlier := before.get((one.label_id, one.question))) and metric in earlier and metric in one.values
        ]
        if pairs:
            difference, p_value = compute_paired_difference([one for one, _ in pairs], [one for _, one in pairs])
            comparisons.append(Comparison(metric, difference, p_value, len(pairs)))
    return tuple(comparisons)


def _list_scores(outcomes: Sequence[QuestionResult], kinds: Sequence[LabelKind]) -> list[float]:
    return [_find_score(one) for one in outcomes if one.kind in kinds and _has_decision(one)]


def _has_decision(outcome: QuestionResult) -> bool:
    """Return whether the question was answered or refused; false if only rankings were measured."""
    return "answered" in outcome.values or "refused" in outcome.values


def _find_score(outcome: QuestionResult) -> float:
    return -math.inf if outcome.gate_score is None else outcome.gate_score
