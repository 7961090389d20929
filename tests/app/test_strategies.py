"""How a question is searched for: chosen beside the input, told with the answer, measured on Evaluate."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from tests.support.app import OpenPage, conversation_of, plain_text, settle, shown, texts
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf
from tests.support.servers import ScriptedEndpoint, complete

BRIDGE = make_pdf("The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway.")
LENGTH = "How long is the Harrow Bridge?"
QUERIES = complete("size of the Harrow Bridge\nHarrow railway crossing")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    """An endpoint for the app, whose script a test writes."""
    with ScriptedEndpoint(complete("It is 412 metres long [1].")) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("RAG_OPENAI_RETRIES", "0")
        yield started


@pytest.fixture
def endpoint(served: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch) -> ScriptedEndpoint:
    """The same, and a model of it set."""
    monkeypatch.setenv("RAG_OPENAI_MODEL", "scripted")
    return served


def ask(app: AppTest, question: str = LENGTH) -> AppTest:
    app.chat_input[0].set_value(question).run()
    return settle(app, lambda app: any("passage" in one.label and " of " in one.label for one in app.expander))


def test_without_a_model_there_is_nothing_to_choose_and_admin_says_why(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "bridge.pdf", BRIDGE)
    app = open_page()
    assert not app.selectbox
    assert "412 metres" in plain_text(shown(ask(app))[0]["blocks"])
    admin = texts(open_page("admin"))
    assert "Set `RAG_OPENAI_MODEL`" in admin
    assert "The chat then also offers ways to search" in admin


def test_a_choice_made_with_a_model_does_not_outlive_it(
    served: ScriptedEndpoint, open_page: OpenPage, engine: Engine
) -> None:
    add_document(engine, "bridge.pdf", BRIDGE)
    engine.models.select("scripted")
    app = open_page()
    app.selectbox(key="strategy").select("compare").run()
    engine.models.select(None)
    ask(app)
    assert not app.selectbox
    assert served.requests == []


def test_a_question_is_searched_for_as_chosen(endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "bridge.pdf", BRIDGE)
    app = open_page()
    assert app.selectbox(key="strategy").options[:2] == ["Search: Plain", "Search: Several queries"]
    assert "One search for the question" in texts(app)
    app.selectbox(key="strategy").select("queries").run()
    assert "results are merged" in texts(app)
    endpoint.script = [QUERIES, complete("It is 412 metres long [1].")]
    ask(app)
    told = texts(app)
    assert "Searched for “size of the Harrow Bridge”\nSearched for “Harrow railway crossing”" in told
    assert "2 calls, " in told.replace("\\", "")
    assert any(one.label.endswith("· Several queries") for one in app.expander)
    again = open_page(c=conversation_of(app))
    assert "Searched for “Harrow railway crossing”" in texts(again)
    assert again.selectbox(key="strategy").value == "plain"
    messages = engine.conversations.messages(conversation_of(app))
    assert messages[-1].answer is not None
    assert messages[-1].answer.strategy == "queries"


def test_an_answer_is_asked_for_again_in_another_way(
    endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine
) -> None:
    add_document(engine, "bridge.pdf", BRIDGE)
    app = ask(open_page())
    endpoint.script = [*([QUERIES] * 2), complete("It is 412 metres long [1].")]
    app.selectbox(key="strategy").select("queries").run()
    next(one for one in app.button if one.label == "Ask again").click().run()
    settle(app, lambda app: "Harrow railway crossing" in texts(app))


def test_the_choice_stays_while_other_pages_are_looked_at(
    endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine
) -> None:
    app = open_page()
    app.selectbox(key="strategy").select("compare").run()
    app.switch_page("pages/documents/page.py").run()
    app.switch_page("pages/chat/page.py").run()
    assert app.selectbox(key="strategy").value == "compare"


def test_a_summary_lists_what_it_cites_without_scores(
    endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine
) -> None:
    add_document(engine, "bridge.pdf", BRIDGE)
    app = open_page()
    app.selectbox(key="strategy").select("summary").run()
    endpoint.script = [complete("The Harrow Bridge was opened in 1931 [1].")]
    ask(app, "Summarise it.")
    assert "Read part 1 of 1, bridge.pdf page 1: 1 statement noted" in texts(app)
    assert any(one.label.replace("\\", "") == "[1] bridge.pdf · p. 1 · cited" for one in app.expander)
    assert not app.exception


def test_a_model_that_fails_leaves_the_plain_search_and_a_notice(
    endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine
) -> None:
    add_document(engine, "bridge.pdf", BRIDGE)
    app = open_page()
    app.selectbox(key="strategy").select("hyde").run()
    endpoint.script = [lambda exchange: exchange.error(500)]
    ask(app)
    assert "A plain search was used instead." in texts(app).replace("\\", "")
    assert "412 metres" in plain_text(shown(app)[0]["blocks"])


def test_evaluate_offers_strategies_where_there_is_a_model(endpoint: ScriptedEndpoint, open_page: OpenPage) -> None:
    options = open_page("evaluate").multiselect(key="configurations").options
    assert [one for one in options if one.endswith("(uses the model)")] == [
        f"{name} (uses the model)" for name in ("Several queries", "Hypothetical answer", "Step by step", "Compare")
    ]


def test_evaluate_offers_none_where_there_is_none(open_page: OpenPage) -> None:
    options = open_page("evaluate").multiselect(key="configurations").options
    assert not [one for one in options if "model" in one]
