"""Requests for summaries, and what they name."""

from __future__ import annotations

import pytest

from rag_core.reading.summary_requests import asks_for_summary, parse_summary_request


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Summarise this document", []),
        ("Please give me a short summary of the main points of the file.", []),
        ("What are these about?", []),
        ("What's it about?", []),
        ("Summarize the lease of Oak Street", ["lease", "Oak", "Street"]),
        ("Executive summary of the contract of 2021", ["contract", "2021"]),
        ("What is the lease about?", ["lease"]),
        ("Give me an overview of the penalties", ["penalties"]),
    ],
)
def test_words_of_a_request(question: str, words: list[str]) -> None:
    assert parse_summary_request(question) == words


@pytest.mark.parametrize("question", ["Summarise the lease", "What's it about?", "What is this document about?"])
def test_summary_of_documents_is_asked_for(question: str) -> None:
    assert asks_for_summary(question)


@pytest.mark.parametrize("question", ["What is she worried about?", "Summary dismissal notice period?"])
def test_other_question_asks_for_no_summary(question: str) -> None:
    assert not asks_for_summary(question)


@pytest.mark.parametrize("question", ["Who wrote the summary?", "What is the rent?", "What does it say about rent?"])
def test_other_questions_are_no_requests(question: str) -> None:
    assert parse_summary_request(question) is None
    assert not asks_for_summary(question)
