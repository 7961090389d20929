"""Retrieve small, read larger: the text around a passage."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.types import Answer, Context, RetrievalConfig
from tests.support.engines import indexed, scripted_engine
from tests.support.servers import complete

FACT = "The lighthouse of Norrvik was painted green in 1904 by the keeper Elin Dahl."
FILLER = [f"Remark {number} describes the weather of day {number} at the pier in plain words." for number in range(40)]
QUESTION = "Who painted the lighthouse of Norrvik green?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library with a page of several chunks, of which the middle one has the fact."""
    path = tmp_path_factory.mktemp("context")
    with scripted_engine(path, complete("Elin Dahl [1]."), chunk_tokens=64) as (engine, _):
        indexed(engine, "norrvik.pdf", [*FILLER[:20], FACT, *FILLER[20:]], ["Another page about boats."])
    return path


def ask(folder: Path, around: Context | None, **settings: object) -> tuple[Answer, str, list[str]]:
    """Return the answer, the prompt, and the texts of the pages."""
    with scripted_engine(folder, complete("The keeper Elin Dahl painted it [1]."), **settings) as (engine, endpoint):
        answer = engine.answer(QUESTION, top_k=3, configuration=RetrievalConfig(context=around))
        pages = [page.text for page in engine.documents.pages(engine.documents.list()[0].document_id)]
    return answer, str(endpoint.requests[0]["messages"][-1]["content"]), pages


@pytest.mark.parametrize("context", ["neighbours", "page"])
def test_prompt_contains_the_text_around_the_passage(folder: Path, context: Context) -> None:
    small, _, _ = ask(folder, "passage")
    large, prompt, pages = ask(folder, context)
    first, larger = small.passages[0], large.passages[0]
    assert FACT in first.text
    assert larger.chunk_id == first.chunk_id
    assert first.text in larger.text
    assert len(larger.text) > 2 * len(first.text)
    # The offsets still are those of the page, so that citations mark the right words.
    assert larger.text == pages[larger.page_index][larger.start : larger.end]
    for citation in large.citations:
        assert citation.quote == pages[citation.page_index][citation.start : citation.end]
    assert FACT in {citation.quote for citation in large.citations}
    assert larger.text[:40] in prompt


def test_passage_in_a_larger_one_is_left_out(folder: Path) -> None:
    answer, prompt, pages = ask(folder, "page")
    assert [one.rank for one in answer.passages] == list(range(1, len(answer.passages) + 1))
    assert prompt.count(FACT) <= 2  # once in the passage, and perhaps once as the text closest to the question
    of_page = [one for one in answer.passages if one.page_index == 0]
    spans = [(one.start, one.end) for one in of_page]
    assert not any(a <= c and d <= b for a, b in spans for c, d in spans if (a, b) != (c, d))
    assert pages


def test_setting_is_the_default_and_the_configuration_overrides_it(folder: Path) -> None:
    by_setting, _, _ = ask(folder, None, context="page")
    overridden, _, _ = ask(folder, "passage", context="page")
    assert len(by_setting.passages[0].text) > len(overridden.passages[0].text)
    assert RetrievalConfig(context="page").label == "as set, context page"


def test_quotes_are_read_from_the_larger_text(folder: Path) -> None:
    with scripted_engine(folder, complete("unused")) as (engine, _):
        answers = [
            engine.answer(QUESTION, model="", configuration=RetrievalConfig(context=context))
            for context in ("passage", "neighbours", "page")
        ]
    assert all("Elin Dahl" in answer.text for answer in answers)
    assert {answer.generator for answer in answers} == {"extractive"}
