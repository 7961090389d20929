"""Names and numbers of a question that its passage or document lacks."""

from __future__ import annotations

import pytest

from rag_core.finance.relevance import is_other_entity_or_period
from rag_core.gate.presuppositions import (
    describe_other_years,
    find_uncovered_by_document,
    find_unmet_by_passage,
)

PASSAGE = (
    "In 1749 the British government gave land to the Ohio Company of Virginia. Céloron's expedition reached Logstown "
    "in 1,750 canoes. It did not build a fort. Sales increased to 34,229 million dollars."
)


@pytest.mark.parametrize(
    "question",
    [
        "What did the government give to the Ohio Company in 1749?",
        "Where did Celoron's men arrive?",
        "How many canoes came to Logstown, 1750?",
        "What increased to 34229 million dollars?",
        "Who did not build a fort?",
        "What do I've to know of the canoes, if I’m in Virginia?",
        "",
    ],
)
def test_confirmed_presuppositions_are_not_reported(question: str) -> None:
    assert find_unmet_by_passage(question, PASSAGE, "French and Indian War") == ()


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What did the government give to the Hudson Company?", "Hudson"),
        ("What was given in 1755?", "1755"),
    ],
)
def test_unconfirmed_presupposition_is_reported(question: str, reason: str) -> None:
    (message,) = find_unmet_by_passage(question, PASSAGE, "French and Indian War")
    assert reason in message


@pytest.mark.parametrize(
    ("question", "text", "is_missing"),
    [
        ("What is the EPS?", "Diluted earnings per share rose.", False),
        ("What is the EPS?", "She earns well. Per share it was less.", True),
        ("What is the EPS?", "The engine is for all ships.", True),
        ("What is the DCF?", "It is due on the day of the call for tenders.", True),
        ("Who is the CFO?", "The chief financial officer spoke.", False),
        ("Who is the CFO?", "The chief executive officer spoke.", True),
    ],
)
def test_abbreviation_is_confirmed_by_words_in_a_row(question: str, text: str, is_missing: bool) -> None:
    assert bool(find_unmet_by_passage(question, text, "Harbourline")) == is_missing


@pytest.mark.parametrize(
    "question",
    [
        "What did sales of Harbourline do in 1749?",
        "Who founded the company in 2022?",
        "Who founded the company in FY22?",
    ],
)
def test_name_and_year_of_the_title_are_confirmed(question: str) -> None:
    assert find_unmet_by_passage(question, PASSAGE, "Harbourline 2022 report") == ()


RISE = "Sales rose in 2022, and fell in the year ended January 28, 2024."


@pytest.mark.parametrize(
    ("question", "page", "title", "sentence"),
    [
        ("What were sales in fiscal 2019?", RISE, "Acme", "The first passage names 2022 and 2024, not 2019."),
        ("What were sales in FY20?", RISE, "Acme 2022", "The first passage names 2022 and 2024, not 2020."),
        ("What were sales in 2022?", RISE, "Acme", ""),
        ("What were sales in fiscal 2023?", RISE, "Acme", ""),
        ("What were sales in 2019?", RISE, "Acme 2019 annual report", ""),
        ("What were sales in 2019?", f"{RISE} They were 3 million in 2018/19.", "Acme", ""),
        ("What have sales been since 2019?", RISE, "Acme", ""),
        ("What were sales?", RISE, "Acme", ""),
    ],
)
def test_year_of_a_passage_that_is_not_about_that_of_the_question(
    question: str, page: str, title: str, sentence: str
) -> None:
    assert describe_other_years(question, RISE, page, title) == sentence


def test_two_digit_number_is_not_the_year_of_the_title() -> None:
    (message,) = find_unmet_by_passage("How many canoes, 86?", PASSAGE, "Harbourline 1986 report")
    assert "86" in message


SHEET = "December 31, 2022 2021 Total current assets 860 790"


@pytest.mark.parametrize(
    ("rest", "is_other"),
    [
        ("What is Acme's in 2022?", False),
        ("Acme at the end of FY2022", False),
        ("Compute the for Acme in USD millions", False),
        ("acme, fiscal 2021", False),
        ("What is Bexley's in 2022?", True),
        ("What is Acme's in 2017?", True),
        ("What is Acme's in Q3 of 2022?", True),
        ("What was the in 2022?", True),
    ],
)
def test_other_company_or_year_is_recognized(rest: str, is_other: bool) -> None:
    title = "ACMEGROUP 2022 10K › Balance Sheets"
    assert is_other_entity_or_period(rest, SHEET, title, "ACMEGROUP_2022_10K.pdf") is is_other


def test_company_of_the_only_document_may_be_omitted() -> None:
    title = "report › Balance Sheets"
    assert not is_other_entity_or_period("What was the in 2022?", SHEET, title, None)
    assert is_other_entity_or_period("What was Bexley's in 2022?", SHEET, title, None)


