"""Answers to questions for all things of a kind say that they may be incomplete; missing things are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from rag_core.engine import Engine
from rag_core.types.answers import INTRODUCTION, AnswerState
from tests.support.drawn_pdfs import make, rows
from tests.support.engines import add_document, open_library, scripted_engine
from tests.support.servers import complete

BOATS = ["Aurore", "Bittern", "Curlew", "Dunlin", "Egret", "Fulmar"]
PAGES = [
    f"{name}. The boat {name} was built in {1920 + 9 * number} and lies at quay {number}. "
    f"Its owner pays {140 + 11 * number} crowns a year. Paint and ropes are kept in the shed."
    for number, name in enumerate(BOATS, 1)
]
OTHER = ["The archive of Orrin holds 412 maps. The oldest map of the archive shows the salt road of 1583."]
GUILD = [(f"{name} Holm", town) for name, town in zip(("Ada", "Bo", "Cleo", "Dag", "Eva", "Finn"), BOATS, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets") / "data"
    table = make(folder.parent / "guild.pdf", rows(("Member", "Town"), *GUILD, places=(60, 250), left=True))
    with open_library(folder, {"boats.pdf": PAGES, "archive.pdf": OTHER}) as engine:
        add_document(engine, "guild.pdf", table.read_bytes())
    copytree(folder, folder.with_name("copy"))
    return folder


@pytest.fixture
def copied(folder: Path, engine: Engine) -> Path:
    """Return another folder with the same documents, for an engine with a language model."""
    return folder.with_name("copy")


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    with open_library(folder, {}) as engine:
        yield engine


@pytest.mark.parametrize(
    "question",
    [
        "List all boats.",
        "How many boats are there?",
        "When was each boat built?",
        "What do the owners of all boats pay?",
        "Which boats lie at a quay?",
    ],
)
def test_number_of_passages_is_above_the_excerpts(engine: Engine, question: str) -> None:
    answer = engine.answer(question)
    assert answer.state is AnswerState.ANSWERED
    assert answer.text.startswith("These are 3 of 6 passages that may answer; there may be more.")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many maps does the archive of Orrin hold?", "412"),
        ("What does the oldest map of the archive show?", "salt road"),
        ("When was the boat Curlew built?", "1947"),
    ],
)
def test_stated_answer_is_introduced_as_usual(engine: Engine, question: str, value: str) -> None:
    answer = engine.answer(question)
    assert answer.text.startswith(f"{INTRODUCTION}\n")
    assert value in answer.text


@pytest.mark.parametrize("question", ["List all members.", "How many members are there?", "List all the towns."])
def test_table_of_the_things_is_shown_with_all_its_rows(engine: Engine, question: str) -> None:
    answer = engine.answer(question)
    assert answer.text.startswith(f"{INTRODUCTION}\n\n|")
    assert all(f"|{name}|{town}|" in answer.text for name, town in GUILD)


@pytest.mark.parametrize("question", ["List all lighthouses.", "How many pilots are there?", "Which cranes are there?"])
def test_things_that_no_passage_mentions_are_refused(engine: Engine, question: str) -> None:
    assert engine.answer(question).state is AnswerState.ABSTAINED


@pytest.mark.parametrize("question", ["List all boats.", "Which boat is the oldest?"])
def test_capable_model_reads_all_pages(copied: Path, question: str) -> None:
    script = [complete("The oldest is the Aurore of 1929 [1].")]
    with scripted_engine(copied, *script, openai_context_tokens=32_000) as (engine, endpoint):
        answer = engine.answer(question)
    assert all(name in endpoint.requests[0]["messages"][-1]["content"] for name in BOATS)
    assert answer.notices == ()


def test_notice_says_how_many_pages_a_small_model_has_not_read(copied: Path) -> None:
    script = [complete("The boats are the Aurore and the Bittern [1].")]
    with scripted_engine(copied, *script) as (engine, _):
        answer = engine.answer("List all boats.")
    assert answer.notices == ("The model read 5 of 6 pages that may answer; there may be more.",)
    assert answer.short == ""
