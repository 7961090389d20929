"""Passages that give different values for what a question asks for, and passages that only seem to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from tests.support.engines import indexed, open_library, opened, scripted_engine
from tests.support.servers import complete

DOCUMENTS = {
    "tariff-old.pdf": ["Tariff of the sailing club", "In force from 3 May 2019.", "A berth costs 310 euros a season."],
    "tariff-new.pdf": ["Tariff of the sailing club", "In force from 2 June 2023.", "A berth costs 420 euros a season."],
    "newsletter.pdf": [
        "This is the newsletter of 9 September 2023.",
        "The summer regatta of the club drew 127 boats.",
        "The next regatta takes place on 15 June 2024.",
    ],
    "minutes.pdf": [
        "These are the minutes of 1 October 2023.",
        "Ms Rowe said that 118 boats had come to the summer regatta of the club.",
        "The board set the date of the next regatta: 22 June 2024.",
    ],
    "hall.pdf": [
        "Hall prices",
        "The hall costs 12 pounds for members.",
        "The hall costs 30 pounds for guests.",
        "The hall was built in 1911.",
    ],
    "report-2021.pdf": ["Report", "In 2021 the crane lifted 880 tonnes of stone."],
    "report-2022.pdf": ["Report", "In 2022 the crane lifted 940 tonnes of stone."],
    "leaflet.pdf": ["Leaflet", "The towpath has twenty-four benches.", "The lock is 3.5 kilometres away."],
    "guide.pdf": ["Guide", "The towpath has 24 benches.", "The lock is 3,500 metres away."],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    documents = {name: [lines] for name, lines in DOCUMENTS.items()}
    with open_library(tmp_path_factory.mktemp("disagreements") / "data", documents) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What does a berth cost?",
            ["310 euros in tariff-old.pdf, page 1 (3 May 2019)", "420 euros in tariff-new.pdf, page 1 (2 June 2023)"],
        ),
        (
            "How many boats came to the summer regatta of the club?",
            ["127 boats in newsletter", "118 boats in minutes"],
        ),
        ("When is the next regatta?", ["15 June 2024 in newsletter.pdf", "22 June 2024 in minutes.pdf"]),
    ],
)
def test_different_values_are_shown_with_their_sources(library: Engine, question: str, parts: list[str]) -> None:
    answer = library.answer(question)
    assert answer.text.startswith("The sources differ: ")
    assert all(part in answer.text for part in parts)
    assert len({citation.document for citation in answer.citations}) == 2
    assert len(answer.statements) == 2
    assert all(statement.supported for statement in answer.statements)


@pytest.mark.parametrize(
    "question",
    [
        "What does the hall cost for members?",
        "What does the hall cost?",
        "How many tonnes of stone did the crane lift in 2021?",
        "How many benches does the towpath have?",
        "How far away is the lock?",
        "When was the hall built?",
    ],
)
def test_values_of_different_items_or_of_equal_size_do_not_differ(library: Engine, question: str) -> None:
    assert "differ" not in library.answer(question).text


@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        ("The grant is up to 5,000 euros.", "The grant is 3,000 euros.", "How high is the grant?"),
        ("The tower is about 100 metres high.", "The tower is 98 metres high.", "How high is the tower?"),
        ("The dam cost 1.2 million euros.", "The dam cost 1,234,567 euros.", "How much did the dam cost?"),
        ("The fee is not 40 euros.", "The fee is 50 euros.", "How high is the fee?"),
        ("The fee used to be 40 euros.", "The fee is 50 euros.", "How high is the fee?"),
        ("The rent rose by 50 euros.", "The rent is 700 euros.", "How high is the rent?"),
        ("The mill expects 500 visitors.", "The mill has 420 visitors.", "How many visitors does the mill have?"),
        ("Each child pays 5 euros.", "Each additional child pays 3 euros.", "How much does each child pay?"),
        (
            "The office in the old harbour district of Hamburg has 40 employees.",
            "The office near the main railway station of Munich has 65 employees.",
            "How many employees does the office have?",
        ),
        ("Last year 320 boats came.", "This year 410 boats came.", "How many boats came?"),
    ],
)
def test_limits_negations_and_other_items_do_not_differ(tmp_path: Path, first: str, second: str, question: str) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "first.pdf", first)
        indexed(engine, "second.pdf", second)
        assert "differ" not in engine.answer(question).text


def test_sentences_about_different_things_of_one_document_do_not_differ(tmp_path: Path) -> None:
    parts = ["rope", "brake", "governor"]
    costs = [163, 461, 290]
    text = [
        f"The {part} of the lift is checked each year. Its cost, {cost} francs in the last round, is borne by all."
        for part, cost in zip(parts, costs, strict=True)
    ]
    with open_library(tmp_path / "data", {"lift.pdf": ["\n\n".join(text)]}) as engine:
        assert "differ" not in engine.answer("What did the last check of the lift's brake cost?").text


def test_years_differ(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "first.pdf", "The tower was completed in 1931.")
        indexed(engine, "second.pdf", "The tower was completed in 1934.")
        assert engine.answer("When was the tower completed?").text.startswith("The sources differ: ")


def test_answer_of_a_model_has_a_notice(tmp_path: Path) -> None:
    with scripted_engine(tmp_path / "data", complete("A berth costs 420 euros a season [1].")) as (engine, _):
        for name in ("tariff-old.pdf", "tariff-new.pdf"):
            indexed(engine, name, DOCUMENTS[name])
        answer = engine.answer("What does a berth cost?")
    assert answer.text.startswith("A berth costs 420 euros a season")
    assert any(notice.startswith("The sources differ: ") and "310 euros" in notice for notice in answer.notices)
