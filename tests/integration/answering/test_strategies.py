"""Search strategies: their searches, the gate, limits, and fallbacks after errors of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_core.errors import SettingsError
from rag_core.store.serialization import answer_from_json, answer_to_json
from rag_core.types.answers import Answer, AnswerState, Stage
from rag_core.types.retrieval import RetrievalConfig, SearchResult
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    ASK_PENGUINS,
    close_at_each_event,
    open_library,
    opened,
    scripted_engine,
)
from tests.support.servers import ScriptedEndpoint, complete

OFF_TOPIC = "Who won the chess tournament in Reykjavik?"
BOTH = "Compare the budget of the Zanzibar bridge with the purity of the copper of the Atacama mine."
REPLY = complete("It is 42 million euros [1].")
ASKING: tuple[str, ...] = ("queries", "hyde", "iterative", "compare")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with three documents; tests must not change them."""
    folder = tmp_path_factory.mktemp("strategies") / "data"
    with open_library(folder):
        return folder


def by(strategy: str, **values: Any) -> RetrievalConfig:
    return RetrievalConfig(strategy=strategy, **values)


def prompt(endpoint: ScriptedEndpoint, number: int) -> str:
    return str(endpoint.requests[number]["messages"])


def documents(result: SearchResult | Answer) -> list[str]:
    return [passage.document for passage in result.passages]


@pytest.mark.parametrize("strategy", ASKING)
def test_strategy_without_model_raises_error(folder: Path, strategy: str) -> None:
    with opened(folder) as engine, pytest.raises(SettingsError, match=r"RAG_OPENAI_MODEL.*OPENAI_BASE_URL"):
        engine.answer(ASK_BUDGET, configuration=by(strategy))


def test_queries_strategy_searches_for_several_queries(folder: Path) -> None:
    queries = complete("- cost of building the crossing\n- money for Zanzibar")
    with scripted_engine(folder, queries, REPLY) as (engine, endpoint):
        events = list(engine.ask(ASK_BUDGET, configuration=by("queries")))
        answer = events[-1]
        assert isinstance(answer, Answer)
        assert (answer.strategy, answer.text) == ("queries", "It is 42 million euros [1].")
        assert answer.steps == (
            f"Searched for “{ASK_BUDGET}”",
            "Searched for “cost of building the crossing”",
            "Searched for “money for Zanzibar”",
        )
        assert (answer.usage.calls, len(endpoint.requests)) == (2, 2)
        assert answer.usage.input_tokens > 0
        assert answer.citations[0].document == "bridge.pdf"
        assert all(
            passage.scores["rerank"] is not None and passage.scores["rrf"] is not None for passage in answer.passages
        )
        labels = [event.label for event in events if isinstance(event, Stage) and event.done]
        assert "Searching for “money for Zanzibar”" in labels
        assert {"plan", "embed", "rerank", "total"} <= answer.timings_ms.keys()
        assert answer_from_json(answer_to_json(answer)) == answer


def test_gate_judges_the_original_question(folder: Path) -> None:
    for strategy in ("queries", "hyde"):
        with scripted_engine(folder, complete(ASK_PENGUINS), complete("Four thousand pairs [1].")) as (
            engine,
            endpoint,
        ):
            answer = engine.answer(OFF_TOPIC, configuration=by(strategy))
            assert answer.state is AnswerState.ABSTAINED
            assert len(endpoint.requests) == 1
            assert answer.usage.calls == 1


def test_no_further_queries_give_the_plain_search(folder: Path) -> None:
    with scripted_engine(folder, complete(ASK_BUDGET)) as (engine, _):
        result = engine.search(ASK_BUDGET, configuration=by("queries"))
        plain = engine.search(ASK_BUDGET)
        assert [passage.chunk_id for passage in result.passages] == [passage.chunk_id for passage in plain.passages]
        assert result.gate == plain.gate
        assert result.steps[0] == "The model returned no further queries."


