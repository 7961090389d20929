"""Words that belong to a value."""

from __future__ import annotations

import pytest

from rag_core.reading.short_answers import (
    extend_answer,
    extend_definition,
    has_limit,
    has_superlative,
    is_denied_elsewhere,
    is_figure_asked_for,
    is_of_other_period,
    is_of_other_year,
    names_measure,
)


@pytest.mark.parametrize(
    ("sentence", "found", "extended"),
    [
        ("It holds up to 500 guests.", "500", "up to 500"),
        ("It holds at least 500 guests.", "500 guests", "at least 500 guests"),
        ("The fee is more than £20 a year.", "£20", "more than £20"),
        ("The fee is 20 euros or more.", "20 euros", "20 euros or more"),
        ("Apply before 3 May 2024.", "3 May 2024", "before 3 May 2024"),
        ("It opened in late 2019.", "2019", "late 2019"),
        ("It opened in 2019.", "2019", "2019"),
        ("It closes by 10:30 p.m. today.", "10:30 p.m.", "by 10:30 p.m."),
        ("It is supplied by 112 mills.", "112", "112"),
        ("It was built by the mayor.", "mayor", "the mayor"),
        ("It was built by Eiffel.", "Eiffel", "Eiffel"),
        ("It was built by the mayor.", "the mayor", "the mayor"),
        ("The rate is 0.38 euros per kilometre.", "0.38", "0.38 euros"),
        ("Levers and gears are not covered.", "Levers", "Levers and gears"),
        ("No panels and goods made to order.", "panels", ""),
        ("He was mayor and opened the bridge in 1912.", "mayor", ""),
    ],
)
def test_limits_and_articles_are_added(sentence: str, found: str, extended: str) -> None:
    start = sentence.index(found)
    assert extend_answer(sentence, start, start + len(found)) == extended


def test_limits_before_and_after_a_value() -> None:
    assert has_limit("about 500 guests", 6, 9)
    assert has_limit("500 or more guests", 0, 3)
    assert not has_limit("exactly 500 guests", 8, 11)


@pytest.mark.parametrize(
    ("following", "denied"),
    [
        (" has been filled, that in music has not.", True),
        (" may be used, but the small boat may not.", True),
        (" may not be returned.", False),
        (" are not open, since both are reached by stairs.", False),
        (" is open.", False),
    ],
)
def test_negation_after_an_answer_may_concern_another_verb(following: str, denied: bool) -> None:
    assert is_denied_elsewhere(following) is denied


@pytest.mark.parametrize(
    ("question", "sentence", "found", "definition"),
    [
        ("What does Delay mean?", "Delay means a day off in Bern.", "a day", "a day off in Bern"),
        ("What is a lapse?", "A lapse is a time in which it is off.", "a time", "a time in which it is off"),
        ("How is a lapse defined?", "A lapse is a period; it ends at noon.", "a period", "a period"),
        ("Who looks?", "The warden in the tower looks.", "The warden", "The warden"),
    ],
)
def test_definition_goes_on_to_the_end_of_its_clause(question: str, sentence: str, found: str, definition: str) -> None:
    assert extend_definition(question, found, sentence) == definition


@pytest.mark.parametrize(
    ("found", "is_asked_for"),
    [("4%", True), ("5 million euros", True), ("120 million euros", False)],
)
def test_question_for_a_change_is_not_answered_by_a_level(found: str, is_asked_for: bool) -> None:
    sentence = "Sales rose by 4% or by 5 million euros to 120 million euros."
    assert is_figure_asked_for("How much did sales rise?", found, sentence) is is_asked_for
    assert is_figure_asked_for("What were sales?", found, sentence) is not is_asked_for


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        ("What were sales of the mill in 2020?", "8%", "Sales of the mill increased 8% in 2020."),
        ("What price per share was paid?", "$4.6 billion", "A total of $4.6 billion is paid for the mill."),
        ("What was revenue in 2019, 2020 and 2021?", "$1 billion", "Revenue exceeded $1 billion in 2021 and 2020."),
        (
            "What were sales of pens?",
            "$6 million",
            "A reduction of $10 million in May and $6 million in June, of pens.",
        ),
    ],
)
def test_figure_of_another_kind_is_not_asked_for(question: str, answer: str, sentence: str) -> None:
    assert not is_figure_asked_for(question, answer, sentence)


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        ("What price per share was paid?", "$51.00", "Holders receive $51.00 a share."),
        ("What were sales in 2020?", "$9 million", "Sales increased by 8% to $9 million in 2020."),
        ("What was the growth of sales in 2020?", "8%", "Sales increased 8% in 2020."),
    ],
)
def test_figure_of_the_kind_is_asked_for(question: str, answer: str, sentence: str) -> None:
    assert is_figure_asked_for(question, answer, sentence)


def test_long_answer_with_several_figures_is_no_figure() -> None:
    answer = "9.1% because of the cost of closing it of 3.4 million euros"
    assert not is_figure_asked_for("What did it cost?", answer, f"The margin fell to {answer}.")


@pytest.mark.parametrize(
    ("question", "text", "is_other"),
    [
        ("What were sales in 2019?", "Sales were 4 in 2020.", True),
        ("What were sales in 2019?", "Sales were 4 in 2020 and 3 in 2019.", False),
        ("What were sales in Q2 2020?", "In the first quarter of 2020, sales were 4.", True),
        ("What were sales?", "Sales were 4 in 2020.", False),
    ],
)
def test_text_may_be_about_another_period(question: str, text: str, is_other: bool) -> None:
    assert is_of_other_period(question, text) is is_other


@pytest.mark.parametrize(
    ("statement", "title", "is_other"),
    [
        ("It has 112 mills.", "report_2019.pdf", True),
        ("It has 112 mills.", "report_2018.pdf", False),
        ("In 2018, it had 112 mills.", "report_2019.pdf", False),
        ("It has 112 mills.", "report.pdf", False),
        ("In 2020, it had 112 mills.", "report.pdf", True),
    ],
)
def test_statement_without_a_year_is_of_that_in_the_title(statement: str, title: str, is_other: bool) -> None:
    assert is_of_other_year("How many mills did it have in 2018?", statement, title) is is_other
    assert not is_of_other_year("How many mills did it have?", statement, title)


def test_noun_of_the_measure_is_in_the_text() -> None:
    assert names_measure("What was the operating margin in 2024?", "The margins fell.")
    assert not names_measure("What was the operating margin in 2024?", "Revenue fell.")
    assert names_measure("Who led it?", "Revenue fell.")


@pytest.mark.parametrize(
    "question",
    [
        "What is the population of Budapest?",
        "When does the harvest begin?",
        "How many people were under arrest?",
        "Who won the contest?",
        "What did the protest demand?",
        "Does it have at least 500 seats?",
        "Who paid at most 20 euros?",
        "Who was interested in the forest?",
    ],
)
def test_question_without_superlative_needs_none(question: str) -> None:
    assert has_superlative(question, "It has 1.7 million inhabitants.")


@pytest.mark.parametrize(
    "question",
    [
        "Which is the oldest mill?",
        "What is the nearest town?",
        "Which mill has the most workers?",
        "Which bank is the least profitable?",
        "What was the longest strike?",
        "Which is the flattest region?",
        "Largest mill?",
        "What is the Highest revenue?",
        "Which Mill Has The Most Workers?",
        "What is sold at the most expensive shop?",
    ],
)
def test_superlative_of_the_question_must_be_in_the_text(question: str) -> None:
    assert not has_superlative(question, "It has at least 20 workers, at most 30.")
