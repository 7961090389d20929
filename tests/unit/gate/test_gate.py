"""Thresholds and the calibrated probability of an answer."""

from __future__ import annotations

import math

import pytest

from rag_core.gate.calibration import MAX_ODDS, apply_threshold, compute_log_odds, load_calibration
from rag_core.types.retrieval import Gate, Passage


def passage(**scores: float | None) -> Passage:
    return Passage(1, "1", "d", "v", "a.pdf", 0, "1", 0, 0, 4, "text", "", scores)


@pytest.mark.parametrize(
    ("scores", "threshold", "best", "answerable"),
    [
        ([{"rerank": 0.59}], 0.6, 0.59, False),
        ([{"rerank": 0.6}], 0.6, 0.6, True),
        ([{"rerank": 0.2}, {"rerank": 0.8}, {"rerank": None}], 0.5, 0.8, True),
        ([{"rerank": -0.2}], 0.0, -0.2, False),
        ([{"rerank": 0.0}], 0.0, 0.0, True),
        ([{"dense": 0.9, "rrf": 0.9}], 0.1, 0.0, False),
        ([{"rerank": None}], 0.0, 0.0, False),
        ([], 0.0, 0.0, False),
    ],
)
def test_best_score_is_compared_with_the_threshold(
    scores: list[dict[str, float | None]], threshold: float, best: float, answerable: bool
) -> None:
    passages = [passage(**one) for one in scores]
    assert apply_threshold(passages, threshold, "rerank") == Gate("rerank", best, threshold, answerable)


def test_probability_follows_similarity_and_unmet_conditions() -> None:
    fitted = load_calibration()
    close = [fitted.compute_probability(value, value, 0.4, 0.0, 0) for value in (0.2, 0.5, 0.8)]
    assert close == sorted(close)
    # An unrelated passage has low similarity, another topic and a low reading score.
    assert (
        fitted.compute_probability(0.2, 0.2, 0.1, -3.0, 0)
        < 0.05
        < 0.95
        < fitted.compute_probability(0.8, 0.8, 0.4, 3.0, 0)
    )
    assert fitted.compute_probability(0.6, 0.6, 0.2, 0.0, 0) < fitted.compute_probability(0.6, 0.6, 0.6, 0.0, 0)
    assert fitted.compute_probability(0.6, 0.6, 0.4, -2.0, 0) < fitted.compute_probability(0.6, 0.6, 0.4, 2.0, 0)
    unmet = [fitted.compute_probability(0.6, 0.6, 0.4, 0.0, number) for number in (0, 1, 2, 3)]
    assert unmet[0] > unmet[1] > unmet[2] == unmet[3]


def test_log_odds_are_bounded_and_missing_readings_are_neutral() -> None:
    surest = pytest.approx(math.log(MAX_ODDS - 1))
    assert compute_log_odds([0.5, 1.0, None]) == [0.0, surest, pytest.approx(math.log(MAX_ODDS - 1) / 2)]
    assert [-value for value in compute_log_odds([0.0, None])] == [surest, surest]
    assert compute_log_odds([None, None]) == [0.0, 0.0]
    assert compute_log_odds([]) == []
