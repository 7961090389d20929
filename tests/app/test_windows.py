"""One conversation in several windows, some of which are out of date."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from tests.support.app import LENGTH, OpenPage, answered, ask, click, conversation_of, texts
from tests.support.servers import Exchange, ScriptedEndpoint

OPENED, COSTS = "When was it opened?", "What does its maintenance cost?"


@pytest.fixture
def window(open_page: OpenPage, bridge: str) -> AppTest:
    """Return a window with one answered question."""
    return ask(open_page(), LENGTH)


def turns(engine: Engine, app: AppTest) -> list[str]:
    """Return the questions of a conversation, and "answer" for each answer."""
    messages = engine.conversations.messages(conversation_of(app))
    return [message.text if message.role == "user" else "answer" for message in messages]


def returned_question(app: AppTest) -> str:
    """Return the question that the page has put back into the input field."""
    assert "in the input field again" in app.toast[0].value
    return str(app.chat_input[0].proto.value)


def test_answer_replaced_in_two_windows_is_stored_once(window: AppTest, open_page: OpenPage, engine: Engine) -> None:
    other = open_page(c=conversation_of(window))
    answered(click(window, "Ask again"))
    answered(click(other, "Ask again"))
    assert turns(engine, window) == [LENGTH, "answer"]


def test_later_turns_of_another_window_are_not_replaced(window: AppTest, open_page: OpenPage, engine: Engine) -> None:
    other = open_page(c=conversation_of(window))
    third = click(open_page(c=conversation_of(window)), "Edit question")
    ask(other, OPENED)
    answered(click(window, "Ask again"))
    field = next(field for field in third.text_area if str(field.key).startswith("edit_"))
    field.set_value(COSTS)
    answered(click(third, "Ask", key="edit_"))
    assert turns(engine, other) == [LENGTH, "answer", OPENED, "answer"]
    assert returned_question(third) == COSTS


def test_question_to_deleted_conversation_is_returned(window: AppTest, open_page: OpenPage, engine: Engine) -> None:
    other = open_page(c=conversation_of(window))
    third = open_page(c=conversation_of(window))
    engine.conversations.delete(conversation_of(window))
    document = engine.documents.list()[0].document_id
    window.chat_input[0].set_value(OPENED).run()
    for app in (window, click(other, "Ask again"), third.multiselect[0].select(document).run()):
        assert not app.exception
        assert "no longer stored" in texts(app)
        assert "c" not in app.query_params
    assert returned_question(window) == OPENED
    ask(window, OPENED)
    assert turns(engine, window) == [OPENED, "answer"]


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Return an event that a model waits for before it ends its answers."""
    event = threading.Event()

    def slowly(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("It is 412 metres long [1].")
        event.wait(60)
        exchange.finish()

    with ScriptedEndpoint(slowly) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "slow")
        yield event
        event.set()


def test_question_during_an_answer_is_returned(
    go_on: threading.Event, open_page: OpenPage, engine: Engine, bridge: str
) -> None:
    conversation_id = engine.conversations.create().conversation_id
    window, other = open_page(c=conversation_id), open_page(c=conversation_id)
    window.chat_input[0].set_value(LENGTH).run()
    other.chat_input[0].set_value(OPENED).run()
    assert returned_question(other) == OPENED
    go_on.set()
    assert turns(engine, answered(window)) == [LENGTH, "answer"]
    ask(answered(other), OPENED)
    assert turns(engine, other) == [LENGTH, "answer", OPENED, "answer"]
