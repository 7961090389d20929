"""Where passages contain answers, and the probability of the answer."""

from __future__ import annotations

import math

import pytest

from rag_core.research.learning.answer_spans import find_answer_spans, score_passage


@pytest.mark.parametrize(
    ("text", "answers", "found"),
    [
        ("Sent Christopher\nGist west.", ["christopher gist"], ["Christopher\nGist"]),
        ("It costs 1,749 or 1,7490.", ["1,749"], ["1,749"]),
        ("He won in May 1931.", ["1931", "May 1931"], ["May 1931"]),
        ("The party parts.", ["part"], []),
        ("Anything.", ["", "  "], []),
        ("Nothing.", [], []),
        ("Inventories 5,409 6,409", ["$5,409 million"], ["5,409"]),
        ("(in thousands) 5,409,000", ["$5,409 million"], ["5,409,000"]),
        ("It rose by 1.90 %, or 1.9 points.", ["1.9%"], ["1.90 %"]),
        ("Cost 1,577 dollars.", ["$1577.00"], ["1,577 dollars"]),
    ],
)
def test_answers_are_found_as_whole_words(text: str, answers: list[str], found: list[str]) -> None:
    assert [text[start:end] for start, end in find_answer_spans(text, answers)] == found


def test_reader_sees_the_context_of_each_occurrence() -> None:
    text = "In 1931 it was dug. " + "Many words follow here. " * 40 + "It was closed in 1931."
    seen: list[str] = []

    def read(question: str, context: str, start: int, end: int) -> float:
        assert question == "When?"
        assert context[start:end] == "1931"
        seen.append(context)
        return -1.0 if "closed" in context else -2.0

    assert score_passage("When?", text, ["1931"], read) == -1.0
    assert len(seen) == 2
    assert all(len(context) < 400 for context in seen)


def test_passage_without_the_answer_cannot_be_read() -> None:
    assert score_passage("When?", "It was dug.", ["1931"], lambda *_: 0.0) == -math.inf
