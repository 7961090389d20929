"""Searches by strategy: what is searched for, what is gated, and what a failing endpoint leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_core.engine import Engine
from rag_core.errors import QuestionError, SettingsError
from rag_core.store.serialization import answer_from_json, answer_to_json
from rag_core.types import Answer, AnswerState, RetrievalConfig, SearchResult, Stage, Strategy
from tests.support.engines import ASK_BUDGET, ASK_COPPER, ASK_PENGUINS, BUDGET, COPPER, PENGUINS, indexed, opened
from tests.support.servers import Play, ScriptedEndpoint, complete

OFF_TOPIC = "Who won the chess tournament in Reykjavik?"
BOTH = "Compare the budget of the Zanzibar bridge with the purity of the copper of the Atacama mine."
REPLY = complete("It is 42 million euros [1].")
ASKING: tuple[Strategy, ...] = ("queries", "hyde", "iterative", "compare")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents; no test that uses it may change them."""
    made = tmp_path_factory.mktemp("strategies") / "data"
    with opened(made) as engine:
        for name, text in (("bridge.pdf", BUDGET), ("birds.pdf", PENGUINS), ("mine.pdf", COPPER)):
            indexed(engine, name, text)
    return made


@contextmanager
def asking(folder: Path, *script: Play, **values: Any) -> Iterator[tuple[Engine, ScriptedEndpoint]]:
    with (
        ScriptedEndpoint(*script) as endpoint,
        opened(
            folder,
            openai_base_url=endpoint.url,
            openai_model="scripted",
            openai_api_key="k",
            openai_retries=0,
            **values,
        ) as engine,
    ):
        yield engine, endpoint


def by(strategy: Strategy, **values: Any) -> RetrievalConfig:
    return RetrievalConfig(strategy=strategy, **values)


def prompt(endpoint: ScriptedEndpoint, number: int) -> str:
    return str(endpoint.requests[number]["messages"])


def documents(result: SearchResult | Answer) -> list[str]:
    return [passage.document for passage in result.passages]


@pytest.mark.parametrize("strategy", [*ASKING, "summary"])
def test_a_strategy_without_a_model_says_what_to_set(folder: Path, strategy: Strategy) -> None:
    with opened(folder) as engine, pytest.raises(SettingsError, match=r"RAG_OPENAI_MODEL.*OPENAI_BASE_URL"):
        engine.answer(ASK_BUDGET, configuration=by(strategy))


def test_a_summary_is_no_search(folder: Path) -> None:
    with opened(folder) as engine, pytest.raises(QuestionError, match="Ask for it instead"):
        engine.search(ASK_BUDGET, configuration=by("summary"))


@pytest.mark.parametrize("strategy", ASKING)
def test_a_configuration_names_its_strategy(strategy: Strategy) -> None:
    assert by(strategy, top_k=3).label == f"as set, strategy {strategy}, top_k 3"
    assert RetrievalConfig("rrf").label == "rrf"


def test_several_queries_are_searched_for_and_shown(folder: Path) -> None:
    made = complete("- cost of building the crossing\n- money for Zanzibar")
    with asking(folder, made, REPLY) as (engine, endpoint):
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
        assert all(one.scores["rerank"] is not None and one.scores["rrf"] is not None for one in answer.passages)
        told = [event.label for event in events if isinstance(event, Stage) and event.done]
        assert "Searching for “money for Zanzibar”" in told
        assert {"plan", "embed", "rerank", "total"} <= answer.timings_ms.keys()
        assert answer_from_json(answer_to_json(answer)) == answer


def test_the_gate_judges_the_question_and_not_the_models_queries(folder: Path) -> None:
    for strategy in ("queries", "hyde"):
        with asking(folder, complete(ASK_PENGUINS), complete("Four thousand pairs [1].")) as (engine, endpoint):
            answer = engine.answer(OFF_TOPIC, configuration=by(strategy))
            assert answer.state is AnswerState.ABSTAINED
            assert len(endpoint.requests) == 1
            assert answer.usage.calls == 1


