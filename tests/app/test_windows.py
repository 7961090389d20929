"""One conversation in two windows: what one of them has not seen yet is neither lost nor mixed up."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from tests.support.app import OpenPage, answered, conversation_of, texts
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf
from tests.support.servers import Exchange, ScriptedEndpoint

BRIDGE = make_pdf(
    "The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway over the river Tell.",
    "Maintenance of the Harrow Bridge costs 2.4 million crowns a year, paid by the county of Ostmark.",
)
LENGTH, OPENED, COSTS = "How long is the Harrow Bridge?", "When was it opened?", "What does its maintenance cost?"


@pytest.fixture
def window(open_page: OpenPage, engine: Engine) -> AppTest:
    """A window in which one question has been answered."""
    add_document(engine, "bridge.pdf", BRIDGE)
    return ask(open_page(), LENGTH)


def ask(app: AppTest, question: str) -> AppTest:
    return answered(app.chat_input[0].set_value(question).run())


def said(engine: Engine, app: AppTest) -> list[str]:
    """The questions of a conversation, and "answer" for each answer."""
    messages = engine.conversations.messages(conversation_of(app))
    return [one.text if one.role == "user" else "answer" for one in messages]


def click(app: AppTest, label: str, within: str = "") -> AppTest:
    return next(one for one in app.button if one.label == label and str(one.key).startswith(within)).click().run()


def given_back(app: AppTest) -> str:
    """What the page has put into the field for the reader to send."""
    assert "in the input field again" in app.toast[0].value
    return str(app.chat_input[0].proto.value)


def test_asking_again_twice_gives_one_answer(window: AppTest, open_page: OpenPage, engine: Engine) -> None:
    other = open_page(c=conversation_of(window))
    answered(click(window, "Ask again"))
    answered(click(other, "Ask again"))
    assert said(engine, window) == [LENGTH, "answer"]


def test_what_another_window_asked_meanwhile_is_not_replaced(
    window: AppTest, open_page: OpenPage, engine: Engine
) -> None:
    other = open_page(c=conversation_of(window))
    third = open_page(c=conversation_of(window))
    ask(other, OPENED)
    answered(click(window, "Ask again"))
    field = next(one for one in third.text_area if str(one.key).startswith("edit_"))
    field.set_value(COSTS)
    answered(click(third, "Ask", within="edit_"))
    assert said(engine, other) == [LENGTH, "answer", OPENED, "answer"]
    assert given_back(third) == COSTS


def test_a_question_to_a_deleted_conversation_is_kept_for_a_new_one(
    window: AppTest, open_page: OpenPage, engine: Engine
) -> None:
    other = open_page(c=conversation_of(window))
    third = open_page(c=conversation_of(window))
    engine.conversations.delete(conversation_of(window))
    document = engine.documents.list()[0].document_id
    window.chat_input[0].set_value(OPENED).run()
    for app in (window, click(other, "Ask again"), third.multiselect[0].select(document).run()):
        assert not app.exception
        assert "no longer stored" in texts(app)
        assert "c" not in app.query_params
    assert given_back(window) == OPENED
    ask(window, OPENED)
    assert said(engine, window) == [OPENED, "answer"]


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Until this is set, a model writes no end to its answers."""
    event = threading.Event()

    def slowly(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("It is 412 metres long [1].")
        event.wait(60)
        exchange.delta(finish="stop")
        exchange.event("[DONE]")
        exchange.end()

    with ScriptedEndpoint(slowly) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "slow")
        yield event
        event.set()


def test_a_second_question_waits_for_the_answer_to_the_first(
    go_on: threading.Event, open_page: OpenPage, engine: Engine
) -> None:
    add_document(engine, "bridge.pdf", BRIDGE)
    identity = engine.conversations.create().conversation_id
    window, other = open_page(c=identity), open_page(c=identity)
    window.chat_input[0].set_value(LENGTH).run()
    other.chat_input[0].set_value(OPENED).run()
    assert given_back(other) == OPENED
    go_on.set()
    assert said(engine, answered(window)) == [LENGTH, "answer"]
    ask(answered(other), OPENED)
    assert said(engine, other) == [LENGTH, "answer", OPENED, "answer"]
