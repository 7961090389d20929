"""The contract of all strategies, with a real small language model whose replies are unpredictable."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.answering.call_budget import CallBudget
from rag_core.engine import Engine
from rag_core.errors import SettingsError
from rag_core.types.answers import REFUSAL, Answer, AnswerState, Stage
from rag_core.types.marginalization import MARGINALIZATIONS
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import ASK_BUDGET, open_library, page_text
from tests.support.servers import model_server

# RAG-Sequence and RAG-Token need a model in a GGUF file; see `test_gguf_causal`.
STRATEGIES = "plain compare iterative summary queries hyde fid long-context themes".split()
OFF_TOPIC = "Who won the chess tournament in Reykjavik?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three documents and a model that knows a little English."""
    with (
        pytest.MonkeyPatch.context() as patch,
        model_server() as url,
        open_library(
            tmp_path_factory.mktemp("strategies") / "data",
            openai_base_url=url,
            openai_model="smollm2",
            # More than the 1024 of the model, since a summary needs at least this setting to begin.
            openai_context_tokens=1500,
            openai_answer_tokens=80,
        ) as engine,
    ):
        patch.setattr(CallBudget, "max_calls", 3)
        yield engine


def assert_valid_citations(engine: Engine, answer: Answer) -> None:
    """Check that all quotes are on their pages and all markers belong to quotes."""
    for citation in answer.citations:
        page = page_text(engine, citation.document_id, citation.page_index)
        assert page[citation.start : citation.end] == citation.quote
        assert f"[{citation.marker}]" in answer.text
    assert (answer.state is AnswerState.ANSWERED) == bool(answer.citations)
    assert answer.state is AnswerState.ANSWERED or answer.text == REFUSAL
    assert [passage.rank for passage in answer.passages] == list(range(1, len(answer.passages) + 1))


def test_every_strategy_is_tested_and_described(library: Engine) -> None:
    listed = {one.name: one for one in library.strategies.list_all()}
    assert {*listed} == {*STRATEGIES, *MARGINALIZATIONS}
    assert next(iter(listed)) == "plain"
    assert len({one.label for one in listed.values()}) == len(listed)
    assert all(one.description and not one.description.endswith(".") for one in listed.values())
    # Themes have not been built, and the model is not in a GGUF file.
    usable = [one for one in listed.values() if one.name not in ("themes", *MARGINALIZATIONS)]
    assert library.strategies.list_usable("smollm2") == usable
    assert library.strategies.list_usable("") == [one for one in usable if not one.uses_model]
    assert "iterative" not in [one.name for one in library.strategies.list_usable("smollm2", as_of="first")]


def test_unknown_strategy_lists_the_others(library: Engine) -> None:
    names = ", ".join(one.name for one in library.strategies.list_all())
    with pytest.raises(SettingsError, match=rf"There is no strategy “magic”\. Use one of: {names}\."):
        library.answer(ASK_BUDGET, configuration=RetrievalConfig(strategy="magic"))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_answer_is_supported_by_the_documents(library: Engine, strategy: str) -> None:
    events = list(library.ask(ASK_BUDGET, configuration=RetrievalConfig(strategy=strategy)))
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert_valid_citations(library, answer)
    assert answer.strategy == strategy
    assert 1 <= answer.usage.calls <= CallBudget.max_calls + 1
    started = {event.name for event in events if isinstance(event, Stage) and not event.done}
    ended = {event.name for event in events if isinstance(event, Stage) and event.done}
    assert started <= ended
    # This small model does not copy what it notes on a passage exactly.
    if strategy not in ("summary", "fid"):
        assert "42 million" in answer.text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_off_topic_question_is_refused(library: Engine, strategy: str) -> None:
    answer = library.answer(OFF_TOPIC, configuration=RetrievalConfig(strategy=strategy))
    assert_valid_citations(library, answer)
    if strategy != "summary":
        assert answer.state is AnswerState.ABSTAINED
