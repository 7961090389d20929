"""Questions that lean on earlier ones: searched for in words that stand alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rag_core.answering.follow_up import Rewriter
from rag_core.engine import Engine
from rag_core.store.serialization import answer_from_json, answer_to_json
from rag_core.types import AnswerState, Message, Stage, Usage
from tests.support.engines import ASK_BUDGET, ASK_PENGUINS, BUDGET, COPPER, PENGUINS, indexed, opened
from tests.support.servers import ScriptedEndpoint, complete

FOLLOW_UP = "When does building of it end?"
COMPLETED = "When does building of the Zanzibar bridge end?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three documents; no test that uses it may change them."""
    with opened(tmp_path_factory.mktemp("conversing") / "data") as made:
        for name, text in (("bridge.pdf", BUDGET), ("birds.pdf", PENGUINS), ("mine.pdf", COPPER)):
            indexed(made, name, text)
        yield made


def talk(engine: Engine, *questions: str) -> Sequence[Message]:
    """Ask in a conversation of its own; returns its messages."""
    identity = engine.conversations.create().conversation_id
    for question in questions:
        history = engine.conversations.messages(identity)
        engine.conversations.add_message(identity, "user", question)
        answer = engine.answer(question, history=history)
        engine.conversations.add_message(identity, "assistant", answer.text, answer)
    return engine.conversations.messages(identity)


def test_a_follow_up_is_searched_for_as_it_is_meant(library: Engine) -> None:
    answer = talk(library, ASK_BUDGET, FOLLOW_UP)[-1].answer
    assert answer is not None
    assert (answer.question, answer.rewritten) == (FOLLOW_UP, COMPLETED)
    assert answer.state is AnswerState.ANSWERED
    assert "June" in answer.text
    assert answer.timings_ms["rewrite"] >= 0


def test_a_chain_of_follow_ups_keeps_what_it_is_about(library: Engine) -> None:
    messages = talk(library, ASK_BUDGET, FOLLOW_UP, "And what is its budget?")
    answer = messages[-1].answer
    assert answer is not None
    assert answer.rewritten == "And what is the Zanzibar bridge’s budget?"
    assert "42 million" in answer.text


def test_a_question_that_stands_alone_is_searched_for_as_it_is(library: Engine) -> None:
    answer = talk(library, ASK_BUDGET, ASK_PENGUINS)[-1].answer
    assert answer is not None
    assert (answer.question, answer.rewritten) == (ASK_PENGUINS, "")
    assert answer.citations[0].document == "birds.pdf"


def test_the_first_question_is_not_held_against_a_conversation(library: Engine) -> None:
    events = list(library.ask(FOLLOW_UP))
    assert not any(isinstance(event, Stage) and event.name == "rewrite" for event in events)


def test_a_corrected_rewriting_is_searched_for_word_by_word(library: Engine) -> None:
    history = talk(library, ASK_PENGUINS)
    answer = library.answer(FOLLOW_UP, history=history, search_for=f" {COMPLETED} ")
    assert (answer.question, answer.rewritten) == (FOLLOW_UP, COMPLETED)
    assert answer.citations[0].document == "bridge.pdf"
    assert library.answer(ASK_BUDGET, history=history, search_for=ASK_BUDGET).rewritten == ""


def test_a_follow_up_can_be_left_half_way(library: Engine) -> None:
    history = talk(library, ASK_BUDGET)
    for number in range(4):
        stream = library.ask(FOLLOW_UP, history=history)
        for _ in range(number):
            next(stream)
        stream.close()  # type: ignore[attr-defined]
    assert library.answer(FOLLOW_UP, history=history).state is AnswerState.ANSWERED


def test_the_rewriting_is_stored_and_older_answers_have_none(library: Engine) -> None:
    answer = talk(library, ASK_BUDGET, FOLLOW_UP)[-1].answer
    assert answer is not None
    stored = answer_to_json(answer)
    assert answer_from_json(stored).rewritten == COMPLETED
    older = {name: value for name, value in stored.items() if name not in ("rewritten", "follow_ups")}
    assert answer_from_json(older).rewritten == ""


# with an endpoint