def test_a_model_without_further_queries_leaves_the_plain_search(folder: Path) -> None:
    with asking(folder, complete(ASK_BUDGET)) as (engine, _):
        found = engine.search(ASK_BUDGET, configuration=by("queries"))
        plain = engine.search(ASK_BUDGET)
        assert [one.chunk_id for one in found.passages] == [one.chunk_id for one in plain.passages]
        assert found.gate == plain.gate
        assert found.steps[0] == "The model returned no further queries."


def test_a_made_up_answer_moves_the_dense_search_and_stands_in_no_answer(folder: Path) -> None:
    made_up = "The budget of the Zanzibar bridge is 7 crowns, paid by the emperor penguins."
    with asking(folder, complete(made_up), REPLY) as (engine, endpoint):
        answer = engine.answer(ASK_BUDGET, configuration=by("hyde"))
        plain = engine.search(ASK_BUDGET)
        assert "crowns" not in answer.text
        assert "crowns" not in prompt(endpoint, 1)
        assert made_up in answer.steps[0]
        by_name = {one.document: one.scores for one in plain.passages}
        for passage in answer.passages:
            assert passage.scores["rerank"] == pytest.approx(by_name[passage.document]["rerank"])
        birds = next(one for one in answer.passages if one.document == "birds.pdf")
        assert (birds.scores["dense"] or 0) > (by_name["birds.pdf"]["dense"] or 0) + 0.05


def test_what_is_missing_is_searched_for_round_by_round(folder: Path) -> None:
    wanted = "purity of the copper of the Atacama mine"
    reply = complete("The bridge costs 42 million euros [1]. The copper has ninety percent purity [2].")
    with asking(folder, complete(wanted), complete("ENOUGH"), reply) as (engine, endpoint):
        answer = engine.answer(BOTH, configuration=by("iterative", top_k=2))
        assert answer.steps == (
            f"Searched for “{BOTH}”",
            f"Searched for “{wanted}”",
            "The model found nothing more to search for.",
        )
        assert f"- {wanted}" in prompt(endpoint, 1)
        assert documents(answer) == ["bridge.pdf", "mine.pdf"]
        assert [one.rank for one in answer.passages] == [1, 2]
        assert answer.state is AnswerState.ANSWERED


def test_rounds_end_at_their_number(folder: Path) -> None:
    script = [complete(f"copper purity, source {number}") for number in range(9)]
    with asking(folder, *script, strategy_rounds=3) as (engine, endpoint):
        found = engine.search(ASK_COPPER, configuration=by("iterative"))
        assert len(found.steps) == 3
        assert len(endpoint.requests) == 2
        assert found.usage.calls == 2


def test_a_round_about_something_else_is_not_made(folder: Path) -> None:
    with asking(folder, complete(ASK_PENGUINS), complete("Four thousand [1].")) as (engine, _):
        answer = engine.answer(OFF_TOPIC, configuration=by("iterative"))
        assert answer.state is AnswerState.ABSTAINED
        assert answer.steps == (f"Searched for “{OFF_TOPIC}”", "The model found nothing more to search for.")


def test_a_comparison_is_looked_up_part_by_part(folder: Path) -> None:
    reply = complete("The bridge costs 42 million euros [1]. The copper has ninety percent purity [2].")
    with asking(folder, complete(f"{ASK_BUDGET}\n{ASK_COPPER}"), reply) as (engine, endpoint):
        answer = engine.answer(BOTH, configuration=by("compare", top_k=2))
        assert answer.steps == (f"Searched for “{ASK_BUDGET}”", f"Searched for “{ASK_COPPER}”")
        assert set(documents(answer)) == {"bridge.pdf", "mine.pdf"}
        assert {one.document for one in answer.citations} == {"bridge.pdf", "mine.pdf"}
        assert all(one.supported for one in answer.statements)
        assert all(name in prompt(endpoint, 0) for name in ("bridge.pdf", "birds.pdf", "mine.pdf"))


def test_a_part_can_be_asked_of_one_document(folder: Path) -> None:
    with asking(folder, complete("[1] How large is the budget?\n[2] How large is the budget?")) as (engine, endpoint):
        scope = ["bridge.pdf", "mine.pdf"]
        found = engine.search("Compare the budget of both.", documents=scope, configuration=by("compare"))
        assert {step.split(" for ")[0] for step in found.steps} == {"Searched in bridge.pdf", "Searched in mine.pdf"}
        assert "birds.pdf" not in prompt(endpoint, 0)


