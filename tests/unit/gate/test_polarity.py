"""Questions of yes or no, told from those that want a thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.gate.yes_no_questions import is_yes_no_question


@pytest.mark.parametrize(
    "question",
    [
        "Are there any operations in Russia?",
        "is smoking allowed",
        "And can it be frozen?",
        "Can't tenants keep dogs?",
        "Won’t the old bridge do?",
        "In 2023, did revenue rise?",
        "If a tenant is late, may the landlord end the lease?",
        "When the plant closed, did sales fall?",
        "The old bridge was not closed, was it?",
        "We have a dog. May we keep it?",
        "Is the limit above or below 5%?",
        "Is it closed on Monday, Tuesday or Friday?",
        "May a tenant who is late keep dogs?",
        "Is there a country in which Acme does not pay?",
        "Does the cover apply when I travel?",
        "Can you tell me whether dogs are allowed?",
        "Do you have operations in Russia?",
        "Has the WHO approved it?",
        "Was the bridge closed?",
    ],
)
def test_a_clause_with_its_auxiliary_first_asks_for_yes_or_no(question: str) -> None:
    assert is_yes_no_question(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who did not build a fort?",
        "In which year was it not closed?",
        "Can you tell me when it was closed?",
        "Could you please say who closed it?",
        "Do you know the year of the fall in sales?",
        "Could you list the countries that do not pay?",
        "Would it be possible to tell me which bridge is closed?",
        "Does the report say why sales fell?",
        "Is it known who closed it?",
        "Is it closed, and since when?",
        "When did the plant close, and did sales fall?",
        "If the tenant is late, who pays?",
        "Name the events of April, May and June",
        "May 2024 figures?",
        "Was?",
        "Wo ist die Brücke?",
        "Was ist in der Anlage geregelt?",
        "Being old, it was closed?",
        "operations in Russia",
        "",
    ],
)
def test_what_wants_a_thing_does_not(question: str) -> None:
    assert not is_yes_no_question(question)


@given(st.text(max_size=60))
def test_any_text_can_be_asked(question: str) -> None:
    assert is_yes_no_question(question) in (True, False)
