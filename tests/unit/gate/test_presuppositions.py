from __future__ import annotations

import pytest

from rag_core.finance.relevance import is_other_entity_or_period
from rag_core.gate.presuppositions import find_unknown, find_unmet

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
        "Which two things happened first in Virginia?",
        "Who did not build a fort?",
        "Who gave land away",
        "What do I've to know of the canoes, if I’m in Virginia?",
        "",
    ],
)
def test_what_the_passage_bears_out_is_passed_over(question: str) -> None:
    assert find_unmet(question, PASSAGE, "French and Indian War") == ()


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What did the government give to the Hudson Company?", "Hudson"),
        ("What was given in 1755?", "1755"),
        ("What did the government not give in 1749?", "not"),
        ("By how much have sales decreased?", "decreased"),
    ],
)
def test_what_it_does_not_is_told(question: str, reason: str) -> None:
    (told,) = find_unmet(question, PASSAGE, "French and Indian War")
    assert reason in told


def test_a_name_in_the_title_need_not_be_repeated() -> None:
    assert find_unmet("What did sales of Harbourline do in 1749?", PASSAGE, "Harbourline 2022 report") == ()


SHEET = "December 31, 2022 2021 Total current assets 860 790"


@pytest.mark.parametrize(
    ("rest", "foreign"),
    [
        ("What is Acme's in 2022?", False),
        ("Acme at the end of FY2022", False),
        ("Compute the for Acme in USD millions", False),
        ("acme, fiscal 2021", False),
        ("What is Bexley's in 2022?", True),
        ("Bexley in 2022", True),
        ("What is Acme's in 2017?", True),
        ("What is Acme's in Q3 of 2022?", True),
        ("What was the in 2022?", True),
        ("bexley 2022", True),
    ],
)
def test_figures_of_another_company_or_year_are_foreign(rest: str, foreign: bool) -> None:
    assert (
        is_other_entity_or_period(rest, SHEET, "ACMEGROUP 2022 10K › Balance Sheets", "ACMEGROUP_2022_10K.pdf")
        is foreign
    )


def test_of_an_only_document_the_company_need_not_be_named() -> None:
    title = "report › Balance Sheets"
    assert not is_other_entity_or_period("What was the in 2022?", SHEET, title, None)
    assert is_other_entity_or_period("What was Bexley's in 2022?", SHEET, title, None)


def test_a_year_that_the_document_is_of_need_not_be_repeated() -> None:
    assert find_unmet("Who founded the company in 2022?", PASSAGE, "Harbourline 2022 report") == ()
    assert find_unmet("Who founded the company in FY22?", PASSAGE, "Harbourline 2022 report") == ()
    (told,) = find_unmet("How many canoes, 86?", PASSAGE, "Harbourline 1986 report")
    assert "86" in told


# What the rest of the document says.
HELD = "Bexley owns the Forge in Italy and was sued by Boeing in 2022."


def held(word: str, beginning: str) -> bool:
    return any(one.casefold().startswith(beginning) for one in HELD.replace(".", "").split())


def strange_to(question: str, others: tuple[str, ...] = ()) -> list[str]:
    title = "ACME_10K_2022 › Legal matters"
    return list(find_unknown(question, "It was settled in March 2019.", title, "ACME_10K_2022", held, others))


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
        "elsewhere",
        "inflected",
        "mistyped, its own years",
        "said",
        "capitals",
        "first word",
        "no name",
        "no English",
        "said otherwise",
        "a headline",
        "an amount",
        "small letters",
        "a number",
    ],
)
def test_what_the_document_has_somewhere_is_not_strange_to_it(question: str) -> None:
    assert strange_to(question) == []


def test_a_name_that_it_never_has_is_and_so_is_another_time() -> None:
    assert strange_to("Did Acme sue Walmart?") == ["“Walmart” is nowhere in the document"]
    assert strange_to("Who was sued in 2009?") == ["the document covers 2022, not 2009"]
    assert strange_to("Who was sued, 2009?") == ["the document covers 2022, not 2009"]
    assert strange_to("Who was sued in FY09?") == ["the document covers 2022, not 2009"]


def test_what_it_is_compared_with_may_be_strange() -> None:
    assert strange_to("Did Acme earn more than Walmart?", ("walmart",)) == []