def test_a_part_that_nothing_answers_is_told_and_adds_no_passages(folder: Path) -> None:
    unknown = "What is the budget of the Reykjavik chess tournament?"
    with asking(folder, complete(f"{ASK_BUDGET}\n{unknown}"), REPLY) as (engine, _):
        answer = engine.answer(f"{ASK_BUDGET} And of the Reykjavik chess tournament?", configuration=by("compare"))
        assert answer.state is AnswerState.ANSWERED
        assert f"Nothing was found that answers “{unknown}”." in answer.notices
        assert answer.gate.answerable


def test_a_single_question_is_not_taken_apart(folder: Path) -> None:
    with asking(folder, complete(ASK_BUDGET), REPLY) as (engine, _):
        answer = engine.answer(ASK_BUDGET, configuration=by("compare"))
        assert answer.steps == ("The model did not split the question, which was searched for as it is.",)
        assert answer.citations


@pytest.mark.parametrize("strategy", ["queries", "hyde", "compare"])
def test_an_endpoint_that_fails_leaves_the_plain_search(folder: Path, strategy: Strategy) -> None:
    with asking(folder, lambda exchange: exchange.error(500), REPLY) as (engine, _):
        answer = engine.answer(ASK_BUDGET, configuration=by(strategy))
        assert answer.text == "It is 42 million euros [1]."
        assert "HTTP 500" in answer.notices[0]
        assert answer.notices[0].endswith("A plain search was used instead.")


def test_an_endpoint_that_fails_in_the_middle_leaves_what_was_found(folder: Path) -> None:
    script = complete("copper of the Atacama mine"), lambda exchange: exchange.error(500)
    with asking(folder, *script) as (engine, _):
        answer = engine.answer(ASK_COPPER, configuration=by("iterative"))
        assert len(answer.steps) == 2
        assert answer.notices[0].endswith("The answer uses the passages found before.")
        assert answer.notices[1].endswith("Quoted from the documents instead.")
        assert answer.state is AnswerState.ANSWERED
        assert "ninety percent" in answer.text


def test_calls_are_limited(folder: Path) -> None:
    script = [complete(f"copper purity, source {number}") for number in range(9)]
    with asking(folder, *script, strategy_rounds=9, strategy_calls=2) as (engine, endpoint):
        found = engine.search(ASK_COPPER, configuration=by("iterative"))
        assert len(endpoint.requests) == 2
        assert any("RAG_STRATEGY_CALLS" in notice for notice in found.notices)


def test_tokens_are_limited_before_they_are_spent(folder: Path) -> None:
    with asking(folder, REPLY, strategy_tokens=1000, openai_answer_tokens=950) as (engine, endpoint):
        answer = engine.answer(ASK_BUDGET, configuration=by("queries"))
        assert len(endpoint.requests) == 1
        assert "1,000 tokens that RAG_STRATEGY_TOKENS allows" in answer.notices[0]
        assert answer.citations


def test_a_strategy_can_be_left_half_way(folder: Path) -> None:
    with asking(folder, complete("copper purity"), complete("ENOUGH"), REPLY) as (engine, _):
        for number in range(1, 5):
            stream = engine.ask(ASK_COPPER, configuration=by("iterative"))
            for _ in range(number):
                next(stream)
            stream.close()  # type: ignore[attr-defined]
        assert engine.answer(ASK_COPPER).state is AnswerState.ANSWERED


def test_the_passages_are_told_before_the_answer_is_written(folder: Path) -> None:
    with opened(folder) as engine:
        events = list(engine.ask(ASK_BUDGET))
        [found] = [event for event in events if isinstance(event, SearchResult)]
        answer = events[-1]
        assert isinstance(answer, Answer)
        assert (found.passages, found.gate) == (answer.passages, answer.gate)
        assert (answer.strategy, answer.steps, answer.usage.calls) == ("plain", (), 0)
