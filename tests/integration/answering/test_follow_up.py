"""Follow-up questions: completed from the conversation before the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_core.engine import Engine
from rag_core.store.serialization import answer_from_json, answer_to_json
from rag_core.types.answers import Answer, AnswerState, Stage
from rag_core.types.conversations import Message
from rag_core.types.usage import Usage
from tests.support.engines import (
    ASK_BUDGET,
    ASK_PENGUINS,
    BUDGET,
    close_at_each_event,
    indexed,
    open_library,
    scripted_engine,
)
from tests.support.servers import Play, ScriptedEndpoint, complete

FOLLOW_UP = "When does building of it end?"
COMPLETED = "When does building of it end (budget Zanzibar bridge)?"
CLEAR = "When does the building of the Zanzibar bridge end?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three documents; tests must not change them."""
    with open_library(tmp_path_factory.mktemp("conversing") / "data") as engine:
        yield engine


def talk(engine: Engine, *questions: str) -> Sequence[Message]:
    """Ask questions in a new conversation; return its messages."""
    conversation_id = engine.conversations.create().conversation_id
    for question in questions:
        history = engine.conversations.messages(conversation_id)
        engine.conversations.add_message(conversation_id, "user", question)
        answer = engine.answer(question, history=history)
        engine.conversations.add_message(conversation_id, "assistant", answer.text, answer)
    return engine.conversations.messages(conversation_id)


def last_answer(engine: Engine, *questions: str) -> Answer:
    """Ask questions in a new conversation; return the answer to the last one."""
    answer = talk(engine, *questions)[-1].answer
    assert answer is not None
    return answer


def test_follow_up_is_completed_before_the_search(library: Engine) -> None:
    answer = last_answer(library, ASK_BUDGET, FOLLOW_UP)
    assert (answer.question, answer.rewritten) == (FOLLOW_UP, COMPLETED)
    assert answer.state is AnswerState.ANSWERED
    assert "June" in answer.text
    assert answer.timings_ms["rewrite"] >= 0


def test_first_question_is_not_rewritten(library: Engine) -> None:
    events = list(library.ask(FOLLOW_UP))
    assert not any(isinstance(event, Stage) and event.name == "rewrite" for event in events)


def test_corrected_rewriting_is_searched_literally(library: Engine) -> None:
    history = talk(library, ASK_PENGUINS)
    answer = library.answer(FOLLOW_UP, history=history, search_for=f" {CLEAR} ")
    assert (answer.question, answer.rewritten) == (FOLLOW_UP, CLEAR)
    assert answer.citations[0].document == "bridge.pdf"
    assert library.answer(ASK_BUDGET, history=history, search_for=ASK_BUDGET).rewritten == ""


def test_stream_of_follow_up_can_be_closed_early(library: Engine) -> None:
    history = talk(library, ASK_BUDGET)
    close_at_each_event(lambda: library.ask(FOLLOW_UP, history=history), 4)
    assert library.answer(FOLLOW_UP, history=history).state is AnswerState.ANSWERED


def test_rewriting_is_stored_and_may_be_missing(library: Engine) -> None:
    answer = last_answer(library, ASK_BUDGET, FOLLOW_UP)
    stored = answer_to_json(answer)
    assert answer_from_json(stored).rewritten == COMPLETED
    older = {name: value for name, value in stored.items() if name not in ("rewritten", "follow_ups")}
    assert answer_from_json(older).rewritten == ""


@contextmanager
def asking(folder: Path, *script: Play, **values: Any) -> Iterator[tuple[Engine, ScriptedEndpoint]]:
    """Open an engine with a language model and one document."""
    with scripted_engine(folder, *script, **values) as (engine, endpoint):
        indexed(engine, "bridge.pdf", BUDGET)
        yield engine, endpoint


FIRST = complete("It is 42 million euros [1].")
UNCLEAR = "when does the building end"


def test_model_completes_questions_that_no_rule_can(tmp_path: Path) -> None:
    script = FIRST, complete(f"{CLEAR}\n"), complete("In June [1].")
    with asking(tmp_path / "data", *script) as (engine, endpoint):
        answer = last_answer(engine, ASK_BUDGET, UNCLEAR)
        assert answer.rewritten == CLEAR
        prompt = str(endpoint.requests[1]["messages"])
        assert "Reader: What is the budget of the Zanzibar bridge?" in prompt
        assert "42 million euros." in prompt
        assert "of the Zanzibar bridge end?" in str(endpoint.requests[2]["messages"][-1])


@pytest.mark.parametrize(
    "reply",
    [
        f"Rewritten question: {CLEAR}",
        f"Here is the question:\n\n**{CLEAR}**",
        f"```\n{CLEAR}\n```",
    ],
)
def test_text_around_a_rewriting_is_removed(tmp_path: Path, reply: str) -> None:
    with asking(tmp_path / "data", FIRST, complete(reply), FIRST) as (engine, _):
        answer = last_answer(engine, ASK_BUDGET, UNCLEAR)
        assert answer.rewritten == CLEAR


def test_model_is_not_asked_about_question_with_its_subject(tmp_path: Path) -> None:
    with asking(tmp_path / "data", FIRST) as (engine, endpoint):
        answer = last_answer(engine, ASK_BUDGET, ASK_BUDGET)
        assert answer.rewritten == ""
        assert len(endpoint.requests) == 2


def test_failing_model_leaves_the_rules_and_a_notice(tmp_path: Path) -> None:
    with asking(tmp_path / "data", openai_base_url="http://127.0.0.1:9/v1") as (engine, _):
        answer = last_answer(engine, ASK_BUDGET, FOLLOW_UP)
        assert answer.rewritten == COMPLETED
        assert answer.notices[0].endswith("The question was completed by rules instead.")


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is June of next year, as you can see.\nIs there more?",
        "Tartan zebras sing?",
        "word " * 99,
        "?",
        "The building of the Zanzibar bridge ends in June.",
    ],
)
def test_invalid_rewriting_is_replaced_by_the_rules(tmp_path: Path, reply: str) -> None:
    script = FIRST, complete(reply), complete("In June [1].")
    with asking(tmp_path / "data", *script) as (engine, _):
        answer = last_answer(engine, ASK_BUDGET, FOLLOW_UP)
        assert answer.rewritten == COMPLETED
        assert "by rules instead" in answer.notices[0]


def test_usage_of_rewriting_is_part_of_the_answer(tmp_path: Path) -> None:
    script = FIRST, complete(f"{CLEAR}\n"), complete("In June [1].")
    with asking(tmp_path / "data", *script) as (engine, _):
        first, second = (message.answer for message in talk(engine, ASK_BUDGET, UNCLEAR)[1::2])
        assert first is not None
        assert second is not None
        assert (first.usage.calls, second.usage.calls) == (1, 2)
        assert second.usage.estimated
        stored = answer_to_json(second)
        assert answer_from_json(stored).usage == second.usage
        older = {name: value for name, value in stored.items() if name != "usage"}
        assert answer_from_json(older).usage == Usage()
