"""Answers of a capable model, which reads whole pages and may ask for more of them."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_core.answering.page_answers import MAX_LOOKS
from rag_core.api.json_rows import build_answer_row
from rag_core.engine import Engine
from rag_core.errors import GeneratorError
from rag_core.llm.context_budget import count_tokens
from rag_core.llm.prompts import build_messages
from rag_core.types.answers import REFUSAL as DOES_NOT_KNOW
from rag_core.types.answers import Answer, AnswerState, Delta, Marked, Restart
from rag_core.types.conversations import Message, Scope
from rag_core.types.retrieval import RetrievalConfig, Timer
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    LIBRARY,
    assert_cited,
    close_at_each_event,
    open_library,
    scripted_engine,
)
from tests.support.servers import Exchange, Play, ScriptedEndpoint, calling, complete

OFF_TOPIC = "Who won the chess match in Reykjavik in 1972?"
ANSWER = "It is 42 million euros [1]."
CAPABLE = {"openai_context_tokens": 32_000}
QUARRY = [
    f"Room {number} of the Corvo quarry was cut in {1900 + number} by masons of shift {number}." for number in range(9)
]
ASK_ROOM = "When was room 7 of the Corvo quarry cut?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder; tests must not change its documents."""
    folder = tmp_path_factory.mktemp("page answers") / "data"
    with open_library(folder, {**LIBRARY, "quarry.pdf": QUARRY}):
        return folder


def events_of(engine: Engine, question: str = ASK_BUDGET, **options: Any) -> tuple[list[object], Answer]:
    events: list[object] = list(engine.ask(question, **options))
    assert isinstance(events[-1], Answer)
    return events, events[-1]


def ask(folder: Path, *script: Play, question: str = ASK_BUDGET, **values: Any) -> tuple[Answer, ScriptedEndpoint]:
    with scripted_engine(folder, *script, **(CAPABLE | values)) as (engine, endpoint):
        return engine.answer(question), endpoint


def shown(events: Sequence[object]) -> str:
    """Return the text that users see at the end of a stream."""
    text = ""
    for event in events:
        text = "" if isinstance(event, Restart) else text + event.text if isinstance(event, Delta) else text
    return text


def prompt(endpoint: ScriptedEndpoint, number: int = -1) -> str:
    return endpoint.requests[number]["messages"][-1]["content"]


def test_plain_question_costs_one_call_and_offers_tools(folder: Path) -> None:
    with scripted_engine(folder, complete("It is 42 ", "million euros [1]."), **CAPABLE) as (engine, endpoint):
        events, answer = events_of(engine)
        assert_cited(engine, answer)
    assert len(endpoint.requests) == answer.usage.calls == 1
    assert (answer.text, answer.state, answer.generator) == (ANSWER, AnswerState.ANSWERED, "openai:scripted")
    assert [event.text for event in events if isinstance(event, Delta)] == ["It is 42 ", "million euros [1]."]
    assert not any(isinstance(event, Restart) for event in events)
    assert (answer.steps, answer.notices) == ((), ())
    assert answer.passages[0].document == "bridge.pdf"
    assert all(one.start == 0 and one.end == len(one.text) for one in answer.passages)
    names = [one["function"]["name"] for one in endpoint.requests[0]["tools"]]
    assert names == ["search", "open_outline", "read_page", "look_up", "compute"]


@pytest.mark.parametrize("pieces", [["SEARCH: copper of", " the mine\n"], list("SEARCH: copper of the mine")])
def test_search_leads_to_a_second_request_and_is_a_step(folder: Path, pieces: list[str]) -> None:
    script = complete(*pieces), complete("It is 42 million euros [1].")
    with scripted_engine(folder, *script, **CAPABLE, context_budget=1000) as (engine, endpoint):
        events, answer = events_of(engine)
        assert_cited(engine, answer)
    assert len(endpoint.requests) == answer.usage.calls == 2
    assert answer.steps == ("Searched for “copper of the mine”",)
    assert shown(events) == ANSWER
    assert not any("SEARCH" in event.text for event in events if isinstance(event, Delta))
    assert "Found for your requests:\nSearched for “copper of the mine”" in prompt(endpoint)
    assert "ninety percent" in prompt(endpoint)
    assert endpoint.requests[0]["messages"][0] == endpoint.requests[1]["messages"][0]


