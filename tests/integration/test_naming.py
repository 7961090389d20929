"""Questions that name a company or year: passages of its documents come first, questions about others are refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import BUDGET, COPPER, indexed, open_library

ASK = "What are the geographies in which Acme primarily operates?"
# The text of the other company is more similar to the question.
ACME = "We sell in Norway and Peru. Most of our workshops lie in the north. This is as of 2022."
BOLT = "The geographies in which the company primarily operates are Chile and Kenya, where it opened in 2022."


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    documents = {"ACMETOOLS_2022.pdf": [ACME], "BOLT_2022.pdf": [BOLT]}
    with open_library(tmp_path_factory.mktemp("naming") / "data", documents) as engine:
        yield engine


def test_passages_of_the_named_company_come_first(library: Engine) -> None:
    result = library.search(ASK)
    assert [passage.document for passage in result.passages] == ["ACMETOOLS_2022.pdf", "BOLT_2022.pdf"]
    assert [passage.scores["named"] for passage in result.passages] == [1.0, 0.0]
    assert (result.passages[0].scores["rerank"] or 0) < (result.passages[1].scores["rerank"] or 0)


def test_naming_stage_is_optional_and_explained(library: Engine) -> None:
    plain = library.search(ASK, configuration=RetrievalConfig("financials"))
    assert [passage.document for passage in plain.passages] == ["BOLT_2022.pdf", "ACMETOOLS_2022.pdf"]
    assert "named" in [stage.name for stage in library.explain(ASK).stages]


def test_question_without_name_keeps_the_order(library: Engine) -> None:
    result = library.search(ASK.replace("Acme", "it"))
    assert result.passages[0].document == "BOLT_2022.pdf"
    assert result.passages[0].scores["named"] is None


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What are the geographies in which Walmart primarily operates?", "“Walmart” is nowhere in the document"),
        ("What geographies did Bolt operate in primarily in 1987?", "the document covers 2022, not 1987"),
    ],
)
def test_question_about_other_company_or_year_is_refused(library: Engine, question: str, reason: str) -> None:
    refused = library.answer(question)
    assert refused.state is AnswerState.ABSTAINED
    assert refused.gate.score <= 0.5
    assert all(reason in passage.unmet for passage in refused.passages)


@pytest.mark.parametrize(
    "question",
    [
        "What are the geographies in which Bolt primarily operates?",
        "What are the geographies in which Bolt primarily operates as of 2022?",
        "What are the geographies in which Bolt primarily operates, unlike Acmetools?",
    ],
)
def test_question_about_named_company_is_answered(library: Engine, question: str) -> None:
    answer = library.answer(question)
    assert answer.state is AnswerState.ANSWERED
    # The other excerpts are from other places, so the first one is that of the company.
    assert answer.citations[0].document == "BOLT_2022.pdf"
    assert BOLT in answer.text.split("[1]")[0]


def test_question_about_two_documents_is_answered_from_both(engine: Engine) -> None:
    indexed(engine, "first.pdf", BUDGET)
    indexed(engine, "second.pdf", COPPER)
    result = engine.search("What is the budget of the Zanzibar bridge, and what does the Atacama mine yield?")
    assert {passage.document for passage in result.passages} == {"first.pdf", "second.pdf"}
    assert not any("nowhere" in text for passage in result.passages for text in passage.unmet)
    alone = engine.search("What is the budget of the Atacama bridge in Zimbabwe?")
    assert all("“Zimbabwe” is nowhere in the document" in passage.unmet for passage in alone.passages)


def test_word_in_a_document_name_does_not_hide_other_documents(engine: Engine) -> None:
    indexed(engine, "handbook.pdf", "Each employee has 25 days of paid leave, that is vacation days, per year.")
    indexed(engine, "vacation photos.pdf", *[f"Day {number} of the trip: the beach, the sun." for number in range(7)])
    for question in ("How many days of leave do I get per year?", "how many days of vacation do i get per year?"):
        answer = engine.answer(question)
        assert answer.state is AnswerState.ANSWERED
        assert answer.citations[0].document == "handbook.pdf"
