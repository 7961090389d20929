"""One company's report reads like another's: whose is asked for decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.types import AnswerState, RetrievalConfig
from tests.support.engines import BUDGET, COPPER, indexed, opened

ASK = "What are the geographies in which Acme primarily operates?"
# What resembles the question more is the other company's.
OURS = "We sell in Norway and Peru. Most of our workshops lie in the north. This is as of 2022."
THEIRS = "The geographies in which the company primarily operates are Chile and Kenya, where it opened in 2022."


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("naming") / "data") as made:
        indexed(made, "ACMETOOLS_2022.pdf", OURS)
        indexed(made, "BOLT_2022.pdf", THEIRS)
        yield made


def test_the_named_company_s_passages_come_first(library: Engine) -> None:
    found = library.search(ASK)
    assert [one.document for one in found.passages] == ["ACMETOOLS_2022.pdf", "BOLT_2022.pdf"]
    assert [one.scores["named"] for one in found.passages] == [1.0, 0.0]
    assert (found.passages[0].scores["rerank"] or 0) < (found.passages[1].scores["rerank"] or 0)


def test_it_is_a_stage_that_can_be_left_out_and_is_seen_in_the_lab(library: Engine) -> None:
    plain = library.search(ASK, configuration=RetrievalConfig("financials"))
    assert [one.document for one in plain.passages] == ["BOLT_2022.pdf", "ACMETOOLS_2022.pdf"]
    assert "named" in [one.name for one in library.explain(ASK).stages]


def test_without_a_name_nothing_is_moved(library: Engine) -> None:
    found = library.search(ASK.replace("Acme", "it"))
    assert found.passages[0].document == "BOLT_2022.pdf"
    assert found.passages[0].scores["named"] is None


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What are the geographies in which Walmart primarily operates?", "“Walmart” is nowhere in the document"),
        ("What geographies did Bolt operate in primarily in 1987?", "the document covers 2022, not 1987"),
    ],
)
def test_what_no_document_has_is_refused_and_said(library: Engine, question: str, told: str) -> None:
    refused = library.answer(question)
    assert refused.state is AnswerState.ABSTAINED
    assert refused.gate.score <= 0.5
    assert all(told in passage.unmet for passage in refused.passages)


@pytest.mark.parametrize(
    "question",
    [
        "What are the geographies in which Bolt primarily operates?",
        "What are the geographies in which Bolt primarily operates as of 2022?",
        "What are the geographies in which Bolt primarily operates, unlike Acmetools?",
    ],
)
def test_what_a_document_is_asked_of_itself_is_answered(library: Engine, question: str) -> None:
    answer = library.answer(question)
    assert answer.state is AnswerState.ANSWERED
    assert {one.document for one in answer.citations} == {"BOLT_2022.pdf"}


def test_a_question_of_two_documents_is_answered_from_both(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "first.pdf", BUDGET)
        indexed(engine, "second.pdf", COPPER)
        found = engine.search("What is the budget of the Zanzibar bridge, and what does the Atacama mine yield?")
        assert {one.document for one in found.passages} == {"first.pdf", "second.pdf"}
        assert not any("nowhere" in reason for one in found.passages for reason in one.unmet)
        alone = engine.search("What is the budget of the Atacama bridge in Zimbabwe?")
        assert all("“Zimbabwe” is nowhere in the document" in one.unmet for one in alone.passages)


def test_a_word_that_some_document_is_called_by_buries_no_other(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "handbook.pdf", "Each employee has 25 days of paid leave, that is vacation days, per year.")
        indexed(
            engine, "vacation photos.pdf", *[f"Day {number} of the trip: the beach, the sun." for number in range(7)]
        )
        for question in ("How many days of leave do I get per year?", "how many days of vacation do i get per year?"):
            answer = engine.answer(question)
            assert {one.document for one in answer.citations} == {"handbook.pdf"}
