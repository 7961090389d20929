"""Questions that are made of statements."""

from __future__ import annotations

import pytest

from rag_core.reading.statement_questions import write_questions


def ask(*pages: str) -> list[str]:
    return [one.text for one in write_questions(dict(enumerate(pages)))]


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("“Mooring Fee” means the sum that a ship pays for a night.", "What does “Mooring Fee” mean?"),
        ("„Tageskarte“ bedeutet eine Karte für einen Tag.", "Was bedeutet „Tageskarte“?"),
        ("The mooring fee is 35 crowns.", "What is the mooring fee?"),
        ("The Harrow Bridge was opened to ships on 4 May 1931.", "When was the Harrow Bridge opened to ships?"),
        ("The deadline is 3 March 2025.", "When is the deadline?"),
        ("The season begins on 12 May 2025.", "When does the season begin?"),
        ("The ladder may be borrowed for 14 days.", "For how long may the ladder be borrowed?"),
        ("The tenant must report damage within 10 days.", "Within what time must the tenant report damage?"),
        ("The pump has 4 drain valves.", "How many drain valves does the pump have?"),
        ("The minutes were approved by Mara Lindqvist.", "Who approved the minutes?"),
        ("OpenCL is a language for kernels of processors.", "What is OpenCL?"),
        ("The Harbour Dredging Board (HDB) met twice.", "What does HDB stand for?"),
        ("Das Becken ist tief. Die Wassertiefe beträgt 1,35 Meter.", "Wie viel beträgt die Wassertiefe?"),
        ("Geography Compared\n\nThe fee is 35 crowns.", "What is the fee?"),
    ],
)
def test_statement_becomes_a_question_that_it_answers(statement: str, question: str) -> None:
    assert ask(statement) == [question]


@pytest.mark.parametrize(
    "statement",
    [
        "It was opened on 4 May 1931.",  # what was opened
        "This fee is 35 crowns.",
        "The fee is due. Geography Compared",
        "The plan that they made was approved by Mara Lindqvist.",
        "“Term” means the meaning given in clause 4 of the lease.",
        "Mara Lindqvist is a director of the harbour.",
        "The reserves for the loss of ships was 3 crowns.",  # the subject was cut
        "The answer is 42.",  # without a unit
    ],
)
def test_statement_that_is_unclear_alone_becomes_no_question(statement: str) -> None:
    assert ask(statement) == []


def test_question_with_two_answers_is_left_out() -> None:
    assert ask("The fee is 35 crowns.", "The fee is 40 crowns. The rent is 9 crowns.") == ["What is the rent?"]
