"""The bootstrap: known cases, and the coverage that an interval claims."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.evaluation import intervals
from rag_core.evaluation.intervals import auroc, auroc_interval, mean_interval, paired_difference


def test_the_interval_of_a_share_is_near_the_binomial_one() -> None:
    found = mean_interval([1.0] * 80 + [0.0] * 20)
    half = 1.96 * np.sqrt(0.8 * 0.2 / 100)
    assert found.value == pytest.approx(0.8)
    assert (found.low, found.high) == pytest.approx((0.8 - half, 0.8 + half), abs=0.01)


def test_the_same_outcomes_give_the_same_interval_however_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.0, 1.0, 0.5, 0.25]
    whole = mean_interval(values)
    assert mean_interval(values) == whole
    monkeypatch.setattr(intervals, "_BLOCK", 1000)
    piecewise = mean_interval(values)
    assert (piecewise.low, piecewise.high) == pytest.approx((whole.low, whole.high), abs=0.03)


def test_equal_values_have_no_width_and_none_have_no_mean() -> None:
    found = mean_interval([0.5, 0.5, 0.5])
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match="values"):
        mean_interval([])


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    held = 0
    for _ in range(100):
        found = mean_interval(random.normal(3.0, 1.0, 40).tolist())
        held += found.low <= 3.0 <= found.high
    assert held >= 88


def test_auroc_counts_pairs_and_halves_ties() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2]) == 1
    assert auroc([0.1], [0.9]) == 0
    assert auroc([0.5, 0.7], [0.5, 0.6]) == pytest.approx((0.5 + 0 + 1 + 1) / 4)


def test_the_interval_of_auroc_holds_it_and_is_narrow_with_many() -> None:
    random = np.random.default_rng(1)
    positive, negative = random.normal(1, 1, 400).tolist(), random.normal(0, 1, 400).tolist()
    found = auroc_interval(positive, negative)
    assert found.value == pytest.approx(auroc(positive, negative))
    assert found.low < found.value < found.high
    # Hanley and McNeil's standard error for this area and size is about 0.017.
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.017, abs=0.01)


def test_scores_that_answer_at_no_threshold_lie_below_all_others() -> None:
    never = float("-inf")
    assert auroc([0.2, 0.3], [never]) == 1
    assert auroc([0.5, never], [0.2, never]) == auroc([0.5, 0.0], [0.2, 0.0]) == 0.625
    found = auroc_interval([never, never], [never])
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_a_paired_difference_is_surer_than_two_intervals() -> None:
    random = np.random.default_rng(3)
    first = random.normal(0, 1, 200)
    second = first + random.normal(0.1, 0.05, 200)
    difference, p_value = paired_difference(first.tolist(), second.tolist())
    assert difference.value == pytest.approx((second - first).mean())
    assert 0 < difference.low < difference.high
    assert p_value < 0.001
    assert mean_interval(first.tolist()).high > mean_interval(second.tolist()).low


def test_no_difference_is_not_significant() -> None:
    difference, p_value = paired_difference([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert (difference.value, difference.low, difference.high, p_value) == (0, 0, 0, 1)
    _, p_value = paired_difference([1.0, 0.0] * 20, [0.0, 1.0] * 20)
    assert p_value == 1
    _, p_value = paired_difference([0.0] * 30, [1.0] + [0.0] * 29)
    assert p_value > 0.2