def asking(endpoint: ScriptedEndpoint | str, folder: Path) -> Engine:
    url = endpoint if isinstance(endpoint, str) else endpoint.url
    engine = opened(folder, openai_base_url=url, openai_model="scripted", openai_api_key="k", openai_retries=0)
    indexed(engine, "bridge.pdf", BUDGET)
    return engine


FIRST = complete("It is 42 million euros [1].")


def test_an_endpoint_completes_what_no_rule_can(tmp_path: Path) -> None:
    script = FIRST, complete("When does the building of the Zanzibar bridge end?\n"), complete("In June [1].")
    with ScriptedEndpoint(*script) as endpoint, asking(endpoint, tmp_path / "data") as engine:
        answer = talk(engine, ASK_BUDGET, "when does the building end")[-1].answer
        assert answer is not None
        assert answer.rewritten == "When does the building of the Zanzibar bridge end?"
        asked = str(endpoint.requests[1]["messages"])
        assert "Reader: What is the budget of the Zanzibar bridge?" in asked
        assert "42 million euros." in asked
        assert "of the Zanzibar bridge end?" in str(endpoint.requests[2]["messages"][-1])


@pytest.mark.parametrize(
    "said",
    [
        "Rewritten question: When does the building of the Zanzibar bridge end?",
        "Here is the question:\n\n**When does the building of the Zanzibar bridge end?**",
        "```\nWhen does the building of the Zanzibar bridge end?\n```",
    ],
)
def test_what_stands_around_a_rewriting_is_not_searched_for(tmp_path: Path, said: str) -> None:
    with ScriptedEndpoint(FIRST, complete(said), FIRST) as endpoint, asking(endpoint, tmp_path / "data") as engine:
        answer = talk(engine, ASK_BUDGET, "when does the building end")[-1].answer
        assert answer is not None
        assert answer.rewritten == "When does the building of the Zanzibar bridge end?"


def test_an_endpoint_is_not_asked_about_a_question_that_names_its_subject(tmp_path: Path) -> None:
    with ScriptedEndpoint(FIRST) as endpoint, asking(endpoint, tmp_path / "data") as engine:
        answer = talk(engine, ASK_BUDGET, ASK_BUDGET)[-1].answer
        assert answer is not None
        assert answer.rewritten == ""
        assert len(endpoint.requests) == 2


def test_a_failing_endpoint_leaves_the_rules_and_a_notice(tmp_path: Path) -> None:
    with asking("http://127.0.0.1:9/v1", tmp_path / "data") as engine:
        answer = talk(engine, ASK_BUDGET, FOLLOW_UP)[-1].answer
        assert answer is not None
        assert answer.rewritten == COMPLETED
        assert answer.notices[0].endswith("The question was completed by rules instead.")


@pytest.mark.parametrize(
    "said",
    [
        "The answer is June of next year, as you can see.\nIs there more?",
        "Tartan zebras sing?",
        "word " * 99,
        "?",
        "The building of the Zanzibar bridge ends in June.",
    ],
)
def test_what_is_no_rewriting_is_not_used(tmp_path: Path, said: str) -> None:
    script = FIRST, complete(said), complete("In June [1].")
    with ScriptedEndpoint(*script) as endpoint, asking(endpoint, tmp_path / "data") as engine:
        answer = talk(engine, ASK_BUDGET, FOLLOW_UP)[-1].answer
        assert answer is not None
        assert answer.rewritten == COMPLETED
        assert "by rules instead" in answer.notices[0]


def test_without_a_model_the_rules_say_nothing_about_it() -> None:
    assert Rewriter(None).rewrite("Why?", []).notices == ()


def test_the_usage_of_the_rewriting_is_part_of_the_answers(tmp_path: Path) -> None:
    script = FIRST, complete("When does the building of the Zanzibar bridge end?\n"), complete("In June [1].")
    with ScriptedEndpoint(*script) as endpoint, asking(endpoint, tmp_path / "data") as engine:
        first, second = (message.answer for message in talk(engine, ASK_BUDGET, "when does the building end")[1::2])
        assert first is not None
        assert second is not None
        assert (first.usage.calls, second.usage.calls) == (1, 2)
        assert second.usage.estimated
        stored = answer_to_json(second)
        assert answer_from_json(stored).usage == second.usage
        older = {name: value for name, value in stored.items() if name != "usage"}
        assert answer_from_json(older).usage == Usage()
