"""Answers against the expected ones, as SQuAD's evaluation script has it."""

from __future__ import annotations

import pytest

from rag_core.evaluation.answer_metrics import contains_answer, exact_match, normalised, token_f1
from rag_core.types.answers import strip_markers


def test_normalisation() -> None:
    assert normalised("  The  Eiffel-Tower, a  landmark!") == "eiffeltower landmark"
    assert normalised("Theatre and another") == "theatre and another"


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
def test_exact_match_and_f1_take_the_best_of_the_answers(
    text: str, answers: list[str], exact: float, f1: float
) -> None:
    assert exact_match(text, answers) == exact
    assert token_f1(text, answers) == pytest.approx(f1)


def test_an_answer_is_contained_as_whole_words() -> None:
    assert contains_answer("It was built in 1889, by Eiffel.", ["1889"]) == 1
    assert contains_answer("It was built in 18890.", ["1889"]) == 0
    assert contains_answer("Part of it", ["art", "it"]) == 1
    assert contains_answer("anything", ["the"]) == 0


def test_markers_are_no_words_of_the_answer() -> None:
    assert strip_markers("It rose [1], then fell [2][3].") == "It rose, then fell."
