"""Questions in another language than the documents, without a language model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from rag_core.types import AnswerState
from tests.support.engines import open_library

LIBRARY = {
    "bridge.pdf": [
        "The budget of the Zanzibar bridge is 42 million euros. Building ends in June of next year.",
        "The bridge has two lanes and a footpath on its eastern side.",
    ],
    "birds.pdf": ["A colony of emperor penguins on Snow Hill island holds four thousand pairs. They breed in winter."],
    "router.pdf": [
        "The administrator password of the router is printed on the label. Firmware 2.1.7 was released in March 2023.",
        "The warranty of the router XR-500 is 24 months from the date of purchase.",
    ],
    "pumpe.pdf": [
        "Die Gewährleistung der Pumpe Harlow beträgt 36 Monate. Die maximale Fördermenge ist 35 Liter pro Minute."
    ],
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("languages"), LIBRARY) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "language", "quote"),
    [
        ("Wie hoch ist das Budget der Zanzibar-Brücke?", "German", "42 million euros"),
        ("Wie lange ist die Garantie des XR-500?", "German", "24 months"),
        ("Wie viele Pinguine leben auf Snow Hill?", "German", "four thousand pairs"),
        ("¿Cuál es el presupuesto del puente de Zanzíbar?", "Spanish", "42 million euros"),
        ("Combien de couples de manchots vivent sur Snow Hill ?", "French", "four thousand pairs"),
    ],
)
def test_passage_with_the_names_and_numbers_is_quoted_and_marked(
    engine: Engine, question: str, language: str, quote: str
) -> None:
    answer = engine.answer(question)
    assert answer.state is AnswerState.ANSWERED
    assert answer.text.startswith("Closest passage, found by “")
    assert quote in answer.text
    assert answer.short == ""
    [notice] = answer.notices
    assert notice.startswith(f"The question is in {language}, and the passages are in English. Only names, numbers")
    assert "RAG_EMBEDDER" in notice
    [citation] = answer.citations
    assert citation.passage_rank == answer.passages[0].rank == 1
    assert [answer.text[one.start : one.end] for one in answer.statements] == [" ".join(citation.quote.split())]


def test_answer_in_another_language_has_no_short_form_and_a_notice(engine: Engine) -> None:
    answer = engine.answer("What is the maximum flow of the Harlow?")
    assert "35 Liter pro Minute" in answer.text
    assert answer.short == ""
    assert answer.notices[0].startswith("The question is in English, and the passages are in German.")


@pytest.mark.parametrize("question", ["Wie viele Spuren hat die Brücke?", "Wie heißt der Bürgermeister von Hamburg?"])
def test_question_without_names_in_common_is_refused_with_the_reason(engine: Engine, question: str) -> None:
    answer = engine.answer(question, documents=["bridge.pdf", "birds.pdf", "router.pdf"])
    assert (answer.state, answer.citations) == (AnswerState.ABSTAINED, ())
    assert answer.notices[0].startswith("The question is in German, and the passages are in English.")


@pytest.mark.parametrize(
    "question", ["Wie lange ist die Gewährleistung der Pumpe Harlow?", "What is the budget of the Zanzibar bridge?"]
)
def test_answer_in_the_language_of_the_question_has_no_notice(engine: Engine, question: str) -> None:
    answer = engine.answer(question)
    assert (answer.state, answer.notices) == (AnswerState.ANSWERED, ())
    assert "Closest" not in answer.text
