"""Passages of the documents that a question names."""

from __future__ import annotations

import pytest

from rag_core.answering.passage_selection import keep_named_documents
from tests.support.passages import passage

NAMES = ["cleaning_agreement.pdf", "security_services_agreement.pdf", "minutes.pdf", "Boeing_10K_2022.pdf"]


def keep(question: str, first: str) -> list[str]:
    """Return the documents of the kept passages; the passage of ``first`` is the first one."""
    order = sorted(NAMES, key=lambda name: name != first)
    passages = [passage(rank, document=name) for rank, name in enumerate(order, 1)]
    return sorted(one.document for one in keep_named_documents(passages, NAMES, question))


@pytest.mark.parametrize("first", ["cleaning_agreement.pdf", "minutes.pdf"])
@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("When does the cleaning agreement end?", "cleaning_agreement.pdf"),
        ("When do the security services end?", "security_services_agreement.pdf"),
        ("What does the Cleaning Agreement say about keys?", "cleaning_agreement.pdf"),
    ],
)
def test_question_with_two_words_of_a_name_is_about_that_document(question: str, named: str, first: str) -> None:
    assert keep(question, first) == [named]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When does the agreement end?", "minutes.pdf"),
        ("When does it end?", "minutes.pdf"),
        ("Does Boeing mention a cleaning agreement?", "Boeing_10K_2022.pdf"),
    ],
)
def test_other_questions_are_about_all_documents(question: str, first: str) -> None:
    assert keep(question, first) == sorted(NAMES)
