"""Thresholds and the calibrated probability of an answer."""

from __future__ import annotations

import math

import pytest

from rag_core.gate.calibration import MAX_ODDS, apply_threshold, compute_log_odds, load_calibration
from rag_core.types import Gate, Passage


def passage(**scores: float | None) -> Passage:
    return Passage(1, "1", "d", "v", "a.pdf", 0, "1", 0, 0, 4, "text", "", scores)


@pytest.mark.parametrize(("score", "answerable"), [(0.59, False), (0.6, True), (0.61, True)])
def test_score_at_the_threshold_is_answerable(score: float, answerable: bool) -> None:
    assert apply_threshold([passage(rerank=score)], 0.6, "rerank") == Gate("rerank", score, 0.6, answerable)


def test_best_passage_of_any_rank_decides() -> None:
    assert apply_threshold([passage(rerank=0.2), passage(rerank=0.8), passage(rerank=None)], 0.5, "rerank").score == 0.8


def test_other_scores_are_ignored() -> None:
    assert apply_threshold([passage(dense=0.9, bm25=12.0, rrf=0.9)], 0.1, "rerank") == Gate("rerank", 0.0, 0.1, False)


@pytest.mark.parametrize("scores", [[], [None]], ids=["no passage", "no score"])
def test_without_a_score_nothing_is_answerable(scores: list[None]) -> None:
    assert not apply_threshold([passage(rerank=score) for score in scores], 0.0, "rerank").answerable


def test_score_of_zero_counts_as_a_score() -> None:
    assert apply_threshold([passage(rerank=0.0)], 0.0, "rerank").answerable
    assert apply_threshold([passage(rerank=-0.2)], 0.0, "rerank") == Gate("rerank", -0.2, 0.0, False)


def test_probability_follows_similarity_and_unmet_conditions() -> None:
    fitted = load_calibration()
    close = [fitted.compute_probability(value, value, 0.4, 0, 0.0) for value in (0.2, 0.5, 0.8)]
    assert close == sorted(close)
    # An unrelated passage has low similarity, another topic and a low reading score.
    assert (
        fitted.compute_probability(0.2, 0.2, 0.1, 0, -3.0)
        < 0.05
        < 0.95
        < fitted.compute_probability(0.8, 0.8, 0.4, 0, 3.0)
    )
    assert fitted.compute_probability(0.6, 0.6, 0.2, 0, 0.0) < fitted.compute_probability(0.6, 0.6, 0.6, 0, 0.0)
    assert fitted.compute_probability(0.6, 0.6, 0.4, 0, -2.0) < fitted.compute_probability(0.6, 0.6, 0.4, 0, 2.0)
    unmet = [fitted.compute_probability(0.6, 0.6, 0.4, number, 0.0) for number in (0, 1, 2, 3)]
    assert unmet[0] > unmet[1] > unmet[2] == unmet[3]


def test_log_odds_are_bounded_and_missing_readings_are_neutral() -> None:
    surest = pytest.approx(math.log(MAX_ODDS - 1))
    assert compute_log_odds([0.5, 1.0, None]) == [0.0, surest, pytest.approx(math.log(MAX_ODDS - 1) / 2)]
    assert [-value for value in compute_log_odds([0.0, None])] == [surest, surest]
    assert compute_log_odds([None, None]) == [0.0, 0.0]
    assert compute_log_odds([]) == []
