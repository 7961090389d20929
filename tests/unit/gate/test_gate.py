from __future__ import annotations

import math

import pytest

from rag_core.gate.calibration import MAX_ODDS, apply_threshold, calibration, log_odds
from rag_core.types import Gate, Passage


def passage(**scores: float | None) -> Passage:
    return Passage(1, "1", "d", "v", "a.pdf", 0, "1", 0, 0, 4, "text", "", scores)


@pytest.mark.parametrize(("score", "answerable"), [(0.59, False), (0.6, True), (0.61, True)])
def test_a_score_at_the_threshold_answers(score: float, answerable: bool) -> None:
    assert apply_threshold([passage(rerank=score)], 0.6, "rerank") == Gate("rerank", score, 0.6, answerable)


def test_the_best_passage_decides_wherever_it_stands() -> None:
    assert apply_threshold([passage(rerank=0.2), passage(rerank=0.8), passage(rerank=None)], 0.5, "rerank").score == 0.8


def test_no_other_score_is_held_against_the_threshold() -> None:
    assert apply_threshold([passage(dense=0.9, bm25=12.0, rrf=0.9)], 0.1, "rerank") == Gate("rerank", 0.0, 0.1, False)
    assert not apply_threshold([passage(rerank=None)], 0.0, "rerank").answerable


def test_without_a_passage_there_is_no_answer_even_at_zero() -> None:
    assert not apply_threshold([], 0.0, "rerank").answerable


def test_a_score_of_zero_is_a_score() -> None:
    assert apply_threshold([passage(rerank=0.0)], 0.0, "rerank").answerable
    assert apply_threshold([passage(rerank=-0.2)], 0.0, "rerank") == Gate("rerank", -0.2, 0.0, False)


def test_the_probability_rises_with_closeness_topic_and_reading_and_falls_with_what_is_unmet() -> None:
    fitted = calibration()
    close = [fitted.probability(value, value, 0.4, 0, 0.0) for value in (0.2, 0.5, 0.8)]
    assert close == sorted(close)
    # What has nothing to do with the question is neither close nor about the same, and does not read like an answer.
    assert fitted.probability(0.2, 0.2, 0.1, 0, -3.0) < 0.05 < 0.95 < fitted.probability(0.8, 0.8, 0.4, 0, 3.0)
    assert fitted.probability(0.6, 0.6, 0.2, 0, 0.0) < fitted.probability(0.6, 0.6, 0.6, 0, 0.0)
    assert fitted.probability(0.6, 0.6, 0.4, 0, -2.0) < fitted.probability(0.6, 0.6, 0.4, 0, 2.0)
    unmet = [fitted.probability(0.6, 0.6, 0.4, number, 0.0) for number in (0, 1, 2, 3)]
    assert unmet[0] > unmet[1] > unmet[2] == unmet[3]


def test_a_reading_that_is_all_sure_is_bounded_and_none_is_taken_to_be_in_the_middle() -> None:
    surest = pytest.approx(math.log(MAX_ODDS - 1))
    assert log_odds([0.5, 1.0, None]) == [0.0, surest, pytest.approx(math.log(MAX_ODDS - 1) / 2)]
    assert [-one for one in log_odds([0.0, None])] == [surest, surest]
    assert log_odds([None, None]) == [0.0, 0.0]
    assert log_odds([]) == []