def test_a_year_that_stands_in_a_file_s_name_alone_says_nothing() -> None:
    assert find_unknown("Who was sued in 2009?", "It was settled.", "scan 2024", "scan 2024", held) == {}


def test_a_document_of_no_year_is_of_any() -> None:
    assert find_unknown("Who was sued in 2009?", "It was settled.", "minutes", "minutes", held) == {}


def test_a_name_is_looked_for_as_it_is_written() -> None:
    asked = []

    def look(word: str, beginning: str) -> bool:
        asked.append((word, beginning))
        return word == "O’Neill"

    assert find_unknown("What did O’Neill's clerk do?", "It was settled.", "minutes", "minutes", look) == {}
    assert asked == [("O’Neill", "O’Ne")]


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("What does Best Buy sell?", ()),
        ("What does American Express sell?", ()),
        ("What does CVS sell?", ()),
        ("What does Ann Health sell?", ("the name “Ann” is missing",)),
        ("What does East Buyer sell?", ("the name “East Buyer” is missing",)),
    ],
)
def test_a_name_that_a_file_s_name_runs_together_is_there(question: str, lacking: tuple[str, ...]) -> None:
    title = "BESTBUY_2023_10K AMERICANEXPRESS CVSHEALTH Annual"
    assert find_unmet(question, "It sells televisions to people.", title) == lacking


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("Why won't the old bridge do?", ()),
        ("How is the old bridge closed so that trucks won't use it?", ()),
        ("When is the old bridge not closed?", ("the source does not say “not”",)),
        ("Why do cars use the new bridge?", ("the source says “not”",)),
    ],
)
def test_reasons_and_purposes_are_told_without_their_negation(question: str, lacking: tuple[str, ...]) -> None:
    passage = "The old bridge carries five tons and is closed by a gate. Cars do not use the new bridge."
    assert find_unmet(question, passage, "") == lacking


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("Are there any operations in Russia?", "We have no operations in Russia."),
        ("Can the machine be immersed in water?", "Never immerse the machine in water."),
        ("In 2023, did revenue rise?", "Revenue fell in 2023."),
        ("Is smoking not allowed?", "Smoking is allowed."),
        ("Can you tell me whether smoking is allowed?", "Smoking is not allowed."),
    ],
)
def test_a_question_of_yes_or_no_is_answered_by_a_denial(question: str, passage: str) -> None:
    assert find_unmet(question, passage, "") == ()


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("Which operations are in Russia?", "We have no operations in Russia."),
        ("Can you tell me how much revenue rose in 2023?", "Revenue fell in 2023."),
        ("Could you say who was elected to the board?", "Whitfield was not elected to the board."),
    ],
)
def test_a_question_for_a_thing_is_not(question: str, passage: str) -> None:
    assert find_unmet(question, passage, "") != ()


def test_a_question_of_yes_or_no_takes_its_names_and_figures_for_granted() -> None:
    assert len(find_unmet("Did Acme sell 40 ships in 2023?", "Acme has not sold any in 2022.", "")) == 2


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("When did Great Britain colonize Australia?", ["Great Britain", "Australia"]),
        ("When did Queen Anne of Great Britain die?", ["Anne", "Great Britain"]),
        ("Did Palo Alto, Fresno or San Jose pay?", ["Palo Alto", "Fresno", "San Jose"]),
    ],
)
def test_a_name_of_several_words_is_missing_once(question: str, lacking: list[str]) -> None:
    expected = tuple(f"the name “{name}” is missing" for name in lacking)
    assert find_unmet(question, "The queen paid them.", "towns") == expected


def test_a_name_of_several_words_is_nowhere_in_a_document_as_a_whole() -> None:
    question = "When was the old bridge that Edwin Marlowe built opened again?"

    def found(*held: str) -> dict[str, str]:
        return find_unknown(question, "It opened in May.", "towns", "towns", lambda word, _: word in held)

    missing = "the name “Edwin Marlowe” is missing"
    assert found() == {"“Edwin Marlowe” is nowhere in the document": missing}
    assert found("Edwin") == {"“Marlowe” is nowhere in the document": missing}
    assert found("Edwin", "marlowe") == {}
