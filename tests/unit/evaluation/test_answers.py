"""Metrics of answers as in SQuAD's evaluation script."""

from __future__ import annotations

import pytest

from rag_core.evaluation.answer_metrics import compute_exact_match, compute_token_f1, contains_answer
from rag_core.text.normalize import normalize_answer
from rag_core.types.answers import strip_markers


def test_answers_are_normalized() -> None:
    assert normalize_answer("  The  Eiffel-Tower, a  landmark!") == "eiffeltower landmark"
    assert normalize_answer("Theatre and another") == "theatre and another"


@pytest.mark.parametrize(
    ("text", "answers", "exact", "f1"),
    [
        ("The Denver Broncos.", ["Denver Broncos"], 1, 1),
        ("Denver Broncos won", ["Denver Broncos"], 0, 2 * (2 / 3) / (2 / 3 + 1)),
        ("Broncos", ["Carolina Panthers", "Denver Broncos"], 0, 2 / 3),
        ("nothing of it", ["Denver Broncos"], 0, 0),
        ("the", ["a"], 1, 1),
        ("", ["x"], 0, 0),
        ("to to be", ["to be or not to be"], 0, 2 * (3 / 3) * (3 / 6) / (3 / 3 + 3 / 6)),
    ],
)
def test_exact_match_and_f1_use_the_best_answer(text: str, answers: list[str], exact: float, f1: float) -> None:
    assert compute_exact_match(text, answers) == exact
    assert compute_token_f1(text, answers) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("It was built in 1889, by Eiffel.", ["1889"], 1),
        ("It was built in 18890.", ["1889"], 0),
        ("Part of it", ["art", "it"], 1),
        ("anything", ["the"], 0),
    ],
)
def test_answer_is_contained_as_whole_words(text: str, answers: list[str], expected: int) -> None:
    assert contains_answer(text, answers) == expected


def test_markers_are_removed() -> None:
    assert strip_markers("It rose [1], then fell [2][3].") == "It rose, then fell."
