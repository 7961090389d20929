"""Thresholds: what each answers, and which one to take."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.evaluation.thresholds import advise_threshold, questions_needed, risk_coverage, upper_bound
from rag_core.types import RiskPoint

SCORES = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


def test_risk_and_coverage_by_falling_threshold() -> None:
    points = risk_coverage([0.9, 0.5, 0.7, 0.5, -math.inf], [False, True, True, False, True])
    assert points == (RiskPoint(0.9, 1 / 5, 0.0), RiskPoint(0.7, 2 / 5, 1 / 2), RiskPoint(0.5, 4 / 5, 2 / 4))
    assert risk_coverage([], []) == ()


def test_the_lowest_threshold_that_keeps_the_promise() -> None:
    unanswerable = [0.30, 0.41, 0.42, 0.553]
    assert advise_threshold([0.5, 0.6, 0.7], unanswerable, 0.25).threshold == 0.43  # type: ignore[union-attr]
    strict = advise_threshold([0.5, 0.6, 0.7], unanswerable, 0.0)
    assert strict is not None
    assert (strict.threshold, strict.unanswerable_answered) == (0.56, 0.0)
    assert strict.answerable_answered == pytest.approx(2 / 3)
    everything = advise_threshold([0.5], unanswerable, 1.0)
    assert everything is not None
    assert (everything.threshold, everything.unanswerable_answered) == (0.0, 1.0)


def test_a_score_at_the_threshold_is_answered_so_the_advice_lies_above_it() -> None:
    found = advise_threshold([0.9], [0.5, 0.5], 0.0)
    assert found is not None
    assert found.threshold == 0.51


@pytest.mark.parametrize("hundredths", [29, 57, 58])
def test_a_score_that_its_hundredths_do_not_give_back_is_refused_too(hundredths: int) -> None:
    found = advise_threshold([0.99], [hundredths / 100], 0.0)
    assert found is not None
    assert found.unanswerable_answered == 0


def test_a_threshold_has_more_decimals_where_hundredths_would_refuse_answers() -> None:
    for refused, answerable, threshold in (
        (0.9969, [0.9971, 0.9995], 0.997),
        (0.99693, [0.99696, 0.9995], 0.997),
        (0.99693, [0.9971, 0.8], 0.997),
        (0.99912, [0.9993], 0.9992),
        (0.5, [0.52], 0.51),
    ):
        found = advise_threshold(answerable, [refused, 0.2], 0.0)
        assert found is not None
        assert found.threshold == threshold


def test_a_threshold_that_refuses_everything_is_no_advice() -> None:
    assert advise_threshold([0.4, 0.6], [0.7, 0.3], 0.0) is None
    assert advise_threshold([0.4, 0.6], [0.7, 0.3], 0.5) is not None


def test_there_is_no_advice_without_both_sorts_or_where_none_helps() -> None:
    assert advise_threshold([], [0.5]) is None
    assert advise_threshold([0.5], []) is None
    assert advise_threshold([0.5], [1.0], 0.0) is None
    refused = advise_threshold([0.5], [-math.inf, -0.4], 0.0)
    assert refused is not None
    assert refused.threshold == 0.0


@given(SCORES, SCORES, st.floats(0, 1))
def test_the_advice_keeps_its_promise_and_a_hundredth_less_would_not(
    answerable: list[float], unanswerable: list[float], most: float
) -> None:
    found = advise_threshold(answerable, unanswerable, most)
    if found is None:
        keeping = [
            step / 10_000
            for step in range(10_001)
            if sum(score >= step / 10_000 for score in unanswerable) <= most * len(unanswerable)
        ]
        assert not keeping or not any(score >= keeping[0] for score in answerable)
        return
    assert 0 <= found.threshold <= 1
    assert found.answerable_answered > 0
    assert found.unanswerable_answered <= most + 1e-9
    if found.threshold > 0.01:
        lower = sum(score >= found.threshold - 0.01 for score in unanswerable) / len(unanswerable)
        assert lower > most - 1e-6


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    # One minus the n-th root of a twentieth where none was answered; 5 of 100 from tables of the beta distribution.
    for asked in (1, 12, 59, 5000):
        assert upper_bound(0, asked) == pytest.approx(1 - 0.05 ** (1 / asked))
    assert upper_bound(5, 100) == pytest.approx(0.1023, abs=1e-4)
    assert upper_bound(4, 4) == 1


@given(st.integers(1, 60).flatmap(lambda asked: st.tuples(st.integers(0, asked), st.just(asked))))
def test_the_bound_lies_above_the_share_and_more_questions_draw_it_down(counts: tuple[int, int]) -> None:
    answered, asked = counts
    bound = upper_bound(answered, asked)
    assert answered / asked < bound or answered == asked
    assert upper_bound(answered * 3, asked * 3) <= bound


@given(st.floats(0.001, 0.9))
def test_as_many_questions_as_needed_and_not_one_fewer(most: float) -> None:
    needed = questions_needed(most)
    assert needed is not None
    assert upper_bound(0, needed) <= most + 1e-9
    assert needed == 1 or upper_bound(0, needed - 1) > most - 1e-9


def test_no_number_of_questions_shows_that_none_is_ever_answered() -> None:
    assert questions_needed(0) is None
    assert questions_needed(1) == 1
    advice = advise_threshold([0.9], [0.2] * 12, 0)
    assert advice is not None
    assert advice.reach == (
        "Measured on 12 questions without an answer: of similar questions, up to 22.1 % may be answered "
        "(95 % confidence)."
    )


def test_too_few_questions_are_told_with_how_many_it_takes() -> None:
    few = advise_threshold([0.9], [0.2] * 12)
    assert few is not None
    assert few.reach.endswith(" At least 59 are needed to confirm 5 %.")
    enough = advise_threshold([0.9], [0.2] * 59)
    assert enough is not None
    assert enough.reach.endswith("up to 5.0 % may be answered (95 % confidence).")
