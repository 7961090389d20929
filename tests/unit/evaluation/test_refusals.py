"""Risk and coverage of thresholds, and the recommended threshold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.evaluation.thresholds import (
    advise_threshold,
    compute_risk_points,
    compute_upper_bound,
    count_questions_needed,
)
from rag_core.types.evaluation import RiskPoint, ThresholdAdvice

SCORES = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


def advice(answerable: list[float], unanswerable: list[float], *most: float) -> ThresholdAdvice:
    advised = advise_threshold(answerable, unanswerable, *most)
    assert advised is not None
    return advised


def test_risk_and_coverage_by_falling_threshold() -> None:
    points = compute_risk_points([0.9, 0.5, 0.7, 0.5, -math.inf], [False, True, True, False, True])
    assert points == (RiskPoint(0.9, 1 / 5, 0.0), RiskPoint(0.7, 2 / 5, 1 / 2), RiskPoint(0.5, 4 / 5, 2 / 4))
    assert compute_risk_points([], []) == ()


def test_advice_is_the_lowest_threshold_within_the_limit() -> None:
    answerable, unanswerable = [0.5, 0.6, 0.7], [0.30, 0.41, 0.42, 0.553]
    assert advice(answerable, unanswerable, 0.25).threshold == 0.43
    strict = advice(answerable, unanswerable, 0.0)
    assert (strict.threshold, strict.unanswerable_answered) == (0.56, 0.0)
    assert strict.answerable_answered == pytest.approx(2 / 3)
    unlimited = advice([0.5], unanswerable, 1.0)
    assert (unlimited.threshold, unlimited.unanswerable_answered) == (0.0, 1.0)


@pytest.mark.parametrize("hundredths", [29, 57, 58])
def test_inexact_hundredths_are_refused(hundredths: int) -> None:
    assert advice([0.99], [hundredths / 100], 0.0).unanswerable_answered == 0


@pytest.mark.parametrize(
    ("unanswerable", "answerable", "threshold"),
    [
        ([0.9969, 0.2], [0.9971, 0.9995], 0.997),
        ([0.99693, 0.2], [0.99696, 0.9995], 0.997),
        ([0.99693, 0.2], [0.9971, 0.8], 0.997),
        ([0.99912, 0.2], [0.9993], 0.9992),
        ([0.5, 0.2], [0.52], 0.51),
        ([0.5, 0.5], [0.9], 0.51),
        ([-math.inf, -0.4], [0.5], 0.0),
    ],
)
def test_threshold_has_as_many_decimals_as_needed(
    unanswerable: list[float], answerable: list[float], threshold: float
) -> None:
    assert advice(answerable, unanswerable, 0.0).threshold == threshold


@pytest.mark.parametrize(
    ("answerable", "unanswerable"),
    [([], [0.5]), ([0.5], []), ([0.5], [1.0]), ([0.4, 0.6], [0.7, 0.3])],
    ids=["nothing answerable", "nothing unanswerable", "highest score", "everything refused"],
)
def test_there_is_no_advice_without_a_useful_threshold(answerable: list[float], unanswerable: list[float]) -> None:
    assert advise_threshold(answerable, unanswerable, 0.0) is None


def test_higher_limit_allows_advice() -> None:
    assert advise_threshold([0.4, 0.6], [0.7, 0.3], 0.5) is not None


@given(SCORES, SCORES, st.floats(0, 1))
def test_advice_keeps_the_limit_and_a_lower_threshold_does_not(
    answerable: list[float], unanswerable: list[float], most: float
) -> None:
    advised = advise_threshold(answerable, unanswerable, most)
    if advised is None:
        possible = [
            step / 10_000
            for step in range(10_001)
            if sum(score >= step / 10_000 for score in unanswerable) <= most * len(unanswerable)
        ]
        assert not possible or not any(score >= possible[0] for score in answerable)
        return
    assert 0 <= advised.threshold <= 1
    assert advised.answerable_answered > 0
    assert advised.unanswerable_answered <= most + 1e-9
    if advised.threshold > 0.01:
        lower = sum(score >= advised.threshold - 0.01 - 1e-9 for score in unanswerable) / len(unanswerable)
        assert lower > most - 1e-6


def test_bound_is_that_of_clopper_and_pearson() -> None:
    # Without answers the bound is one minus the n-th root of 0.05; 5 of 100 is from tables of the beta distribution.
    for questions in (1, 12, 59, 5000):
        assert compute_upper_bound(0, questions) == pytest.approx(1 - 0.05 ** (1 / questions))
    assert compute_upper_bound(5, 100) == pytest.approx(0.1023, abs=1e-4)
    assert compute_upper_bound(4, 4) == 1


@given(st.integers(1, 60).flatmap(lambda questions: st.tuples(st.integers(0, questions), st.just(questions))))
def test_bound_exceeds_the_share_and_falls_with_more_questions(counts: tuple[int, int]) -> None:
    answered, questions = counts
    bound = compute_upper_bound(answered, questions)
    assert answered / questions < bound or answered == questions
    assert compute_upper_bound(answered * 3, questions * 3) <= bound


@given(st.floats(0.001, 0.9))
def test_questions_needed_is_the_smallest_number(most: float) -> None:
    needed = count_questions_needed(most)
    assert needed is not None
    assert compute_upper_bound(0, needed) <= most + 1e-9
    assert needed == 1 or compute_upper_bound(0, needed - 1) > most - 1e-9


def test_limit_of_zero_needs_infinitely_many_questions() -> None:
    assert count_questions_needed(0) is None
    assert count_questions_needed(1) == 1
    assert advice([0.9], [0.2] * 12, 0).confidence_text == (
        "Measured on 12 questions without an answer: of similar questions, up to 22.1 % may be answered "
        "(95 % confidence)."
    )


def test_too_few_questions_are_reported_with_number_needed() -> None:
    assert advice([0.9], [0.2] * 12).confidence_text.endswith(" At least 59 are needed to confirm 5 %.")
    assert advice([0.9], [0.2] * 59).confidence_text.endswith("up to 5.0 % may be answered (95 % confidence).")
