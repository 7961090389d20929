"""Codes and long numbers are compared as a whole."""

from __future__ import annotations

import pytest

from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
from tests.support.engines import indexed

STOCK = [
    "Valve FT-204-91 is kept in bay 12.",
    "Valve FT-204-19 is kept in bay 37.",
    "Valve FT-204-1 is kept in bay 5.",
]


@pytest.mark.parametrize(
    ("question", "bay"),
    [
        ("In which bay is valve FT-204-19 kept?", "37"),
        ("In which bay is valve ft-204-1 kept?", "5"),
        ("In which bay is valve FT20491 kept?", "12"),
    ],
)
def test_facts_of_similar_codes_are_left_out(engine: Engine, question: str, bay: str) -> None:
    indexed(engine, "stock.pdf", STOCK)
    text = engine.answer(question).text
    assert [other for other in ("12", "37", "5") if f"bay {other}." in text] == [bay]


def test_number_is_found_in_any_grouping_and_not_confused_with_its_neighbour(engine: Engine) -> None:
    writers = ("Jules Roy", "Carys Penn", "Nils Berg")
    for writer, number in zip(writers, ("31,770,248", "31,770,245", "31,770,254"), strict=True):
        indexed(engine, f"{number}.pdf", f"The parcel with number {number} was entered by {writer}.")
    assert "Carys Penn" in engine.answer("Who entered the parcel with number 31770245?").text


def test_unknown_code_is_not_answered_with_a_similar_one(engine: Engine) -> None:
    indexed(engine, "stock.pdf", STOCK)
    assert engine.answer("In which bay is valve FT-204-77 kept?").state is AnswerState.ABSTAINED


@pytest.mark.parametrize(
    ("text", "question", "part"),
    [
        ("Bremen has 569,000 inhabitants.", "Which city has more than 500,000 inhabitants?", "569,000"),
        ("All mp3-players weigh 90 grams.", "How many grams does the mp3-player weigh?", "90 grams"),
        ("Revenue of fiscal 2023 rose from FY2022 to 15 million.", "What was the revenue in FY2023?", "15 million"),
        ("RFC 2119, cited by RFC8174, defines key words.", "What does RFC2119 define?", "key words"),
    ],
)
def test_quantities_and_other_spellings_are_no_similar_codes(
    engine: Engine, text: str, question: str, part: str
) -> None:
    indexed(engine, "a.pdf", text)
    engine.preferences.set_threshold(0.0)
    assert part in engine.answer(question).text


def test_letters_with_a_stroke_are_found_without_it(engine: Engine) -> None:
    indexed(engine, "wards.pdf", "Ward Sjørup has 38 beds for patients.")
    assert "38 beds" in engine.answer("How many beds does ward Sjorup have?").text
