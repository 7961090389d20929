"""Decide whether a change may be released, from the comparison of two evaluations."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.types.evaluation import Comparison, ReleaseCheck

# Metrics of faithfulness: the share of citations on a page with the answer, the share of unanswerable questions that
# are refused, and the shares of statements that the verifier and a judge find supported.
FAITHFULNESS = ("cited_page", "refused", "source_support", "judge_faithfulness")
RECALL = ("recall@1", "recall@5", "recall@10")


def check_release(comparisons: Sequence[Comparison]) -> ReleaseCheck:
    """Return whether a change may be released: it must not lower faithfulness, even if it raises recall.

    ``comparisons`` contains the difference of each metric: after the change minus before. A fall is certain if its
    95 % interval excludes 0.
    """
    measured = [one for one in comparisons if one.metric in FAITHFULNESS]
    falls = [one for one in measured if one.difference.value < 0]
    certain = [one for one in falls if one.difference.high < 0]
    rises = [one for one in comparisons if one.metric in RECALL and one.difference.value > 0]
    if not measured:
        return ReleaseCheck(
            "unmeasured", "No faithfulness metric was measured. Evaluate answers too before you release the change."
        )
    if not falls:
        return ReleaseCheck("passed", f"No faithfulness metric falls ({_list_differences(measured)}).")
    although = f", although recall rises ({_list_differences(rises)})" if rises else ""
    if certain:
        return ReleaseCheck(
            "refused",
            f"Do not release this change: faithfulness falls ({_list_differences(certain)}){although}. Passages that "
            "are found more often do not make up for answers that the documents do not support.",
        )
    return ReleaseCheck(
        "uncertain",
        f"Faithfulness falls ({_list_differences(falls)}){although}, but the interval includes 0, so this may be "
        "chance. Measure more questions before you release the change.",
    )


def _list_differences(comparisons: Sequence[Comparison]) -> str:
    return ", ".join(f"{one.metric} {one.difference.value:+.3f}" for one in comparisons)
