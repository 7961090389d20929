"""Follow-ups that change only the period, the entity or the measure of the question before them."""

from __future__ import annotations

import pytest

from rag_core.answering.question_shifts import shift_question

SALES = "What were net sales of Amcor in 2022?"


@pytest.mark.parametrize(
    ("question", "earlier", "expected"),
    [
        ("and the year before?", SALES, "What were net sales of Amcor in 2021?"),
        ("And the following year?", SALES, "What were net sales of Amcor in 2023?"),
        ("In FY2020?", SALES, "What were net sales of Amcor in 2020?"),
        ("2019?", SALES, "What were net sales of Amcor in 2019?"),
        ("what about the second quarter?", SALES, "What were net sales of Amcor in the second quarter of 2022?"),
        ("And Q3?", "What was revenue in Q2 2022?", "What was revenue in Q3 2022?"),
        ("and in March?", "How many visitors came in May?", "How many visitors came in March?"),
        ("and in 2021?", "What is the rent of Oak Street?", "What is the rent of Oak Street in 2021?"),
    ],
)
def test_period(question: str, earlier: str, expected: str) -> None:
    assert shift_question(question, earlier) == expected


@pytest.mark.parametrize(
    ("question", "earlier", "expected"),
    [
        ("and for Boeing?", SALES, "What were net sales of Boeing in 2022?"),
        ("and for Boeing?", "What were sales of Amcor in H1 2023?", "What were sales of Boeing in H1 2023?"),
        ("and for Boeing?", "What were sales of Amcor in FY 2023?", "What were sales of Boeing in FY 2023?"),
        ("and for Boeing?", "What is the size of H2 Green Steel?", "What is the size of Boeing?"),
        ("What about Boeing in 2021?", SALES, "What were net sales of Boeing in 2021?"),
        ("and Boeing's?", "What is Amcor's revenue in 2022?", "What is Boeing's revenue in 2022?"),
        ("And for Bemis?", "What did Amcor pay for Alusa?", "What did Amcor pay for Bemis?"),
        ("And the second bidder?", "What was the bid of the first bidder?", "What was the bid of the second bidder?"),
        ("And the Elm Street lease?", "Who signed the Oak Street lease?", "Who signed the Elm Street lease?"),
    ],
)
def test_entity(question: str, earlier: str, expected: str) -> None:
    assert shift_question(question, earlier) == expected


@pytest.mark.parametrize(
    ("question", "earlier", "expected"),
    [
        ("and the deposit?", "What is the rent of Oak Street?", "What is the deposit of Oak Street?"),
        ("what about net income?", "What was Amcor's revenue in 2022?", "What was Amcor's net income in 2022?"),
        ("And its weight?", "How long is the warranty of Brenta?", "What is the weight of Brenta?"),
        ("and the deposit?", "Compare the rent of Oak Rd and Elm Rd", "compare the deposit of Oak Rd and Elm Rd?"),
    ],
)
def test_measure(question: str, earlier: str, expected: str) -> None:
    assert shift_question(question, earlier).lower() == expected.lower()


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        ("By how much did it change?", "", "By how much did net sales of Amcor in 2022 change?"),
        ("And how much did it grow?", "What is a lease?", "By how much did net sales of Amcor in 2022 grow?"),
        ("How much has it fallen since 2019?", "", "By how much did net sales of Amcor fallen since 2019?"),
        (
            "By how much did it change?",
            "What were net sales of Amcor in 2021?",
            "By how much did net sales of Amcor change from 2021 to 2022?",
        ),
    ],
)
def test_change(question: str, before: str, expected: str) -> None:
    assert shift_question(question, SALES, before=before) == expected


def test_year_of_the_answer_counts_if_the_question_has_none() -> None:
    question = "What were net sales of Amcor?"
    assert shift_question("and the year before?", question, "$14,694 million, fiscal 2023 [1]").endswith("in 2022?")
    assert shift_question("and the year before?", question, "They rose from 2019 to 2023 [1].") == ""


@pytest.mark.parametrize(
    ("question", "earlier"),
    [
        ("Who built it?", SALES),
        ("and why?", SALES),
        ("Boeing?", SALES),
        ("and the first one?", SALES),
        ("How was the weather in 2021?", SALES),
        ("termination clause", SALES),
        ("For Boeing, net sales in 2021", SALES),
        ("And Boeing?", "When did Amcor buy Bemis?"),
        ("In 2021?", "Who won in 2015 and in 2016?"),
        ("What about renewal?", "Can I terminate the lease early?"),
        ("By how much did it change?", "Who founded Amcor?"),
    ],
)
def test_other_questions_are_not_shifted(question: str, earlier: str) -> None:
    assert shift_question(question, earlier) == ""