def test_text_before_a_request_is_discarded(folder: Path) -> None:
    script = complete("Let me look.\n", "SEARCH: copper\n", "Soon."), complete(ANSWER)
    with scripted_engine(folder, *script, **CAPABLE) as (engine, _):
        events, answer = events_of(engine)
    assert [event.reason for event in events if isinstance(event, Restart)] == ["Looking for what is missing"]
    assert shown(events) == answer.text == ANSWER
    assert "Let me look.\n" in [event.text for event in events if isinstance(event, Delta)]


def test_opened_page_is_in_the_next_prompt(folder: Path) -> None:
    question, script = ASK_BUDGET, (complete("**OPEN:** quarry.pdf, page 9"), complete(ANSWER))
    with scripted_engine(folder, *script, **CAPABLE) as (engine, endpoint):
        answer = engine.answer(question)
    assert answer.steps == ("Read page 9 of quarry.pdf",)
    assert QUARRY[8] in prompt(endpoint)


@pytest.mark.parametrize("place", ["quarry.pdf, p. 9", "quarry.pdf page 9", "quarry.pdf, pages 9-10", "quarry.pdf, 9"])
def test_page_to_open_may_be_written_in_other_ways(folder: Path, place: str) -> None:
    answer, _ = ask(folder, complete(f"OPEN: {place}"), complete(ANSWER))
    assert answer.steps == ("Read page 9 of quarry.pdf",)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1+1", "2"),
        ("(412.5 - 380) / 380", "0.0855 (8.55%)"),
        ("€1,200 * 2", "2,400"),
        ("1 200 * 2", "2,400"),
        ("12% of 50", "6"),
        ("$42 - $12", "30"),
    ],
)
def test_copied_figures_are_computed(folder: Path, expression: str, value: str) -> None:
    answer, endpoint = ask(folder, complete(f"COMPUTE: {expression}"), complete(ANSWER))
    assert answer.steps[0].endswith(f" = {value}")
    assert f" = {value}" in prompt(endpoint)


def test_item_that_begins_with_a_control_word_is_no_request(folder: Path) -> None:
    reply = "- OPEN: the budget of the Zanzibar bridge is 42 million euros [1]\n- CLOSED: the quarry"
    answer, endpoint = ask(folder, complete(reply))
    assert answer.text.startswith(reply)
    assert len(endpoint.requests) == 1


def test_bare_refusal_is_a_refusal(folder: Path) -> None:
    answer, _ = ask(folder, complete("NOT STATED:"))
    assert (answer.state, answer.text, answer.interrupted) == (AnswerState.ABSTAINED, DOES_NOT_KNOW, "")


@pytest.mark.parametrize(
    ("request_line", "finding"),
    [
        ("OPEN: quarry.pdf, page 99", "has no page"),
        ("OPEN: nowhere.pdf, page 1", "No document that may be searched has this name"),
        ("OPEN: quarry.pdf", "needs a value for page"),
        ("COMPUTE: 1 / 0", "Not computed"),
        ("COMPUTE: __import__('os')", "Not computed"),
    ],
)
def test_request_that_cannot_be_met_is_explained(folder: Path, request_line: str, finding: str) -> None:
    answer, endpoint = ask(folder, complete(request_line), complete(ANSWER))
    assert finding in prompt(endpoint).partition("Found for your requests:")[2]
    assert not any(name in answer.steps[0] for name in ("read_page", "wrong way"))
    assert (answer.text, answer.state) == (ANSWER, AnswerState.ANSWERED)


def test_three_requests_of_a_reply_are_run(folder: Path) -> None:
    lines = "\n".join(f"SEARCH: {word}" for word in ("copper", "penguins", "room 3", "room 4", "room 5"))
    answer, _ = ask(folder, complete(lines), complete(ANSWER))
    assert answer.steps == tuple(f"Searched for “{word}”" for word in ("copper", "penguins", "room 3"))


def test_model_looks_twice_at_most(folder: Path) -> None:
    script = [complete(f"SEARCH: room {number}") for number in range(9)]
    answer, endpoint = ask(folder, *script)
    assert len(endpoint.requests) == MAX_LOOKS + 1 == 3
    assert [("tools" in one) for one in endpoint.requests] == [True, True, False]
    assert "No further search is possible" in prompt(endpoint)
    assert answer.steps == ("Searched for “room 0”", "Searched for “room 1”")
    # Excerpts replace the answer that was not written.
    assert answer.interrupted.startswith("The model asked for more sources again")
    assert (answer.generator, answer.state) == ("extractive", AnswerState.ANSWERED)
    assert "42 million" in answer.text
    assert "SEARCH" not in answer.text


