"""The value that is asked for, among several values in a sentence."""

from __future__ import annotations

import pytest

from rag_core.reading.value_selection import has_other_period, select_count, select_part, select_respective


@pytest.mark.parametrize(
    ("question", "sentence", "found", "count"),
    [
        ("How many days does it take?", "It takes 30 days.", "30", "30 days"),
        ("How many guests came?", "500 guests came.", "500 guests", "500 guests"),
        ("How many guests came?", "They were 500.", "500", "500"),
        ("How many species are there?", "406 beetles of 71 species", "406 beetles of 71", "71 species"),
    ],
)
def test_count_contains_the_counted_thing(question: str, sentence: str, found: str, count: str) -> None:
    assert select_count(question, found, sentence) == count


MADE = "Plants in Vietnam, Indonesia and China made about 51%, 24% and 21% of the shoes, respectively."


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What share of the shoes was made in Vietnam?", "51%"),
        ("What share of the shoes came from Indonesia?", "24%"),
        ("What share of the shoes was made in China?", "21%"),
        ("What share of the shoes was made in Peru?", ""),
        ("What share of the shoes was made in Vietnam and in China?", ""),
    ],
)
def test_value_given_respectively_is_that_of_the_item_asked_for(question: str, found: str) -> None:
    assert select_respective(question, "21%", MADE) == found


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        (
            "How many mills did it close in 2020?",
            "3",
            "Of 50 and 60 mills in 2019 and 2020, respectively, it closed 3.",
        ),
        ("Who audited it in 2020?", "Brigg", "Brigg audited it for $5 and $6 in 2019 and 2020, respectively."),
    ],
)
def test_answer_beside_values_given_respectively_is_kept(question: str, answer: str, sentence: str) -> None:
    assert select_respective(question, answer, sentence) == answer


def test_scale_after_the_last_value_is_that_of_all() -> None:
    sentence = "Revenue was $4.1 and $3.2 million in 2021 and 2020, respectively."
    assert select_respective("What was revenue in 2021?", "$4.1", sentence) == "$4.1 million"


def test_value_given_respectively_is_that_of_the_period_asked_for() -> None:
    sentence = "Costs were $12 million and $15 million at 3 May 2021 and 2 May 2020, respectively."
    assert select_respective("What were costs in 2020?", "$12 million", sentence) == "$15 million"
    assert select_respective("What were costs in 2019?", "$12 million", sentence) == ""
    assert select_respective("What were costs?", "$12 million", "Costs were $12 million.") == "$12 million"


LISTED = "Rent was $223 million, $239 million and $247 million in 2020, 2019 and 2018."


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What was rent in 2019?", "$239 million"),
        ("What was rent?", "$223 million, $239 million and $247 million"),
        ("What was rent in 2018, 2019 and 2020?", "$223 million, $239 million and $247 million"),
    ],
)
def test_several_values_correspond_to_as_many_periods(question: str, found: str) -> None:
    assert select_respective(question, "$223 million, $239 million and $247 million", LISTED) == found


def test_rejected_answer_stays_rejected() -> None:
    sentence = "It had 815, 795 and 782 shops in 2021, 2020 and 2019, respectively, with 100 to 105 in Peru."
    assert select_respective("How many shops did it have in Peru in 2020?", "", sentence) == ""


def test_values_of_as_many_periods_as_items_are_those_of_neither() -> None:
    sentence = "In 2021 and 2020, Acme and Bolt bought 17% and 13%, respectively."
    assert select_respective("What share did Acme buy in 2020?", "17%", sentence) == ""
    assert select_respective("What share was bought in 2020?", "17%", sentence) == "13%"
    assert select_respective("What share did Bolt buy in 2020?", "17%", sentence) == "13%"


SHOPS = "At the end of 2021, we had about 815 shops: 564 in Norway, about 105 in Peru and 3 abroad."


@pytest.mark.parametrize(
    ("question", "answer", "part"),
    [
        ("How many shops were in Peru in 2021?", "about 815 shops", "about 105"),
        ("How many shops were in Peru in 2021?", "about 105", "about 105"),
        ("How many shops were in 2021?", "about 815 shops", "about 815 shops"),
        ("How many shops were in Chile?", "about 815 shops", "about 815 shops"),
        ("How many shops were in Peru and in Norway?", "about 815 shops", ""),
        ("When were there shops in Peru?", "2021", "2021"),
        ("Who had shops in Peru?", "we", "we"),
    ],
)
def test_number_of_the_part_that_is_named_is_selected(question: str, answer: str, part: str) -> None:
    assert select_part(question, answer, SHOPS) == part


