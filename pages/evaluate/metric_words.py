"""What the metrics of an evaluation measure, and what a difference means, in plain words."""

from __future__ import annotations

from rag_core.types.evaluation import SIGNIFICANCE_LEVEL, Comparison

_WORDS = {
    "recall@1": "Right pages found first",
    "recall@5": "Right pages among the first 5",
    "recall@10": "Right pages among the first 10",
    "precision@1": "First page is a right one",
    "precision@5": "Share of right pages among the first 5",
    "mrr@10": "Place of the first right page (1 first, 0.5 second)",
    "map": "Places of all right pages (1 is best)",
    "ndcg@10": "Order of the first 10 pages (1 is best)",
    "answered": "Questions that were answered",
    "contains_answer": "Answers with the expected words",
    "exact_match": "Answers that are just the expected words",
    "token_f1": "Words shared with the expected answer",
    "cited_page": "Answers that cite a right page",
    "coverage": "Right passage was read",
    "evidence_mass": "Weight of the right passages",
    "answer_probability": "Probability of the expected answer",
    "correct": "Right answers",
    "source_support": "Statements that their sources support",
    "covered_but_wrong": "Wrong although the right passage was read",
    "stale_outweighs": "An outdated passage weighs more",
    "refused": "Questions without an answer that were refused",
    "refused no answer": "Refused of those that the documents do not answer",
    "refused off-corpus": "Refused of those about another subject",
    "refused adversarial": "Refused of those about the same subject",
    "auroc": "Scores tell answerable questions apart (0.5 is chance)",
    "auroc no answer": "Apart from those that the documents do not answer",
    "auroc off-corpus": "Apart from those about another subject",
    "auroc adversarial": "Apart from those about the same subject",
    "judge_faithfulness": "Supported statements, says the judge",
    "verifier_faithfulness": "Supported statements, says Footnote's check",
    "judge_answer_relevance": "Answers to the question, says the judge",
    "judge_context_precision": "Useful passages, says the judge",
    "judge_context_recall": "Expected statements found, says the judge",
}
# With fewer questions, even a change of all of them in one direction may be chance: an exact sign test of 5 questions
# has p = 0.06. The bootstrap, which draws from these few, would not notice.
_FEWEST = 6
# Metrics of which a smaller value is better.
_SMALLER_IS_BETTER = ("covered_but_wrong", "stale_outweighs")


def describe_metric(name: str) -> str:
    """Return what a metric measures; its name if there are no other words for it."""
    return _WORDS.get(name, name.replace("_", " ").capitalize())


def judge_difference(comparison: Comparison) -> str:
    """Say whether a metric became better or worse, or whether its difference may be chance."""
    difference = comparison.difference
    if not difference.value and not difference.low and not difference.high:
        return "The same"
    if comparison.p_value >= SIGNIFICANCE_LEVEL or comparison.n < _FEWEST:
        return "May be chance"
    return "Better" if (difference.value > 0) != (comparison.metric in _SMALLER_IS_BETTER) else "Worse"