def test_text_beside_the_last_request_is_the_answer(folder: Path) -> None:
    script = complete("SEARCH: a"), complete("SEARCH: b"), complete("It is 42 million euros [1].\nSEARCH: c")
    answer, _ = ask(folder, *script)
    assert (answer.text, answer.interrupted) == (ANSWER, "")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (("search", {"query": "copper of the mine"}), "SEARCH: copper of the mine"),
        (("read_page", {"document": "quarry.pdf", "page": "9"}), "OPEN: quarry.pdf, page 9"),
        (("compute", {"expression": "6 * 7"}), "COMPUTE: 6 * 7"),
    ],
)
def test_called_tools_do_the_same_as_lines(folder: Path, call: tuple[str, Any], line: str) -> None:
    called, endpoint = ask(folder, calling(call), complete(ANSWER))
    written, other = ask(folder, complete(line), complete(ANSWER))
    assert called.steps == written.steps
    assert called.text == written.text
    assert prompt(endpoint) == prompt(other)


def test_unknown_tool_is_explained(folder: Path) -> None:
    calls = ("shout", {"text": "a"}), ("finish", {}), ("search", "{")
    answer, endpoint = ask(folder, calling(*calls), complete(ANSWER))
    assert "There is no tool shout." in prompt(endpoint)
    assert "There is no tool finish. Use one of: search," in prompt(endpoint)
    assert answer.text == ANSWER


def rejecting(play: Play) -> Play:
    """Reject requests with tools, and play a part for others."""

    def check(exchange: Exchange) -> None:
        if "tools" in exchange.body:
            exchange.error(400, {"error": {"message": "this model does not support tools"}})
        else:
            play(exchange)

    return check


def test_endpoint_that_rejects_tools_gets_none_later(folder: Path) -> None:
    script = [*[rejecting(complete("SEARCH: copper"))] * 2, rejecting(complete(ANSWER))]
    with scripted_engine(folder, *script, **CAPABLE) as (engine, endpoint):
        answer = engine.answer(ASK_BUDGET)
        assert [("tools" in one) for one in endpoint.requests] == [True, False, False]
        assert (answer.text, answer.steps, answer.notices) == (ANSWER, ("Searched for “copper”",), ())
        engine.answer(ASK_BUDGET)
        assert len(endpoint.requests) == 4


REFUSAL = "NOT STATED: the documents do not state the height; the budget is 42 million euros [1]."


@pytest.mark.parametrize("pieces", [[REFUSAL], list(REFUSAL), [f"**NOT STATED:**{REFUSAL[11:]}"]])
def test_refusal_abstains_without_its_control_word(folder: Path, pieces: list[str]) -> None:
    with scripted_engine(folder, complete(*pieces), **CAPABLE) as (engine, _):
        events, answer = events_of(engine)
        assert_cited(engine, answer)
    assert answer.state is AnswerState.ABSTAINED
    assert not answer.gate.answerable
    assert answer.text == "The documents do not state the height; the budget is 42 million euros [1]."
    assert shown(events).casefold() == answer.text.casefold()
    assert (answer.short, answer.interrupted) == ("", "")
    row = build_answer_row(answer, None)
    assert (row["state"], row["citations"]) == ("abstained", [])
    assert row["text"] == "The documents do not state the height; the budget is 42 million euros."


def test_refusal_in_another_language_abstains(folder: Path) -> None:
    reply = complete("NOT STATED: Die Höhe der Brücke wird in den Dokumenten nicht genannt.")
    answer, _ = ask(folder, reply, question="Wie hoch ist das Budget der Brücke von Zanzibar?")
    assert answer.state is AnswerState.ABSTAINED
    assert answer.text == "Die Höhe der Brücke wird in den Dokumenten nicht genannt."