REST_OF_DOCUMENT = "Bexley owns the Forge in Italy and was sued by Boeing in 2022."


def contains(word: str, beginning: str) -> bool:
    return any(token.casefold().startswith(beginning) for token in REST_OF_DOCUMENT.replace(".", "").split())


def strange_to(question: str, others: tuple[str, ...] = ()) -> list[str]:
    title = "ACME_10K_2022 › Legal matters"
    return list(
        find_uncovered_by_document(question, "It was settled in March 2019.", title, "ACME_10K_2022", contains, others)
    )


@pytest.mark.parametrize(
    "question",
    [
        "Was the case of Boeing settled?",
        "Who are Acme's Italian workers?",
        "What did Bexlay own in 2022, and in FY21?",
        "What was settled in 2019?",
        "How is EBITDA told, and the SDR?",
        "Walmart was sued when?",
        "In which magazine's issue was it told?",
        "Wie hoch ist die Miete der Wohnung?",
        "What did French courts decide on a Monday in April?",
        "Who Owns The Acme Warehouses And Which Judge Settled?",
        "Who has a deposit of 2000 euros?",
        "what was walmart's case?",
        "Which form is the form 1999 of Acme?",
    ],
    ids=[
        "in the rest of the document",
        "inflected",
        "misspelt, years of the document",
        "in the passage",
        "capitals",
        "first word",
        "no name",
        "not English",
        "phrased differently",
        "a headline",
        "an amount",
        "small letters",
        "a number",
    ],
)
def test_terms_of_the_document_are_not_strange(question: str) -> None:
    assert strange_to(question) == []


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("Did Acme sue Walmart?", "“Walmart” is nowhere in the document"),
        ("Who was sued in 2009?", "the document covers 2022, not 2009"),
        ("Who was sued, 2009?", "the document covers 2022, not 2009"),
        ("Who was sued in FY09?", "the document covers 2022, not 2009"),
    ],
)
def test_absent_name_or_other_year_is_strange(question: str, message: str) -> None:
    assert strange_to(question) == [message]


def test_name_in_a_comparison_is_not_strange() -> None:
    assert strange_to("Did Acme earn more than Walmart?", ("walmart",)) == []


@pytest.mark.parametrize("title", ["scan 2024", "minutes"], ids=["year only in the file name", "no year"])
def test_document_without_a_year_has_no_strange_year(title: str) -> None:
    assert find_uncovered_by_document("Who was sued in 2009?", "It was settled.", title, title, contains) == {}


def test_name_is_searched_as_written() -> None:
    searched = []

    def look(word: str, beginning: str) -> bool:
        searched.append((word, beginning))
        return word == "O’Neill"

    assert (
        find_uncovered_by_document("What did O’Neill's clerk do?", "It was settled.", "minutes", "minutes", look) == {}
    )
    assert searched == [("O’Neill", "O’Ne")]


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What does Best Buy sell?", ()),
        ("What does American Express sell?", ()),
        ("What does CVS sell?", ()),
        ("What does Ann Health sell?", ("the name “Ann” is missing",)),
        ("What does East Buyer sell?", ("the name “East Buyer” is missing",)),
    ],
)
def test_name_may_be_run_together_in_the_file_name(question: str, missing: tuple[str, ...]) -> None:
    title = "BESTBUY_2023_10K AMERICANEXPRESS CVSHEALTH Annual"
    assert find_unmet_by_passage(question, "It sells televisions to people.", title) == missing


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When did Great Britain colonize Australia?", ["Great Britain", "Australia"]),
        ("When did Queen Anne of Great Britain die?", ["Anne", "Great Britain"]),
        ("Did Palo Alto, Fresno or San Jose pay?", ["Palo Alto", "Fresno", "San Jose"]),
    ],
)
def test_missing_name_of_several_words_is_reported_once(question: str, names: list[str]) -> None:
    expected = tuple(f"the name “{name}” is missing" for name in names)
    assert find_unmet_by_passage(question, "The queen paid them.", "towns") == expected


def test_strange_name_of_several_words_is_reported_once() -> None:
    question = "When was the old bridge that Edwin Marlowe built opened again?"

    def strange_without(*words: str) -> dict[str, str]:
        return find_uncovered_by_document(
            question, "It opened in May.", "towns", "towns", lambda word, _: word in words
        )

    missing = "the name “Edwin Marlowe” is missing"
    assert strange_without() == {"“Edwin Marlowe” is nowhere in the document": missing}
    assert strange_without("Edwin") == {"“Marlowe” is nowhere in the document": missing}
    assert strange_without("Edwin", "marlowe") == {}