@pytest.mark.parametrize(
    ("question", "answer", "sentence", "part"),
    [
        (
            "How much space is in Peru?",
            "118.9 million square feet",
            "It has 118.9 million square feet: 83.2 million in the U.S.; 14.9 million in Peru.",
            "14.9 million",
        ),
        ("How many people work in Peru?", "79,000", "Of 79,000 people, 29,000 based in Peru.", "29,000"),
        (
            "How many full-time employees are outside the U.S.?",
            "5,400",
            "It had 5,400 full-time employees worldwide with 660 full-time employees outside of the U.S.",
            "660",
        ),
        (
            "How many people work in Peru?",
            "32,500",
            "It has 32,500 employees, with 15,000 in Peru and 17,500 outside of Peru.",
            "15,000",
        ),
        (
            "How many people work outside Peru?",
            "32,500",
            "It has 32,500 employees, with 15,000 in Peru and 17,500 outside of Peru.",
            "17,500",
        ),
        ("How many seats are in Peru?", "5", "There are 5 in Chile and 9 in Peru.", "9"),
        ("How many seats are in Peru?", "5", "There are 5 in Chile and 8 to 9 in Peru.", ""),
        ("How many seats are in Peru?", "5", "There are 5 in Chile and between 8 and 9 in Peru.", ""),
        ("What is the change in Peru?", "5", "It is 5 in Chile, -6 in Peru.", ""),
    ],
)
def test_number_directly_before_the_name_is_that_of_the_part(
    question: str, answer: str, sentence: str, part: str
) -> None:
    assert select_part(question, answer, sentence) == part


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        ("How many goals did Berg score for Harrow?", "672 goals", "Berg scored 672 goals in 778 matches for Harrow."),
        ("How many shops were open in Chile?", "90 shops", "In Peru 105 and in Chile 90 shops were open."),
        ("How many shops are in Norway?", "105", "It has 300 shops: Peru 100, Norway 105, Chile 95."),
        ("How many shops did Acme have?", "815 shops", "It had 815 shops in 2021, of which 20 were bought from Acme."),
        ("How many people has the Mill Fund?", "15", "It has 15 people and 4 funds, including the Mill Fund."),
        (
            "What was revenue in Peru in 2021?",
            "$4.1 million",
            "It was $4.1 million in 2021 and $3 million in 2020 in Peru.",
        ),
        ("How many are in Peru?", "8", "In Peru 8 of 9 are open, as are 5 in Peru West."),
        (
            "How many new shops did it open in Peru?",
            "12",
            "It opened 12 new shops in 2021 and now has 564 shops in Peru.",
        ),
        (
            "How many female employees work in Peru?",
            "300",
            "There were 300 female employees among the 1,200 employees in Peru.",
        ),
        ("How many shops closed in Peru?", "30", "30 shops closed, leaving 105 shops operated in Peru."),
    ],
)
def test_number_that_is_not_directly_before_the_name_is_no_part(question: str, answer: str, sentence: str) -> None:
    assert select_part(question, answer, sentence) == answer


@pytest.mark.parametrize(
    "sentence",
    [
        "Revenue rose to $5 million from $3 million between 2020 and 2021.",
        "Between 2020 and 2021 revenue reached $5 million, up from $3 million.",
        "Unlike in 2020, revenue in 2021 was $5 million to $3 million.",
    ],
)
def test_values_that_are_no_list_before_their_periods_are_kept(sentence: str) -> None:
    given = sentence[sentence.index("$5") : sentence.index("$3") + 10]
    assert select_respective("What was revenue in 2021?", given, sentence) == given


@pytest.mark.parametrize(
    ("question", "answer", "is_other"),
    [
        ("What was the share in 2021?", "28%", True),
        ("What was the share in 2021?", "27%", False),
        ("What was the share in 2022?", "27%", False),
        ("What was the share in 2020?", "28%", False),
        ("What was the share in 2020?", "27%", True),
        ("What was the share?", "28%", False),
        ("What was the share in 2021?", "the share", False),
    ],
)
def test_period_directly_after_a_number_is_its_period(question: str, answer: str, is_other: bool) -> None:
    sentence = "The share was 27% during both 2022 and 2021 and 28% during 2020."
    assert has_other_period(question, answer, sentence) is is_other


def test_period_elsewhere_is_not_that_of_the_number() -> None:
    sentence = "In 2017 it paid $5 million for the warrant dated May 2012."
    assert not has_other_period("How much did it pay in 2017?", "$5 million", sentence)


def test_number_of_another_kind_is_no_part() -> None:
    sentence = "Sales were 40 million euros, 12% of them in Peru."
    assert select_part("What were sales in Peru?", "40 million euros", sentence) == "40 million euros"