@pytest.mark.parametrize(
    "reply",
    [
        "It is 42 million euros [1]. The height is not stated.",
        "It is 42 million euros [1].\n\nNot stated: the height of the bridge.",
    ],
)
def test_partial_answer_stays_an_answer(folder: Path, reply: str) -> None:
    answer, _ = ask(folder, complete(reply))
    assert answer.state is AnswerState.ANSWERED
    assert answer.text == reply
    assert [one.document for one in answer.citations] == ["bridge.pdf"]
    assert build_answer_row(answer, None)["citations"]


def test_endpoint_that_fails_in_the_middle_leaves_its_text_and_quotes(folder: Path) -> None:
    def fail(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("The budget of the Zanzibar bridge is 42 million euros [1]. Building")
        exchange.drop()

    with scripted_engine(folder, fail, **CAPABLE) as (engine, _):
        answer = engine.answer(ASK_BUDGET)
        assert_cited(engine, answer)
    assert answer.interrupted
    assert answer.quotes_start is not None
    assert answer.written_text.startswith("The budget of the Zanzibar bridge is 42 million euros [1]. Building")
    assert "42 million" in answer.text[answer.quotes_start :]
    assert any(notice.startswith(answer.interrupted) for notice in answer.notices)
    assert {one.marker for one in answer.citations} <= {one.rank for one in answer.passages}


def test_endpoint_that_fails_at_the_second_look_is_replaced_by_quotes(folder: Path) -> None:
    answer, _ = ask(folder, complete("SEARCH: copper"), lambda exchange: exchange.error(500))
    assert answer.interrupted
    assert (answer.generator, answer.steps) == ("extractive", ("Searched for “copper”",))
    assert "42 million" in answer.text


def test_strict_question_raises_the_error(folder: Path) -> None:
    with scripted_engine(folder, lambda exchange: exchange.error(500), **CAPABLE) as (engine, _):
        query = replace(engine._searcher.build_query(ASK_BUDGET, Scope()), strict=True)
        outcome = engine._searcher.search(query, Timer())
        with pytest.raises(GeneratorError):
            engine._follow_ups._answerer.answer(query, outcome)


@pytest.mark.parametrize("strategy", ["long-context", "fid"])
def test_strategies_with_passages_keep_them(folder: Path, strategy: str) -> None:
    with scripted_engine(folder, complete(ANSWER), **CAPABLE) as (engine, endpoint):
        answer = engine.answer(ASK_BUDGET, configuration=RetrievalConfig(strategy=strategy))
    assert answer.state is AnswerState.ANSWERED
    for number in range(len(endpoint.requests)):
        assert "A search is possible" not in prompt(endpoint, number)
        assert "tools" not in endpoint.requests[number]


@pytest.mark.parametrize("values", [{"openai_context_tokens": 8192}, CAPABLE | {"model_capability": "small"}])
def test_small_model_gets_the_former_prompt(folder: Path, values: dict[str, Any]) -> None:
    with scripted_engine(folder, complete(ANSWER), **values) as (engine, endpoint):
        answer = engine.answer(ASK_BUDGET)
    [request] = endpoint.requests
    hint = re.search(r"^The text closest to the question, from \[(\d)\]: “(.*)”$", prompt(endpoint), re.MULTILINE)
    assert hint
    expected = build_messages(ASK_BUDGET, answer.passages)
    expected[-1]["content"] = expected[-1]["content"].replace("\n\nQuestion:", f"\n\n{hint[0]}\n\nQuestion:")
    assert request["messages"] == expected
    assert "tools" not in request


def test_off_topic_question_is_refused_without_a_call(folder: Path) -> None:
    answer, endpoint = ask(folder, complete(ANSWER), question=OFF_TOPIC)
    assert endpoint.requests == []
    assert (answer.state, answer.generator) == (AnswerState.ABSTAINED, "extractive")


@pytest.mark.parametrize(
    "question",
    [
        "Wie hoch ist das Budget der Brücke?",
        "Wer bezahlt die Brücke?",
        "Combien coûte le pont de Zanzibar ?",
        "桥的预算是多少？",
    ],
)
def test_question_in_another_language_is_not_refused_by_the_gate(folder: Path, question: str) -> None:
    answer, endpoint = ask(folder, complete(ANSWER), question=question)
    assert len(endpoint.requests) == 1
    assert answer.state is AnswerState.ANSWERED
    assert answer.gate.overruled == (answer.gate.score < answer.gate.threshold)


@pytest.fixture
def talk() -> Any:
    """Return a function that asks questions of a capable model in one conversation, and returns the answers."""

    def run(engine: Engine, *questions: str) -> list[Answer]:
        conversation = engine.conversations.create().conversation_id
        answers = []
        for question in questions:
            history: Sequence[Message] = engine.conversations.messages(conversation)
            engine.conversations.add_message(conversation, "user", question)
            answers.append(engine.answer(question, history=history))
            engine.conversations.add_message(conversation, "assistant", answers[-1].text, answers[-1])
        return answers

    return run


def test_capable_model_rewrites_every_question_after_the_first_in_one_call(folder: Path, talk: Any) -> None:
    copper = complete("The purity is ninety percent [1].")
    script = complete(ANSWER), complete(ASK_COPPER), copper, complete("When does building of the Zanzibar bridge end?")
    with scripted_engine(folder, *script, complete("In June of next year [1]."), **CAPABLE) as (engine, endpoint):
        first, second, third = talk(engine, ASK_BUDGET, ASK_COPPER, "And when is it done?")
    assert len(endpoint.requests) == 5
    assert (first.rewritten, second.rewritten) == ("", "")
    assert third.rewritten == "When does building of the Zanzibar bridge end?"
    assert (first.usage.calls, second.usage.calls, third.usage.calls) == (1, 2, 2)
    roles = [one["role"] for one in endpoint.requests[4]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert endpoint.requests[4]["messages"][2]["content"] == "It is 42 million euros."
    assert prompt(endpoint).count("Question: When does building of the Zanzibar bridge end?") == 1


def test_interrupted_answer_is_continued_from_its_pages(folder: Path) -> None:
    beginning = complete("The budget of the Zanzibar bridge is", finish="length")
    with scripted_engine(folder, beginning, complete(" 42 million euros [1]."), **CAPABLE) as (engine, endpoint):
        answer = engine.answer(ASK_BUDGET)
        assert answer.interrupted
        *_, whole = engine.continuations.continue_answer(answer)
        assert isinstance(whole, Answer)
        assert_cited(engine, whole)
    system, pages, written, request = endpoint.requests[1]["messages"]
    assert system == endpoint.requests[0]["messages"][0]
    assert [one["role"] for one in (pages, written, request)] == ["user", "assistant", "user"]
    assert written["content"] == "The budget of the Zanzibar bridge is"
    assert "[1] bridge.pdf, page 1\n" in pages["content"]
    assert "No further search is possible" in pages["content"]
    assert "tools" not in endpoint.requests[1]
    assert whole.written_text == "The budget of the Zanzibar bridge is 42 million euros [1]."
    assert whole.interrupted == ""


def test_stream_can_be_closed_at_any_event(folder: Path) -> None:
    with scripted_engine(folder, complete("Hm.\nSEARCH: copper"), complete(ANSWER), **CAPABLE) as (engine, _):
        close_at_each_event(lambda: engine.ask(ASK_BUDGET), 8)
        assert engine.answer(ASK_BUDGET).state is AnswerState.ANSWERED


def test_long_prompt_stays_within_the_context(folder: Path) -> None:
    """Pages, history, wishes and rules together leave a part of the budget free."""
    _, endpoint = ask(folder, complete(ANSWER), question=ASK_ROOM, context_budget=2200)
    assert sum(count_tokens(one["content"]) for one in endpoint.requests[0]["messages"]) <= 2200


def test_complete_statements_are_marked_while_the_rest_is_written(folder: Path) -> None:
    seen = threading.Event()

    def write(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("The budget is 42 million euros [1]. The budget is 57 million euros [1]. The rest")
        while not seen.wait(0.05):
            exchange.delta(".")
        exchange.delta(" is known.", finish="stop")
        exchange.event("[DONE]")
        exchange.end()

    with scripted_engine(folder, write, **CAPABLE) as (engine, _):
        text, marked = "", list[tuple[str, str]]()
        for event in engine.ask(ASK_BUDGET):
            if isinstance(event, Delta):
                text += event.text
            elif isinstance(event, Marked):
                seen.set()
                marked.append((text[event.claim.start : event.claim.end], event.claim.mark_text))
            elif isinstance(event, Answer):
                final = [(event.text[one.start : one.end], one.mark_text) for one in event.statements if one.mark]
    assert marked == [("The budget is 57 million euros", "differs from the source: 42 million euros")]
    assert final[:1] == marked
