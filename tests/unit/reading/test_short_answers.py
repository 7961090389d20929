"""Short answers taken from quotes."""

from __future__ import annotations

import pytest

from rag_core.reading.short_answers import extract_short_answer


@pytest.mark.parametrize(
    ("question", "quotes", "short"),
    [
        ("When was the bridge opened?", ["It was opened on 3 May\n1931 by the mayor."], "3 May 1931"),
        ("When was the bridge opened?", ["It was opened in 1931."], "1931"),
        ("When was it sold?", ["On March 4, 1929, it was sold for 1,950 dollars."], "March 4, 1929"),
        ("In what year was the bridge opened?", ["It was opened on 3 May 1931."], "1931"),
        ("When was it rebuilt after 1906?", ["Rebuilt in 1911 after the fire of 1906."], "1911"),
        ("What percentage of members voted?", ["About 71% of the 129 members voted."], "About 71%"),
        ("How many arches does the bridge have?", ["Its 12 stone arches rest on 11 piers."], "12"),
        ("How many stone arches are there?", ["There are twelve stone arches."], "twelve"),
        (
            "When did the contract end?",
            ["The supply contract began long ago and ended on 1 April 2022."],
            "1 April 2022",
        ),
        ("When did Edwin Hale leave?", ["In 2021, Edwin Hale left the firm."], "2021"),
        ("When is the invoice due?", ["The invoice is due by 3 May 2023."], "by 3 May 2023"),
        (
            "When may it be terminated?",
            ["It may be terminated with notice, but not before 1 April 2024."],
            "not before 1 April 2024",
        ),
        ("When was the mill built?", ["The mill was built in about 1802."], "about 1802"),
        (
            "When does the term end?",
            ["The term ends at the end of 2023 at the latest."],
            "the end of 2023 at the latest",
        ),
        ("How many days may I work from home?", ["You may work from home up to two days a week."], "up to two"),
        ("How many guests may come?", ["At least 40 guests may come."], "At least 40"),
        ("How many disputes are pending?", ["Three disputes are pending; no provision was made."], "Three"),
        ("How many ships sank?", ["Two ships sank.", "The Two ships were never raised."], "Two"),
    ],
)
def test_short_answer_is_verbatim(question: str, quotes: list[str], short: str) -> None:
    assert extract_short_answer(question, quotes) == short


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("When was the mill built?", ["Built in 1802, it burnt down in 1840."]),
        ("When was the mill built?", ["It was built in the 1840s, before 1849."]),
        ("When did the war last?", ["It was fought 1914-18."]),
        ("In which century was it built?", ["It was built in 1802."]),
        ("When was the law passed?", ["It was passed by 1,802 votes."]),
        ("When was the law passed?", ["Agreed on 3 May 1931, it was signed on 9 June 1931."]),
        ("In which year was it repaired, after 1802?", ["It was built in 1802."]),
        ("How many arches does it have?", ["It rests on 11 piers."]),
        ("How many arches does it have?", ["It has 12 arches, and the old one had 9 arches."]),
        ("How many of the delegates were Mensheviks?", ["Of the 124 of the first list, six were Mensheviks."]),
        ("How much did it cost?", ["It cost 12 million dollars."]),
        ("What share voted?", ["71% voted, 3% more than before."]),
        ("Who built it?", ["It was built by Ada Lovelace."]),
        ("Wann wurde sie gebaut?", ["Sie wurde 1802 gebaut."]),
        ("When was it built?", []),
        ("When does the contract end?", ["The term of the contract begins on 1 April 2022 and lasts five years."]),
        ("When did Edwin Hale leave?", ["Mr Edwin Hale, who was appointed on 3 May 2019, left two years later."]),
        ("When may it be terminated?", ["Terms may be changed, but not before 1 April 2024."]),
        ("When does the fee have to be paid?", ["It was founded in 1802."]),
        ("When did it burn down?", ["Built in 1802, it burnt down later."]),
        ("When is the invoice due?", ["Invoice date: 3 September 2023."]),
        ("When does school start?", ["Oakfield School Policy 2024\n\nSchool starts at 8:45 a.m."]),
        ("When was the contract renewed?", ["The contract was not renewed in 2019."]),
        ("When was the second bridge opened?", ["The bridge was opened in 1931."]),
        ("When was the mill sold?", ["The bridge was sold in 1931."]),
        ("How many votes were against?", ["It was agreed by four votes to none."]),
        ("How many patients died?", ["Of 180 patients, none died."]),
        ("How many patients died?", ["Of 180 patients, twelve died."]),
        ("How many employees work part time?", ["Of its 212 employees, most work full time."]),
        ("How many employees work part time?", ["It has 212 employees, most of whom do not work part time."]),
        ("What percentage of parents opposed it?", ["62% of parents supported it."]),
    ],
)
def test_ambiguous_quotes_have_no_short_answer(question: str, quotes: list[str]) -> None:
    assert extract_short_answer(question, quotes) == ""
