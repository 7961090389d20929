"""Questions with other words than the documents: the other form of an abbreviation, and typing errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
from tests.support.engines import open_library, scripted_engine
from tests.support.servers import complete

FILLER = "The clerk read the minutes of the last meeting, which were signed. Letters were received and filed. " * 3
DOCUMENTS = {
    "guild.pdf": [
        ["Rules", "The Lighthouse Keepers Guild (LKG) was founded by nine keepers.", FILLER],
        [
            "Officers",
            "The Lighthouse Keepers Guild is led by Orsolya Vandenbosk, keeper of the Skarn light.",
            FILLER,
        ],
        ["Dues", "Members of the LKG pay 31 crowns a year.", FILLER],
    ],
    "verband.pdf": [
        ["Satzung", "Der Talsperrenverband Unterer Kocher (TUK) wurde von sechs Gemeinden gegründet."],
        ["Organe", "Vorsteherin des TUK ist Frau Dr. Friederike Hohenlohe."],
    ],
    "valves.pdf": [["Stock", "Valve KX-7721 costs 18 crowns. Mr. Salomon orders it.", FILLER]],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return three documents; tests must not change them."""
    with open_library(tmp_path_factory.mktemp("other words") / "data", DOCUMENTS) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "quoted", "notice"),
    [
        ("Who leads the LKG?", "Orsolya", "Searched for “LKG” and for “Lighthouse Keepers Guild”."),
        ("who leads the lkg?", "Orsolya", "Searched for “lkg” and for “Lighthouse Keepers Guild”."),
        ("What do members of the Lighthouse Keepers Guild pay?", "31 crowns", "“LKG”."),
        ("Wer ist Vorsteherin des Talsperrenverbandes Unterer Kocher?", "Hohenlohe", "“TUK”."),
        ("What does Orsolay Vandenbosk lead?", "Guild", "Searched for “Orsolya” instead of “Orsolay”."),
        ("Which light does Orsolya Vanderbusk keep?", "Skarn", "Searched for “Vandenbosk” instead of “Vanderbusk”."),
    ],
)
def test_first_excerpt_answers_and_the_change_is_shown(
    library: Engine, question: str, quoted: str, notice: str
) -> None:
    answer = library.answer(question)
    assert answer.state is AnswerState.ANSWERED
    assert quoted in answer.citations[0].quote
    assert [one for one in answer.notices if notice in one], answer.notices
    assert answer.question == question


@pytest.mark.parametrize("question", ["How many salmon are in stock?", "What does valve KX-7712 cost?"])
def test_ordinary_words_and_codes_are_not_replaced(library: Engine, question: str) -> None:
    answer = library.answer(question)
    assert answer.state is AnswerState.ABSTAINED
    assert answer.notices == ()


def test_capable_model_is_told_abbreviations_of_other_pages(tmp_path: Path) -> None:
    pages = [
        *DOCUMENTS["guild.pdf"],
        *([f"In week {number} members of the LKG pay {number} crowns."] for number in range(20)),
    ]
    with open_library(tmp_path / "data", {"guild.pdf": pages}):
        pass
    values = {"openai_context_tokens": 32_000, "context_budget": 1000}
    with scripted_engine(tmp_path / "data", complete("They pay 31 crowns [1]."), **values) as (engine, endpoint):
        engine.answer("What do members of the LKG pay in a year?")
    prompt = endpoint.requests[0]["messages"][-1]["content"]
    assert "\n- LKG: Lighthouse Keepers Guild\n" in prompt
    assert "Lighthouse Keepers Guild (LKG)" not in prompt
