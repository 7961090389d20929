"""Bootstrap intervals: known cases, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.evaluation import intervals
from rag_core.evaluation.intervals import (
    compute_auroc,
    compute_auroc_interval,
    compute_mean_interval,
    compute_paired_difference,
)


def test_interval_of_a_share_is_near_the_binomial_interval() -> None:
    interval = compute_mean_interval([1.0] * 80 + [0.0] * 20)
    half = 1.96 * np.sqrt(0.8 * 0.2 / 100)
    assert interval.value == pytest.approx(0.8)
    assert (interval.low, interval.high) == pytest.approx((0.8 - half, 0.8 + half), abs=0.01)


def test_interval_is_reproducible_for_any_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.0, 1.0, 0.5, 0.25]
    whole = compute_mean_interval(values)
    assert compute_mean_interval(values) == whole
    monkeypatch.setattr(intervals, "_BLOCK", 1000)
    piecewise = compute_mean_interval(values)
    assert (piecewise.low, piecewise.high) == pytest.approx((whole.low, whole.high), abs=0.03)


def test_equal_values_have_no_width_and_no_values_are_rejected() -> None:
    interval = compute_mean_interval([0.5, 0.5, 0.5])
    assert (interval.value, interval.low, interval.high) == (0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match="values"):
        compute_mean_interval([])


def test_interval_covers_the_true_mean_as_often_as_claimed() -> None:
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(100):
        interval = compute_mean_interval(random.normal(3.0, 1.0, 40).tolist())
        covered += interval.low <= 3.0 <= interval.high
    assert covered >= 88


def test_auroc_counts_pairs_and_half_of_ties() -> None:
    assert compute_auroc([0.9, 0.8], [0.1, 0.2]) == 1
    assert compute_auroc([0.1], [0.9]) == 0
    assert compute_auroc([0.5, 0.7], [0.5, 0.6]) == pytest.approx((0.5 + 0 + 1 + 1) / 4)


def test_auroc_interval_has_the_expected_width() -> None:
    random = np.random.default_rng(1)
    positive, negative = random.normal(1, 1, 400).tolist(), random.normal(0, 1, 400).tolist()
    interval = compute_auroc_interval(positive, negative)
    assert interval.value == pytest.approx(compute_auroc(positive, negative))
    assert interval.low < interval.value < interval.high
    # Hanley and McNeil's standard error for this area and size is about 0.017.
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.017, abs=0.01)


def test_infinite_scores_rank_below_all_others() -> None:
    never = float("-inf")
    assert compute_auroc([0.2, 0.3], [never]) == 1
    assert compute_auroc([0.5, never], [0.2, never]) == compute_auroc([0.5, 0.0], [0.2, 0.0]) == 0.625
    interval = compute_auroc_interval([never, never], [never])
    assert (interval.value, interval.low, interval.high) == (0.5, 0.5, 0.5)


def test_paired_difference_is_more_precise_than_two_intervals() -> None:
    random = np.random.default_rng(3)
    first = random.normal(0, 1, 200)
    second = first + random.normal(0.1, 0.05, 200)
    difference, p_value = compute_paired_difference(first.tolist(), second.tolist())
    assert difference.value == pytest.approx((second - first).mean())
    assert 0 < difference.low < difference.high
    assert p_value < 0.001
    assert compute_mean_interval(first.tolist()).high > compute_mean_interval(second.tolist()).low


def test_no_difference_is_not_significant() -> None:
    difference, p_value = compute_paired_difference([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert (difference.value, difference.low, difference.high, p_value) == (0, 0, 0, 1)
    _, p_value = compute_paired_difference([1.0, 0.0] * 20, [0.0, 1.0] * 20)
    assert p_value == 1
    _, p_value = compute_paired_difference([0.0] * 30, [1.0] + [0.0] * 29)
    assert p_value > 0.2
