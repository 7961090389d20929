"""Whether a change may be released."""

from __future__ import annotations

import pytest

from rag_core.evaluation.release import check_release
from rag_core.types.evaluation import Comparison, Interval


def comparison(metric: str, low: float, high: float) -> Comparison:
    return Comparison(metric, Interval((low + high) / 2, low, high), 0.01, 100)


RECALL_RISES = comparison("recall@5", 0.02, 0.08)


@pytest.mark.parametrize(
    ("comparisons", "verdict", "words"),
    [
        ([RECALL_RISES, comparison("cited_page", -0.08, -0.02)], "refused", "although recall rises (recall@5 +0.050)"),
        ([comparison("source_support", -0.3, -0.1)], "refused", "faithfulness falls (source_support -0.200)."),
        ([comparison("refused", -0.4, -0.2)], "refused", "faithfulness falls (refused -0.300)."),
        ([RECALL_RISES, comparison("cited_page", -0.08, 0.02)], "uncertain", "may be chance"),
        ([comparison("cited_page", -0.01, 0.03), RECALL_RISES], "passed", "No faithfulness metric falls"),
        ([comparison("exact_match", -0.3, -0.1)], "unmeasured", "Evaluate answers too"),
        ([], "unmeasured", "No faithfulness metric was measured"),
    ],
)
def test_faithfulness_decides(comparisons: list[Comparison], verdict: str, words: str) -> None:
    check = check_release(comparisons)
    assert check.verdict == verdict
    assert words in check.reason
