"""Questions inside long texts."""

from __future__ import annotations

import pytest

from rag_core.answering.long_questions import LONG_CHARS, extract_questions
from rag_core.engine import Engine
from rag_core.types import AnswerState
from tests.support.engines import BUDGET, PENGUINS, indexed

FILLER = (
    "I hope that this letter finds you well. We met at the spring fair, where it rained all day. My brother sends his "
    "regards, and the children have grown a lot since then. The weather here has been dry. We planted beans and peas. "
)


def letter(*questions: str, length: int = 3000) -> str:
    half = FILLER * (length // (2 * len(FILLER)) + 1)
    return f"Dear madam, {half} {' '.join(questions)} {half} Yours sincerely, Ola Nordman"


@pytest.mark.parametrize("length", [400, 3000, 3900])
def test_question_in_a_letter_is_answered(engine: Engine, length: int) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    question = "How many pairs of emperor penguins live on Snow Hill island?"
    text = letter(question, length=length - 300)
    answer = engine.answer(text)
    assert answer.state is AnswerState.ANSWERED
    assert "four thousand" in answer.text
    assert answer.rewritten == question
    assert answer.question == " ".join(text.split())


def test_all_questions_are_searched_for() -> None:
    first, second = "How long is the Harrow Bridge?", "Who built the Lindow Canal?"
    assert extract_questions(letter(first, second)) == f"{first} {second}"


def test_names_complete_a_dependent_question() -> None:
    text = letter("I read about the Harrow Bridge.", "When was it opened?")
    assert extract_questions(text).startswith("When was it opened (")
    assert "Harrow Bridge" in extract_questions(text)


@pytest.mark.parametrize("text", ["How long is the bridge?", "x" * LONG_CHARS, FILLER * 3])
def test_other_texts_are_searched_for_as_they_are(text: str) -> None:
    assert extract_questions(text) == ""
