"""The probabilities of the answers that a passage gives."""

from __future__ import annotations

import pytest

from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.answer_probabilities import MAX_ANSWERS, compute_answer_probabilities, unify_answers
from rag_core.reading.excerpts import Excerpt, PageSpan
from rag_core.types.mixtures import UNKNOWN
from tests.support.passages import passage

PLACE = PageSpan(0, 1)


def found(text: str, probability: float) -> FoundAnswer:
    excerpt = Excerpt(passage(), 0, text, ((0, len(text), PLACE),))
    return FoundAnswer(excerpt, PLACE, text, probability, 0.0, 0.0)


def test_probability_of_the_passage_is_divided_among_its_answers() -> None:
    answers = compute_answer_probabilities([found("30 days", 0.6), found("14 days", 0.2)])
    assert answers == pytest.approx({"30 days": 0.45, "14 days": 0.15, UNKNOWN: 0.4})


def test_answers_with_the_same_normal_form_are_one() -> None:
    answers = compute_answer_probabilities([found("the Tower", 0.5), found("Tower.", 0.8)])
    assert answers == pytest.approx({"the Tower": 0.8, UNKNOWN: 0.2})


def test_passage_without_answers_is_unknown() -> None:
    assert compute_answer_probabilities([]) == {UNKNOWN: 1.0}
    assert compute_answer_probabilities([found("--", 0.9)]) == {UNKNOWN: 1.0}


def test_only_the_best_answers_are_kept() -> None:
    answers = compute_answer_probabilities([found(f"answer {at}", 0.9 - at / 10) for at in range(MAX_ANSWERS + 2)])
    assert len(answers) == MAX_ANSWERS + 1
    assert sum(answers.values()) == pytest.approx(1.0)


def test_passages_name_the_same_answer_alike() -> None:
    assert unify_answers([{"the Tower": 0.8, UNKNOWN: 0.2}, {"Tower": 1.0}]) == [
        {"the Tower": 0.8, UNKNOWN: 0.2},
        {"the Tower": 1.0},
    ]
