"""What the metrics of an evaluation measure, and what a difference means, in plain words."""

from __future__ import annotations

from pages.shared.translation import N_, _
from rag_core.types.evaluation import Comparison

DESCRIPTIONS = {
    "recall@1": N_("Right pages found first"),
    "recall@5": N_("Right pages among the first 5"),
    "recall@10": N_("Right pages among the first 10"),
    "precision@1": N_("First page is a right one"),
    "precision@5": N_("Share of right pages among the first 5"),
    "mrr@10": N_("Place of the first right page (1 first, 0.5 second)"),
    "map": N_("Places of all right pages (1 is best)"),
    "ndcg@10": N_("Order of the first 10 pages (1 is best)"),
    "answered": N_("Questions that were answered"),
    "contains_answer": N_("Answers with the expected words"),
    "exact_match": N_("Answers that are just the expected words"),
    "token_f1": N_("Words shared with the expected answer"),
    "cited_page": N_("Answers that cite a right page"),
    "coverage": N_("Right passage was read"),
    "evidence_mass": N_("Weight of the right passages"),
    "answer_probability": N_("Probability of the expected answer"),
    "correct": N_("Right answers"),
    "source_support": N_("Statements that their sources support"),
    "covered_but_wrong": N_("Wrong although the right passage was read"),
    "stale_outweighs": N_("An outdated passage weighs more"),
    "refused": N_("Questions without an answer that were refused"),
    "refused no answer": N_("Refused of those that the documents do not answer"),
    "refused off-corpus": N_("Refused of those about another subject"),
    "refused adversarial": N_("Refused of those about the same subject"),
    "auroc": N_("Scores tell answerable questions apart (0.5 is chance)"),
    "auroc no answer": N_("Apart from those that the documents do not answer"),
    "auroc off-corpus": N_("Apart from those about another subject"),
    "auroc adversarial": N_("Apart from those about the same subject"),
    "judge_faithfulness": N_("Supported statements, says the judge"),
    "verifier_faithfulness": N_("Supported statements, says Footnote's check"),
    "judge_answer_relevance": N_("Answers to the question, says the judge"),
    "judge_context_precision": N_("Useful passages, says the judge"),
    "judge_context_recall": N_("Expected statements found, says the judge"),
}
# Metrics for which a smaller value is better.
_SMALLER_IS_BETTER = ("covered_but_wrong", "stale_outweighs")


def describe_metric(name: str) -> str:
    """Return what a metric measures, in plain words; without a description, the name in a readable form."""
    return _(DESCRIPTIONS.get(name, name.replace("_", " ").capitalize()))


def judge_difference(comparison: Comparison) -> str:
    """Return ``Better``, ``Worse``, ``May be chance`` or ``The same``, marked for translation.

    ``The same`` means that the difference and both ends of its interval are 0.
    """
    difference = comparison.difference
    if not difference.value and not difference.low and not difference.high:
        return N_("The same")
    if not comparison.is_significant:
        return N_("May be chance")
    is_better = (difference.value > 0) != (comparison.metric in _SMALLER_IS_BETTER)
    return N_("Better") if is_better else N_("Worse")
