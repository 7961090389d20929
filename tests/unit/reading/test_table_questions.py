"""The operation that a question over the rows of a table asks for."""

from __future__ import annotations

import pytest

from rag_core.reading.table_questions import Operation, parse_table_question


@pytest.mark.parametrize(
    ("question", "operation", "nouns"),
    [
        ("Which region had the largest revenue in 2023?", Operation.GREATEST, ["region"]),
        ("Who had the best result in chemistry?", Operation.GREATEST, []),
        ("What is the cheapest model?", Operation.LEAST, ["model"]),
        ("Which model is the quietest?", Operation.LEAST, ["model"]),
        ("Which segment grew most in 2023?", Operation.CHANGE, ["segment", "grew"]),
        ("How many stations had more than 700 mm of rain?", Operation.COUNT, ["stations"]),
        ("Which actions are marked DONE?", Operation.LIST, ["actions"]),
        ("List all actions of M. Lindt.", Operation.LIST, ["actions"]),
        ("By how much did sales change from 2021 to 2022?", Operation.DIFFERENCE, []),
        ("Did sales grow in 2022?", Operation.DIFFERENCE, []),
        ("How much more does the L cost than the S?", Operation.DIFFERENCE, []),
    ],
)
def test_operation_and_what_is_asked_for(question: str, operation: Operation, nouns: list[str]) -> None:
    found = parse_table_question(question)
    assert found is not None
    assert found.operation is operation
    assert [word.text for word in found.nouns] == nouns


@pytest.mark.parametrize(
    "question",
    [
        "What does the Nimbus cost?",
        "How much rain fell at Tolland in 2022?",
        "Which actions are not done?",
        "Which stations are above 400 m or below 100 m?",
        "What were total net sales in 2023?",
        "Which segment grew and which fell most?",
    ],
)
def test_other_questions_are_not_about_rows(question: str) -> None:
    assert parse_table_question(question) is None


@pytest.mark.parametrize(
    ("question", "relation", "unit", "adjective", "verb"),
    [
        ("Which models weigh less than 10 kg?", "<", "kg", "", "weigh"),
        ("Which models are heavier than 10 kg?", ">", "kg", "heavy", None),
        ("Which models are more expensive than 400 euros?", ">", "", "expensive", None),
        ("Which stations lie above 400 m?", ">", "m", "", "lie"),
        ("How many pupils have at least 60 points?", ">=", "points", "", None),
        ("Which regions had profits over 300 euros?", ">", "", "", None),
    ],
)
def test_condition(question: str, relation: str, unit: str, adjective: str, verb: str | None) -> None:
    found = parse_table_question(question)
    assert found is not None
    assert found.condition is not None
    assert (found.condition.relation, found.condition.unit, found.adjective) == (relation, unit, adjective)
    assert (found.verb.text if found.verb else None) == verb
