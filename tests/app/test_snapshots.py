"""The Snapshots page, and snapshots on the Chat and Lab pages."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from tests.support.app import LENGTH, OpenPage, add, answered, shown, texts
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf

FORMER, LATER = (
    make_pdf(f"The Harrow Bridge is {length} metres long. It was opened in 1931.") for length in (412, 433)
)


@pytest.fixture
def library(engine: Engine) -> Engine:
    """Return an engine with a document that was replaced after the snapshot "first"."""
    add(engine, bridge=FORMER)
    engine.snapshots.create("first")
    add_document(engine, "bridge.pdf", LATER)
    return engine


def marked(app: AppTest) -> list[str]:
    """Return the marked texts of the page."""

    def find(node: object) -> list[str]:
        if isinstance(node, list):
            return [text for one in node for text in find(one)]
        if isinstance(node, dict):
            return [node["s"]] if node.get("t") == "mark" else find(list(node.values()))
        return []

    return [text for one in shown(app, "footnote_richtext") for text in find(one)]


def test_snapshot_is_created_and_deleted(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=FORMER)
    app = open_page("snapshots")
    app.text_input(key="snapshot_name").set_value("Spring")
    app.button("FormSubmitter:snapshot_form-Create snapshot").click().run()
    assert [one.name for one in engine.snapshots.list()] == ["Spring"]
    assert "**Spring**" in texts(app)
    assert "1 document · unchanged since" in texts(app)
    app.button(key=f"delete_snapshot_{engine.snapshots.list()[0].snapshot_id}").click().run()
    assert engine.snapshots.list() == []


def test_unusable_name_is_reported(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=FORMER)
    app = open_page("snapshots")
    app.button("FormSubmitter:snapshot_form-Create snapshot").click().run()
    assert "The name of the snapshot is empty" in texts(app)


def test_conversation_as_of_a_snapshot(open_page: OpenPage, library: Engine) -> None:
    app = open_page()
    choice = next(one for one in app.selectbox if one.label == "As of")
    choice.set_value("first").run()
    assert "questions are answered from what the documents said then" in texts(app)
    app.chat_input[0].set_value(LENGTH).run()
    answered(app)
    [conversation] = library.conversations.list()
    assert conversation.scope.as_of == "first"
    answer = library.conversations.messages(conversation.conversation_id)[-1].answer
    assert answer is not None
    assert "412" in answer.text
    assert f"As of {answer.as_of}" in texts(app).replace("\\", "")
    choice = next(one for one in app.selectbox if one.label == "As of")
    choice.set_value("").run()
    assert library.conversations.list()[0].scope.as_of == ""


def test_choice_is_hidden_without_snapshots(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=FORMER)
    assert "As of" not in [one.label for one in open_page().selectbox]
    assert "Then and now" not in texts(open_page("lab", question=LENGTH))


def test_lab_compares_two_snapshots(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab", question=LENGTH)
    app.button(key="lab_compare_snapshots").click().run()
    assert not app.exception, app.exception
    assert {"412", "433"} <= set(marked(app))
    assert "only on this side" in texts(app)
    add_document(library, "bridge.pdf", make_pdf("The Harrow Bridge is 440 metres long."))
    app.run()
    assert "433" not in marked(app)
    app.button(key="lab_compare_snapshots").click().run()
    assert {"412", "440"} <= set(marked(app))


def test_lab_asks_without_passages_only_with_a_model(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab", question=LENGTH)
    assert "Connect a language model" in texts(app)
    assert "lab_ask_closed_book" not in [one.key for one in app.button]
