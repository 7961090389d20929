"""Answers of a language model in the chat: citations, marks and fallbacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from rag_core.llm.answer_stream import THINKING
from tests.support.app import LENGTH, OpenPage, answered, click, conversation_of, plain_text, shown, texts
from tests.support.engines import wait_until
from tests.support.servers import Exchange, ScriptedEndpoint, complete


def break_off(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("The Harrow Bridge is 412 metres long. It")
    exchange.drop()


def break_off_in_a_name(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("The Harrow Bridge is 412 metres long. The Harrow")
    exchange.drop()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(complete("")) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "scripted")
        monkeypatch.setenv("RAG_OPENAI_RETRIES", "0")
        yield started


@pytest.fixture
def library(endpoint: ScriptedEndpoint, engine: Engine, ids: dict[str, str]) -> Engine:
    """Connect a model; return an engine with the documents about the bridge and the canal."""
    return engine


def ask(open_page: OpenPage) -> tuple[AppTest, dict[str, Any]]:
    """Ask for the length; return the page and the data of the answer."""
    app = answered(open_page().chat_input[0].set_value(LENGTH).run())
    return app, shown(app)[0]


def leaves(nodes: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [leaf for node in nodes for leaf in ([node] if node["t"] == kind else leaves(node.get("c", []), kind))]


@pytest.mark.parametrize("marker", ["", " [2]", " [8]"])
def test_missing_or_wrong_marker_is_corrected(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage, marker: str
) -> None:
    endpoint.script = [complete(f"The Harrow Bridge is 412 metres long{marker}.")]
    app, answer = ask(open_page)
    assert plain_text(answer["blocks"]) == "The Harrow Bridge is 412 metres long [1]."
    assert answer["sources"] == {"1": "bridge.pdf, page 1"}
    assert "1. The model did not cite" not in texts(app)
    app.button(key=next(button.key for button in app.button if str(button.key).endswith("_1_open"))).click().run()
    assert "The model did not cite this passage" in texts(app)


def test_differing_value_is_marked_with_its_passage(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [complete("The Harrow Bridge is 512 metres long and carries the railway [1].")]
    app, answer = ask(open_page)
    assert leaves(answer["blocks"], "verdict") == [{"t": "verdict", "s": "differs from the source: 412 metres", "n": 1}]
    assert "512 metres" in plain_text(answer["blocks"])
    assert answer["sources"]["1"] == "bridge.pdf, page 1"
    assert "512 metres long and carries the railway (differs from the source: 412 metres) [1]." in answer["copy"]
    exported = library.conversations.export_markdown(conversation_of(app)).replace("\\", "")
    assert "(differs from the source: 412 metres)" in exported


def test_unsupported_answer_is_marked_above_quotes(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [complete("Cheese ripens in *caves*.")]
    app, answer = ask(open_page)
    text = plain_text(answer["blocks"])
    assert text.startswith("Cheese ripens in caves.not found in the sources")
    assert "It is 412 metres long" in text
    assert "Nothing in this answer was found in the sources" in texts(app)
    assert "Written by " in texts(app)


def test_foreign_language_answer_is_reported_as_unchecked(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [complete("Die Brücke ist 412 Meter lang und wurde im Jahr 1931 eröffnet.")]
    app, answer = ask(open_page)
    assert plain_text(answer["blocks"]) == "Die Brücke ist 412 Meter lang und wurde im Jahr 1931 eröffnet [1]."
    assert leaves(answer["blocks"], "verdict") == []
    assert texts(app).count("another language than its sources") == 1


def test_paraphrased_refusal_is_shown_as_refusal(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [complete("The passages do not mention how long the bridge is.")]
    app, answer = ask(open_page)
    assert plain_text(answer["blocks"]) == "The passages do not mention how long the bridge is."
    assert plain_text(shown(app)[1]["blocks"]) == "Closest: bridge.pdf · p. 1 bridge.pdf · p. 2 canal.pdf · p. 1"
    assert answer["copy"] == ""


def test_interrupted_answer_is_kept_and_quotes_are_shown_on_demand(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [break_off]
    app, answer = ask(open_page)
    text = plain_text(answer["blocks"])
    assert text == "The Harrow Bridge is 412 metres long [1]. It"
    assert "stopped half" in texts(app)
    assert "Quotes from the documents follow the text" not in texts(app)
    text = plain_text(shown(click(app, "Show quotes"))[0]["blocks"])
    assert text.startswith("The Harrow Bridge is 412 metres long [1]. It")
    assert text.count("412 metres long") == 2
    assert "Quotes from the documents follow the text" in texts(app)


def test_interrupted_answer_is_continued_as_one_checked_answer(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [break_off, Exchange.drop, complete("It carries ", "the railway [1].")]
    app, _ = ask(open_page)
    app = answered(click(app, "Continue"))
    assert plain_text(shown(app)[0]["blocks"]) == "The Harrow Bridge is 412 metres long [1]. It"
    assert "Server disconnected" in texts(app)
    app = answered(click(app, "Continue"))
    answer = shown(app)[0]
    assert plain_text(answer["blocks"]) == "The Harrow Bridge is 412 metres long [1]. It carries the railway [1]."
    assert leaves(answer["blocks"], "verdict") == []
    assert "stopped half" not in texts(app)
    assert not [button for button in app.button if button.label in ("Continue", "Show quotes")]
    kept = endpoint.requests[-1]["messages"][-2]
    assert kept == {"role": "assistant", "content": "The Harrow Bridge is 412 metres long [1]. It"}
    [_, message] = library.conversations.messages(conversation_of(app))
    assert message.text == plain_text(answer["blocks"])


def test_answer_at_its_limit_is_continued(endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage) -> None:
    cut = complete("The Harrow Bridge is 412 metres long. It", finish="length")
    endpoint.script = [cut, complete("carries the railway [1].")]
    app, answer = ask(open_page)
    assert plain_text(answer["blocks"]) == "The Harrow Bridge is 412 metres long [1]. It"
    assert texts(app).count("The answer ends at the limit of 800 tokens") == 1
    app = answered(click(app, "Continue"))
    text = plain_text(shown(app)[0]["blocks"])
    assert text == "The Harrow Bridge is 412 metres long [1]. It carries the railway [1]."
    assert "ends at the limit" not in texts(app)
    assert not [button for button in app.button if button.label in ("Continue", "Show quotes")]


def test_reasoning_is_shown_as_thinking_and_can_be_stopped(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    def reason(exchange: Exchange) -> None:
        exchange.start()
        exchange.event({"choices": [{"index": 0, "delta": {"reasoning_content": "Let me see."}}]})
        exchange.hang()

    endpoint.script = [reason]
    app = open_page().chat_input[0].set_value(LENGTH).run()
    wait_until(lambda: any(one.label == THINKING for one in app.run().status))
    click(app, "Stop")
    assert "Stopped before there was an answer" in texts(answered(app.run()))


def test_continuation_follows_the_model_and_the_instructions_of_the_conversation(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [break_off, complete("It carries ", "the railway [1].")]
    app, _ = ask(open_page)
    library.conversations.set_model(conversation_of(app), "other")
    library.conversations.set_instructions(conversation_of(app), "Be formal.")
    app = answered(click(app, "Continue"))
    assert "Written by other" in texts(app)
    assert "Be formal." in endpoint.requests[-1]["messages"][-3]["content"]


def test_marker_after_an_incomplete_sentence_is_not_kept_inside_it(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [break_off_in_a_name, complete("Bridge was opened in 1931.")]
    app, _ = ask(open_page)
    app = answered(click(app, "Continue"))
    text = plain_text(shown(app)[0]["blocks"])
    assert text == "The Harrow Bridge is 412 metres long [1]. The Harrow Bridge was opened in 1931 [1]."


def test_answer_replaced_by_quotes_can_be_retried(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [lambda exchange: exchange.error(500), complete("The Harrow Bridge is 412 metres long [1].")]
    app, answer = ask(open_page)
    assert "It is 412 metres long" in plain_text(answer["blocks"])
    assert not [button for button in app.button if button.label in ("Continue", "Show quotes")]
    app = answered(click(app, "Ask again"))
    assert plain_text(shown(app)[0]["blocks"]) == "The Harrow Bridge is 412 metres long [1]."


def test_continuation_without_a_model_explains_itself(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.script = [break_off]
    app, _ = ask(open_page)
    monkeypatch.setattr(type(library.models), "active", lambda models, model=None: None)
    app = answered(click(app, "Continue"))
    assert "Connect one on the Settings page" in texts(app)
    assert plain_text(shown(app)[0]["blocks"]) == "The Harrow Bridge is 412 metres long [1]. It"