def test_hypothetical_answer_only_changes_the_dense_search(folder: Path) -> None:
    invented = "The budget of the Zanzibar bridge is 7 crowns, paid by the emperor penguins."
    with scripted_engine(folder, complete(invented), REPLY) as (engine, endpoint):
        answer = engine.answer(ASK_BUDGET, configuration=by("hyde"))
        plain = engine.search(ASK_BUDGET)
        assert "crowns" not in answer.text
        assert "crowns" not in prompt(endpoint, 1)
        assert invented in answer.steps[0]
        by_name = {passage.document: passage.scores for passage in plain.passages}
        for passage in answer.passages:
            assert passage.scores["rerank"] == pytest.approx(by_name[passage.document]["rerank"])
        birds = next(passage for passage in answer.passages if passage.document == "birds.pdf")
        assert (birds.scores["dense"] or 0) > (by_name["birds.pdf"]["dense"] or 0) + 0.05


def test_comparison_searches_for_each_part(folder: Path) -> None:
    reply = complete("The bridge costs 42 million euros [1]. The copper has ninety percent purity [2].")
    with scripted_engine(folder, complete(f"{ASK_BUDGET}\n{ASK_COPPER}"), reply) as (engine, endpoint):
        answer = engine.answer(BOTH, configuration=by("compare", top_k=2))
        assert answer.steps == (f"Searched for “{ASK_BUDGET}”", f"Searched for “{ASK_COPPER}”")
        assert set(documents(answer)) == {"bridge.pdf", "mine.pdf"}
        assert {citation.document for citation in answer.citations} == {"bridge.pdf", "mine.pdf"}
        assert all(claim.supported for claim in answer.statements)
        assert all(name in prompt(endpoint, 0) for name in ("bridge.pdf", "birds.pdf", "mine.pdf"))


def test_part_can_be_searched_in_one_document(folder: Path) -> None:
    with scripted_engine(folder, complete("[1] How large is the budget?\n[2] How large is the budget?")) as (
        engine,
        endpoint,
    ):
        scope = ["bridge.pdf", "mine.pdf"]
        result = engine.search("Compare the budget of both.", documents=scope, configuration=by("compare"))
        assert {step.split(" for ")[0] for step in result.steps} == {"Searched in bridge.pdf", "Searched in mine.pdf"}
        assert "birds.pdf" not in prompt(endpoint, 0)


def test_unanswered_part_is_reported_and_adds_no_passages(folder: Path) -> None:
    unknown = "What is the budget of the Reykjavik chess tournament?"
    with scripted_engine(folder, complete(f"{ASK_BUDGET}\n{unknown}"), REPLY) as (engine, _):
        answer = engine.answer(f"{ASK_BUDGET} And of the Reykjavik chess tournament?", configuration=by("compare"))
        assert answer.state is AnswerState.ANSWERED
        assert f"Nothing was found that answers “{unknown}”." in answer.notices
        assert answer.gate.answerable


def test_single_question_is_not_split(folder: Path) -> None:
    with scripted_engine(folder, complete(ASK_BUDGET), REPLY) as (engine, _):
        answer = engine.answer(ASK_BUDGET, configuration=by("compare"))
        assert answer.steps == ("The model did not split the question, which was searched for as it is.",)
        assert answer.citations


@pytest.mark.parametrize("strategy", ["queries", "hyde", "compare"])
def test_failing_model_falls_back_to_plain_search(folder: Path, strategy: str) -> None:
    with scripted_engine(folder, lambda exchange: exchange.error(500), REPLY) as (engine, _):
        answer = engine.answer(ASK_BUDGET, configuration=by(strategy))
        assert answer.text == "It is 42 million euros [1]."
        assert "HTTP 500" in answer.notices[0]
        assert answer.notices[0].endswith("A plain search was used instead.")


def test_stream_of_strategy_can_be_closed_early(folder: Path) -> None:
    with scripted_engine(folder, complete("copper purity"), REPLY) as (engine, _):
        close_at_each_event(lambda: engine.ask(ASK_COPPER, configuration=by("queries")), 5)
        assert engine.answer(ASK_COPPER).state is AnswerState.ANSWERED
