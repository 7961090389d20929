"""Folds over documents, and the decision whether an adapter is used."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rag_core.research.learning.cross_validation import explain_rejection, fit_adapter, split_documents
from rag_core.research.learning.examples import Example
from rag_core.research.learning.objective import MappedExample
from rag_core.types.evaluation import Interval
from rag_core.types.learning import HeldOutFigure
from tests.support.embedders import HashingEmbedder


def held_out(mrr: tuple[float, float, float], recall: float) -> list[HeldOutFigure]:
    point = Interval(0.5, 0.4, 0.6)
    differences = {"mrr@10": Interval(*mrr), "recall@1": Interval(recall, recall, recall)}
    return [
        HeldOutFigure("pipeline", metric, point, point, difference, 0.1, 20)
        for metric, difference in differences.items()
    ]


def test_documents_are_split_with_about_equal_numbers_of_questions() -> None:
    documents = ["a"] * 6 + ["b"] * 3 + ["c"] * 2 + ["d"]
    assert split_documents(documents, 2) == [{"a"}, {"b", "c", "d"}]
    assert split_documents(["a", "b"], 5) == [{"a"}, {"b"}]


@pytest.mark.parametrize(
    ("mrr", "recall", "is_used"),
    [((0.1, 0.02, 0.2), 0.05, True), ((0.1, -0.02, 0.2), 0.1, False), ((0.1, 0.02, 0.2), -0.01, False)],
)
def test_adapter_is_used_only_if_figures_rise(mrr: tuple[float, float, float], recall: float, is_used: bool) -> None:
    reason = explain_rejection(held_out(mrr, recall))
    assert (not reason) is is_used
    if reason:
        assert "20 held-out questions" in reason
        assert "mrr@10 0.500 before" in reason
        assert f"difference {mrr[0]:+.3f}, 95 % interval {mrr[1]:+.3f} to {mrr[2]:+.3f}" in reason


def example(document: str, *candidates: str) -> Example:
    count = len(candidates)
    likelihood = np.array([0.0, *[-math.inf] * (count - 1)], np.float32)
    random = np.random.default_rng(len(document))
    mapped = MappedExample(
        random.standard_normal((1, 4)).astype(np.float32),
        random.standard_normal((count, 1, 4)).astype(np.float32),
        likelihood,
    )
    return Example(document, candidates, mapped, None)


def test_held_out_documents_give_neither_questions_nor_candidates() -> None:
    one = example("a", "a", "b", "c")
    left = one.without({"b"})
    assert left is not None
    assert left.documents == ("a", "c")
    assert left.dense.targets.shape[0] == len(left.dense.log_likelihood) == 2
    again = left.without({"c"})
    assert again is not None
    assert again.documents == ("a",)
    assert one.without({"a"}) is None
    assert example("b", "a", "b").without({"a"}) is None


def test_too_few_documents_cannot_be_fitted() -> None:
    identity = HashingEmbedder().identity
    assert fit_adapter([example("a", "a", "b"), example("b", "b", "a")], frozenset({"a"}), identity) is None
    adapter = fit_adapter([example("a", "a", "b"), example("b", "b", "a")], frozenset(), identity)
    assert adapter is not None
    assert adapter.dense.shape == (4, 4)
    assert adapter.tokens.shape == (0, 0)
