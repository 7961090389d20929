"""What a language model gets in addition to passages, and what is cited for its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.types.answers import Answer, AnswerState
from tests.support.drawn_pdfs import PROSE, SALES, lines, make, rows
from tests.support.engines import add_document, open_library, page_text, scripted_engine
from tests.support.servers import ScriptedEndpoint, complete

ASK_SALES = "What were the net sales of Harrow Tools in 2023?"
MARKDOWN = "|  | 2023 | 2022 |\n| --- | --- | --- |\n| Net sales | 3,642 | 3,507 |\n| Cost of sales | 2,980 | 2,862 |"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with a report that contains a table."""
    files = tmp_path_factory.mktemp("evidence")

    def draw(canvas) -> None:
        lines("Harrow Tools sales", "(in millions)", top=640)(canvas)
        rows(*SALES, top=600)(canvas)

    with open_library(files / "data", {}) as engine:
        add_document(engine, "harrow.pdf", make(files / "harrow.pdf", lines(*PROSE), draw).read_bytes())
    return files / "data"


def ask(folder: Path, question: str, reply: str) -> tuple[Answer, str]:
    """Return the answer to a question, and the prompt."""
    with scripted_engine(folder, complete(reply)) as (engine, endpoint):
        answer = engine.answer(question)
    return answer, prompt_of(endpoint)


def prompt_of(endpoint: ScriptedEndpoint) -> str:
    (request,) = endpoint.requests
    return request["messages"][-1]["content"]


def test_prompt_has_the_table_once_with_its_unit(folder: Path) -> None:
    _, prompt = ask(folder, ASK_SALES, "3,642 million [1].")
    first = prompt.partition("\n\n[2] ")[0]
    assert first.startswith("[1] harrow.pdf, page 2\n")
    assert MARKDOWN in first
    assert first.count("(in millions)") == 1
    assert first.count("3,642") == 1


def test_hint_is_the_row_that_the_reading_model_found(folder: Path) -> None:
    _, prompt = ask(folder, ASK_SALES, "3,642 million [1].")
    (hint,) = [line for line in prompt.splitlines() if line.startswith("The text closest to the question, from [1]")]
    assert "Net sales | 2023: 3,642" in hint


def test_value_of_a_table_is_cited_at_its_place_on_the_page(folder: Path) -> None:
    answer, _ = ask(folder, ASK_SALES, "3,642 million: the net sales of Harrow Tools in 2023 [1].")
    assert answer.state is AnswerState.ANSWERED
    assert [(one.supported, one.mark) for one in answer.statements] == [(True, "")]
    citation = answer.citations[0]
    assert (citation.document, citation.page_index) == ("harrow.pdf", 1)
    assert citation.quote.split() == ["Net", "sales", "3,642", "3,507"]
    with scripted_engine(folder) as (engine, _):
        text = page_text(engine, citation.document_id, citation.page_index)
    assert text[citation.start : citation.end] == citation.quote


def test_value_of_a_model_is_given_in_short(folder: Path) -> None:
    answer, _ = ask(folder, ASK_SALES, "Net sales of Harrow Tools were **3,642 million** in 2023 [1].")
    assert answer.short == "3,642 million"
