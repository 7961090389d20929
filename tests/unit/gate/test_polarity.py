"""Recognition of yes-no questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.gate.yes_no_questions import is_yes_no_question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Are there any operations in Russia?", True),
        ("is smoking allowed", True),
        ("And can it be frozen?", True),
        ("Can't tenants keep dogs?", True),
        ("Won’t the old bridge do?", True),
        ("In 2023, did revenue rise?", True),
        ("If a tenant is late, may the landlord end the lease?", True),
        ("When the plant closed, did sales fall?", True),
        ("The old bridge was not closed, was it?", True),
        ("We have a dog. May we keep it?", True),
        ("Is the limit above or below 5%?", True),
        ("Is it closed on Monday, Tuesday or Friday?", True),
        ("May a tenant who is late keep dogs?", True),
        ("Is there a country in which Acme does not pay?", True),
        ("Does the cover apply when I travel?", True),
        ("Can you tell me whether dogs are allowed?", True),
        ("Do you have operations in Russia?", True),
        ("Has the WHO approved it?", True),
        ("Was the bridge closed?", True),
        ("Who did not build a fort?", False),
        ("In which year was it not closed?", False),
        ("Can you tell me when it was closed?", False),
        ("Could you please say who closed it?", False),
        ("Do you know the year of the fall in sales?", False),
        ("Could you list the countries that do not pay?", False),
        ("Would it be possible to tell me which bridge is closed?", False),
        ("Does the report say why sales fell?", False),
        ("Is it known who closed it?", False),
        ("Is it closed, and since when?", False),
        ("When did the plant close, and did sales fall?", False),
        ("If the tenant is late, who pays?", False),
        ("Name the events of April, May and June", False),
        ("May 2024 figures?", False),
        ("Was?", False),
        ("Wo ist die Brücke?", False),
        ("Was ist in der Anlage geregelt?", False),
        ("Being old, it was closed?", False),
        ("operations in Russia", False),
        ("", False),
    ],
)
def test_yes_no_question_is_recognized(question: str, expected: bool) -> None:
    assert is_yes_no_question(question) is expected


@given(st.text(max_size=60))
def test_any_text_is_accepted(question: str) -> None:
    assert is_yes_no_question(question) in (True, False)
