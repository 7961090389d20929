"""Requests for summaries, and what they name."""

from __future__ import annotations

import pytest

from rag_core.reading.summary_requests import SummaryRequest, asks_for_summary, parse_summary_request


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        ("Summarise this document", SummaryRequest()),
        ("Please give me a short summary of the main points of the file.", SummaryRequest()),
        ("What is this document about?", SummaryRequest()),
        ("What are these about?", SummaryRequest()),
        ("What's it about?", SummaryRequest()),
        ("Summarize the lease of Oak Street in three sentences", SummaryRequest(("Oak Street",), "lease", ("three",))),
        ("Executive summary of the contract", SummaryRequest((), "contract", ())),
        ("What is the lease about?", SummaryRequest((), "lease", ())),
        ("Give me an overview of the penalties", SummaryRequest((), "", ("penalties",))),
        ("What is the dispute about?", SummaryRequest((), "", ("dispute",))),
    ],
)
def test_request(question: str, request_: SummaryRequest) -> None:
    assert parse_summary_request(question) == request_


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
