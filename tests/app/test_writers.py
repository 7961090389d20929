"""The chooser of the model beside the input, and instructions for answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from rag_core.types.conversations import MAX_INSTRUCTION_CHARS
from tests.support.app import LENGTH, OpenPage, answer_texts, ask, click, conversation_of, texts
from tests.support.servers import ScriptedEndpoint, complete, serving

WRITTEN = "The Harrow Bridge is 412 metres long [1]."


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    """Start an endpoint of two models, and set one of them."""
    with ScriptedEndpoint(serving("large", "small", answer=complete(WRITTEN))) as started:
        monkeypatch.setenv("RAG_OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "small")
        monkeypatch.setenv("RAG_OPENAI_RETRIES", "0")
        yield started


def models_asked(endpoint: ScriptedEndpoint) -> list[str]:
    return [request["model"] for request in endpoint.requests]


def chooser(app: AppTest) -> object:
    (found,) = [one for one in (*app.radio, *app.selectbox) if one.label == "Next answers in this conversation"]
    return found


def choose(app: AppTest, value: str) -> AppTest:
    chooser(app).set_value(value).run()
    assert not app.exception, app.exception
    return app


def test_without_model_the_row_links_to_the_form(open_page: OpenPage, bridge: str) -> None:
    app = open_page()
    pages = [one.proto.page for one in app.get("page_link") if one.proto.label == "Connect a model"]
    assert pages == ["admin"] * 2
    app.button(key="hide_model_offer").click().run()
    assert [one.proto.label for one in app.get("page_link")].count("Connect a model") == 1
    assert not [one for one in app.text_area if one.label.startswith("Instructions")]


def test_models_are_listed_only_on_request(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    app = open_page()
    assert [one.replace("\\", "") for one in chooser(app).options] == ["small (model in use)", "Quotes only"]
    assert endpoint.paths == []
    click(app, "List models")
    assert chooser(app).options == ["small (model in use)", "Quotes only", "large"]
    assert endpoint.paths == ["/v1/models"]
    open_page()
    assert endpoint.paths == ["/v1/models"]


def test_choice_belongs_to_its_conversation(
    open_page: OpenPage, endpoint: ScriptedEndpoint, engine: Engine, bridge: str
) -> None:
    quoting = choose(open_page(), "")
    assert not [one for one in quoting.radio if one.key == "strategy"]
    ask(quoting, LENGTH)
    assert models_asked(endpoint) == []
    first = conversation_of(quoting)
    assert engine.conversations.get(first).model == ""
    other = open_page()
    assert chooser(other).value == "\0"
    click(other, "List models")
    ask(choose(other, "large"), LENGTH)
    assert models_asked(endpoint) == ["large"]
    assert "Written by large" in texts(other).replace("\\", "")
    ask(quoting, LENGTH)
    assert models_asked(endpoint) == ["large"]
    reloaded = open_page(c=first)
    assert chooser(reloaded).value == ""
    ask(choose(reloaded, "\0"), LENGTH)
    assert models_asked(endpoint) == ["large", "small"]
    assert engine.conversations.get(first).model is None
    shown = texts(open_page(c=first)).replace("\\", "")
    assert shown.count("Written by small") == 1
    assert "Answer: quoted from the documents" in shown


def test_new_chat_starts_with_the_model_in_use(open_page: OpenPage, endpoint: ScriptedEndpoint, bridge: str) -> None:
    app = ask(choose(open_page(), ""), LENGTH)
    click(app, "New chat")
    assert chooser(app).value == "\0"


def test_endpoint_without_list_is_reported(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = [lambda exchange: exchange.error(404)]
    app = click(open_page(), "List models")
    assert "HTTP 404" in app.error[0].value.replace("\\", "")
    assert chooser(app).options == ["small (model in use)", "Quotes only"]


def test_instructions_of_a_conversation_reach_the_model(
    open_page: OpenPage, endpoint: ScriptedEndpoint, engine: Engine, bridge: str
) -> None:
    app = open_page()
    field = next(one for one in app.text_area if one.label == "Instructions for answers in this conversation")
    field.set_value("x" * (MAX_INSTRUCTION_CHARS + 1)).run()
    assert "Not saved: 1,001 characters; the limit is 1,000." in texts(app)
    field = next(one for one in app.text_area if one.label == "Instructions for answers in this conversation")
    field.set_value("Answer in German.").run()
    assert "Not saved" not in texts(app)
    assert "have no effect" not in texts(app)
    ask(app, LENGTH)
    assert "<wishes>\nAnswer in German.\n</wishes>" in endpoint.requests[0]["messages"][-1]["content"]
    assert engine.conversations.get(conversation_of(app)).instructions == "Answer in German."
    assert "412 metres" in answer_texts(app)[0]
    ask(open_page(), LENGTH)
    assert "wishes" not in str(endpoint.requests[1])
    reloaded = open_page(c=conversation_of(app))
    (kept,) = [one for one in reloaded.text_area if one.label == "Instructions for answers in this conversation"]
    assert kept.value == "Answer in German."
    assert "so instructions have no effect" in texts(choose(reloaded, ""))


def test_instructions_for_every_conversation(
    open_page: OpenPage, endpoint: ScriptedEndpoint, engine: Engine, bridge: str
) -> None:
    admin = open_page("admin")
    field = admin.text_area(key="admin_instructions")
    field.set_value("x" * (MAX_INSTRUCTION_CHARS + 1))
    admin.button(key="save_instructions").click().run()
    assert "The instructions have 1,001 characters; the limit is 1,000." in texts(admin).replace("\\", "")
    assert engine.preferences.instructions == ""
    admin.text_area(key="admin_instructions").set_value("Be formal.")
    admin.button(key="save_instructions").click().run()
    assert engine.preferences.instructions == "Be formal."
    app = open_page()
    assert "The instructions on the Settings page apply too, before these." in texts(app)
    ask(app, LENGTH)
    assert "<wishes>\nBe formal.\n</wishes>" in endpoint.requests[0]["messages"][-1]["content"]


def test_admin_says_that_quotes_follow_no_instructions(open_page: OpenPage) -> None:
    assert "instructions have no effect until a model writes" in texts(open_page("admin"))
