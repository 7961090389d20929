"""Questions that depend on earlier ones, and the words that are added to them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.answering.anaphora import contains_name_or_number, is_dependent
from rag_core.answering.follow_up import MAX_WORDS, add_earlier_words
from rag_core.text.proper_names import find_names
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.conversations import Message
from rag_core.types.retrieval import Gate

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LENGTH = "How long is the Harrow Bridge?"
STANDALONE = (
    "How old was Chopin when he moved to Warsaw with his family?",
    "Is it true that the bridge was closed?",
    "What does the report say about its own limits?",
    "Why did OPEC raise its prices?",
    "And who designed the Eiffel Tower?",
    "What is the termination clause",
    "Which countries said that they would join?",
    "Who announced she would step down?",
    "What are the duties of those who sign?",
    "Who was the first one to climb Everest?",
    "If a tenant is late, what does he pay?",
    "How does a steam plant compare to that of a factory?",
    "Who used taxes during their rule?",
    "Wie lang ist die Brücke?",
    "capex 2022",
    "",
    "?",
)


DEPENDENT = (
    "What is its width?",
    "Who works there?",
    "Who paid for that bridge?",
    "And the cost?",
    "Who was her father?",
    "What are their goals?",
    "Why did it fail?",
    "How long is the second one?",
    "Tell me more about the former.",
    "and in 2021?",
    "In 2021?",
    "for Germany?",
    "And in May?",
    "And Nissan in 2020?",
    "When did this happen?",
    "who was his successor?",
    "Who succeeded him?",
    "What caused these losses?",
    "what was the first?",
)


def history(*questions: str, rewritten: str = "") -> list[Message]:
    """Return a conversation; the last answer was searched for as ``rewritten``."""
    answer = Answer(
        "", AnswerState.ANSWERED, "", (), (), Gate("rerank", 0.7, 0.6, True), "extractive", {}, rewritten=rewritten
    )
    messages = [Message("1", "user", question, NOW) for question in questions]
    return [*messages, Message("2", "assistant", "", NOW, answer)]


@pytest.mark.parametrize("question", STANDALONE)
def test_standalone_question_is_not_dependent(question: str) -> None:
    assert not is_dependent(question)


@pytest.mark.parametrize("question", DEPENDENT)
def test_dependent_question_is_detected(question: str) -> None:
    assert is_dependent(question)


@pytest.mark.parametrize(
    ("question", "earlier", "expected"),
    [
        ("When was it opened?", [LENGTH], "When was it opened (long Harrow Bridge)?"),
        ("And in 2021?", ["What was capex in 2022?"], "And in 2021 (capex 2022)?"),
        ("And the Harrow canal", [LENGTH], "And the Harrow canal (long Bridge)?"),
        ("When was it opened?", [LENGTH, "Why?"], "When was it opened (long Harrow Bridge)?"),
        ("When was it opened?", [LENGTH, "Why?", "Why?", "Why?"], "When was it opened?"),
        ("When was it opened?", [], "When was it opened?"),
    ],
)
def test_words_of_the_last_question_with_any_are_added(question: str, earlier: list[str], expected: str) -> None:
    assert add_earlier_words(question, history(*earlier)) == expected


def test_earlier_question_counts_as_it_was_searched_for() -> None:
    earlier = history("And the Lindow Canal?", rewritten="And the Lindow Canal (long)?")
    assert add_earlier_words("Since when?", earlier) == "Since when (Lindow Canal long)?"


def test_names_are_whole_and_have_no_genitive() -> None:
    text = "What did St. John's Cathedral, DATANET 1 and the War of the Austrian Succession cost 3M in 1931?"
    assert [one.text for one in find_names(text)] == [
        "St. John's Cathedral",
        "DATANET 1",
        "the War of the Austrian Succession",
        "3M",
    ]
    found = [
        one.text for one in find_names("Was the Zanzibar bridge opened when the Ostmark closed or did the SNP win?")
    ]
    assert found == ["the Zanzibar", "the Ostmark", "the SNP"]
    assert [one.text for one in find_names("Is Warsaw's symbol old? In Warsaw. It is.")] == ["Warsaw", "Warsaw"]


def test_names_and_quotations_anchor_a_question() -> None:
    assert contains_name_or_number("Who built Warsaw?")
    assert contains_name_or_number("what is “net zero”?")
    assert not contains_name_or_number("how many seats were won?")


@given(st.text(max_size=60), st.text(max_size=300))
def test_any_question_can_follow_any_other(question: str, earlier: str) -> None:
    is_dependent(question)
    completed = add_earlier_words(question, history(earlier))
    assert completed.startswith(question.rstrip(" ?"))
    assert len(completed.split()) <= len(question.split()) + MAX_WORDS
