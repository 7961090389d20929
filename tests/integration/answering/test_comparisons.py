"""Comparisons without a language model: one row for each document, with its value and citation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.types import AnswerState
from tests.support.engines import open_library

LIBRARY = {
    "lease-oak-street.pdf": [
        ["LEASE AGREEMENT", "between Marlow Estates and Dana Whitcombe, for the premises at 14 Oak Street."],
        [
            "The monthly rent is $2,400, payable on the first day of each month.",
            "The security deposit is $4,800.",
            "Either party may end this lease with a notice period of 60 days.",
        ],
    ],
    "lease-elm-street.pdf": [
        ["LEASE AGREEMENT", "between Corden Homes and Piotr Zielinski, for the premises at 9 Elm Street."],
        [
            "The monthly rent is $1,950, payable on the fifth day of each month.",
            "Either party may end this lease with a notice period of three months.",
            "The tenant may keep one cat.",
        ],
    ],
    "pump.pdf": ["The warranty of the pump Harlow is 24 months. The maximum flow is 35 litres per minute."],
    "compressor.pdf": ["The warranty of the compressor Brenta is three years. Its noise level is 62 dB."],
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("comparisons"), LIBRARY) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        (
            "Compare the rent in the lease of Oak Street and of Elm Street",
            ["| lease-oak-street.pdf | $2,400 | page 2 [1] |", "| lease-elm-street.pdf | $1,950 | page 2 [2] |"],
        ),
        (
            "compare the rent of oak street and elm street",
            ["| lease-oak-street.pdf | $2,400 | page 2 [1] |", "| lease-elm-street.pdf | $1,950 | page 2 [2] |"],
        ),
        (
            "What is the notice period in each lease?",
            ["| lease-elm-street.pdf | three months | page 2 [1] |", "| lease-oak-street.pdf | 60 days | page 2 [2] |"],
        ),
        (
            "What is the security deposit of Oak Street and of Elm Street?",
            ["| lease-oak-street.pdf | $4,800 | page 2 [1] |", "| lease-elm-street.pdf | Not stated | |"],
        ),
    ],
)
def test_each_document_has_a_row_with_its_value_and_page(engine: Engine, question: str, rows: list[str]) -> None:
    answer = engine.answer(question)
    assert answer.state is AnswerState.ANSWERED
    assert answer.text.split("\n")[:2] == ["| Document | Answer | Source |", "| --- | --- | --- |"]
    assert answer.text.split("\n")[2:] == rows
    assert answer.short == ""
    cited = {one.marker: one.document for one in answer.citations}
    assert all(cited[int(row.split("[")[1][0])] in row for row in rows if "[" in row)
    assert [one.rank for one in answer.passages] == sorted(cited)
    stated = [row for row in rows if "[" in row]
    assert [answer.text[one.start : one.end] for one in answer.statements] == [row.split(" | ")[1] for row in stated]


@pytest.mark.parametrize(
    ("question", "short", "first_line"),
    [
        ("Which of Harlow and Brenta has the longer warranty?", "Brenta", "Brenta: three years [2]"),
        ("Which lease has the highest rent?", "lease-oak-street.pdf", "lease-oak-street.pdf: $2,400 [2]"),
        ("Is the rent of Oak Street lower than of Elm Street?", "Elm Street", "Elm Street: $1,950 [2]"),
    ],
)
def test_superlative_names_the_document_with_the_value(
    engine: Engine, question: str, short: str, first_line: str
) -> None:
    answer = engine.answer(question)
    assert (answer.short, answer.text.split("\n")[0]) == (short, first_line)


def test_missing_value_leaves_the_question_which_undecided(engine: Engine) -> None:
    answer = engine.answer("Which lease has the higher security deposit, Oak Street or Elm Street?")
    assert answer.short == ""
    assert "Not stated" in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "Compare the parking fee of Oak Street and of Elm Street",
        "What is the wifi password in each lease?",
        "Which of Harlow and Brenta has the higher interest rate?",
    ],
)
def test_comparison_without_any_value_is_refused(engine: Engine, question: str) -> None:
    answer = engine.answer(question)
    assert (answer.state, answer.short, answer.citations) == (AnswerState.ABSTAINED, "", ())


def test_comparison_searches_only_the_scope(engine: Engine) -> None:
    answer = engine.answer("What is the rent in each document?", documents=["lease-oak-street.pdf", "pump.pdf"])
    assert answer.text.split("\n")[2:] == [
        "| lease-oak-street.pdf | $2,400 | page 2 [1] |",
        "| pump.pdf | Not stated | |",
    ]


def test_things_in_one_document_are_compared_by_name(tmp_path: Path) -> None:
    pages = ["The Harrow Bridge is 412 metres long. It was opened in 1931.", "The Tay Bridge is 3,264 metres long."]
    with open_library(tmp_path, {"bridges.pdf": pages, "mill.pdf": ["The mill burned in 1890."]}) as engine:
        answer = engine.answer("Compare the length of the Harrow Bridge and of the Tay Bridge")
        assert answer.text.split("\n")[2:] == [
            "| Harrow Bridge (bridges.pdf) | 412 metres | page 1 [1] |",
            "| Tay Bridge (bridges.pdf) | 3,264 metres | page 2 [2] |",
        ]


def test_question_about_one_document_is_answered_as_before(engine: Engine) -> None:
    answer = engine.answer("What is the rent of Oak Street?")
    assert "|" not in answer.text
    assert answer.steps == ()


def test_names_are_found_on_first_pages(tmp_path: Path) -> None:
    pages = {
        "scan-0001.pdf": ["Offer of Kestrel Metals Ltd, dated 3 May 2024.", "The price is 18,400 euros."],
        "scan-0002.pdf": ["Offer of Brandt Castings, dated 7 May 2024.", "The price is 17,950 euros."],
        "scan-0003.pdf": ["Minutes of the works council of 9 May 2024.", "The canteen closes at two."],
    }
    with open_library(tmp_path, pages) as engine:
        answer = engine.answer("Which of Kestrel Metals and Brandt Castings has the lower price?")
        assert answer.short == "Brandt Castings"
        assert "| Kestrel Metals (scan-0001.pdf) | 18,400 euros | page 2 [1] |" in answer.text


def test_document_of_the_year_of_the_question_is_compared(tmp_path: Path) -> None:
    staff = {"Orrin_2021": 310, "Orrin_2022": 345, "Calder_2021": 120, "Calder_2022": 98}
    pages = {
        f"{name}.pdf": [f"Annual report of {name[:-5]}.", f"The staff numbered {number} in {name[-4:]}."]
        for name, number in staff.items()
    }
    with open_library(tmp_path, pages) as engine:
        answer = engine.answer("How many staff did Orrin and Calder have in 2022?")
        assert [row.split(" | ")[0] for row in answer.text.split("\n")[2:]] == ["| Orrin_2022.pdf", "| Calder_2022.pdf"]
        assert ("345" in answer.text, "98" in answer.text) == (True, True)
        assert "2021" not in answer.text


def test_each_name_is_looked_up_in_its_own_period(tmp_path: Path) -> None:
    reports = {
        f"{company}-{year}.pdf": [f"The revenue of {company} was {revenue} million euros in {year}."]
        for company, amounts in {"Amwell": {2019: 310, 2021: 355}, "Corden": {2019: 960, 2021: 810}}.items()
        for year, revenue in amounts.items()
    }
    with open_library(tmp_path, reports) as engine:
        answer = engine.answer("Compare the revenue of Amwell in 2019 and of Corden in 2021")
    assert answer.text.split("\n")[2:] == [
        "| Amwell-2019.pdf | 310 million euros | page 1 [1] |",
        "| Corden-2021.pdf | 810 million euros | page 1 [2] |",
    ]
