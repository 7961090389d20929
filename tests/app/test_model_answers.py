"""What a language model writes, as the chat shows it: cited, marked, and never taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from tests.support.app import OpenPage, answered, conversation_of, plain_text, shown, texts
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf
from tests.support.servers import Exchange, ScriptedEndpoint, complete

BRIDGE = make_pdf("The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway.")
CANAL = make_pdf("The Lindow Canal was dug between 1803 and 1811. Its nine locks lift boats by 31 metres.")
LENGTH = "How long is the Harrow Bridge?"


def break_off(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("The Harrow Bridge is 412 metres long. It")
    exchange.drop()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(complete("")) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "scripted")
        monkeypatch.setenv("RAG_OPENAI_RETRIES", "0")
        yield started


@pytest.fixture
def library(endpoint: ScriptedEndpoint, engine: Engine) -> Engine:
    """Two documents, with a model connected."""
    add_document(engine, "bridge.pdf", BRIDGE)
    add_document(engine, "canal.pdf", CANAL)
    return engine


def ask(open_page: OpenPage) -> tuple[AppTest, dict[str, Any]]:
    """Ask for the length; returns the page and what it shows of the answer."""
    app = answered(open_page().chat_input[0].set_value(LENGTH).run())
    return app, shown(app)[0]


def leaves(nodes: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    found = []
    for node in nodes:
        found += [node] if node["t"] == kind else leaves(node.get("c", []), kind)
    return found


@pytest.mark.parametrize("marker", ["", " [2]", " [8]"])
def test_missing_or_wrong_marker_becomes_a_citation_that_says_so(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage, marker: str
) -> None:
    endpoint.script = [complete(f"The Harrow Bridge is 412 metres long{marker}.")]
    app, answer = ask(open_page)
    assert plain_text(answer["blocks"]) == "The Harrow Bridge is 412 metres long [1]."
    assert answer["sources"] == {"1": "bridge.pdf, page 1"}
    assert "1. The model did not cite" not in texts(app)
    app.button(key=next(one.key for one in app.button if str(one.key).endswith("_1_open"))).click().run()
    assert "The model did not cite this passage" in texts(app)


def test_value_that_differs_is_marked_and_names_its_passage(
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


def test_answer_that_is_not_in_the_sources_stays_marked_above_quotes(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [complete("Cheese ripens in *caves*.")]
    app, answer = ask(open_page)
    text = plain_text(answer["blocks"])
    assert text.startswith("Cheese ripens in caves.not found in the sources")
    assert "It is 412 metres long" in text
    assert "Nothing in this answer was found in the sources" in texts(app)
    assert "Written by openai" in texts(app)


def test_answer_in_another_language_is_shown_and_says_once_that_it_was_not_checked(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [complete("Die Brücke ist 412 Meter lang und wurde im Jahr 1931 eröffnet.")]
    app, answer = ask(open_page)
    assert plain_text(answer["blocks"]) == "Die Brücke ist 412 Meter lang und wurde im Jahr 1931 eröffnet [1]."
    assert leaves(answer["blocks"], "verdict") == []
    assert texts(app).count("another language than its sources") == 1


def test_refusal_in_the_model_s_own_words_is_shown_as_a_refusal(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [complete("The passages do not mention how long the bridge is.")]
    app, answer = ask(open_page)
    assert plain_text(answer["blocks"]) == "The passages do not mention how long the bridge is."
    assert "Closest passages" in texts(app)
    assert answer["copy"] == ""


def test_endpoint_that_breaks_off_keeps_what_was_written_above_quotes(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [break_off]
    app, answer = ask(open_page)
    text = plain_text(answer["blocks"])
    assert text.startswith("The Harrow Bridge is 412 metres long [1]. It")
    assert text.count("412 metres long") == 2
    assert "stopped half" in texts(app)
    assert "Quotes from the documents follow the text" in texts(app)
