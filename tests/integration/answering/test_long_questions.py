"""Questions inside long texts."""

from __future__ import annotations

import pytest

from rag_core.answering.long_questions import LONG_CHARS, extract_questions
from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
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


@pytest.mark.parametrize(
    "request_",
    [
        "I would like to know when the office opens.",
        "Please let me know how long the walk from the station takes.",
        "Could you tell us whether dogs are allowed.",
        "I wonder who keeps the key.",
    ],
)
def test_request_without_question_mark_is_a_question(request_: str) -> None:
    assert extract_questions(letter(request_)) == [request_]
    assert extract_questions(letter("He told me that all is well.", "Let me know.")) == []


def test_questions_that_the_documents_do_not_answer_are_left_out(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    question = "How many pairs of emperor penguins live on Snow Hill island?"
    answer = engine.answer(letter("How are you all?", question, "The spring fair was lovely, wasn't it?"))
    assert answer.rewritten == question
    assert "four thousand" in answer.text


def test_names_complete_a_dependent_question() -> None:
    text = letter("I read about the Harrow Bridge.", "When was it opened?")
    (question,) = extract_questions(text)
    assert question.startswith("When was it opened (")
    assert "Harrow Bridge" in question


@pytest.mark.parametrize("text", ["How long is the bridge?", "x" * LONG_CHARS, FILLER * 3])
def test_other_texts_are_searched_for_as_they_are(text: str) -> None:
    assert extract_questions(text) == []
