"""Search strategies in the app: choice, display with the answer, and evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from tests.support.app import LENGTH, PAGES, OpenPage, add, click, conversation_of, plain_text, settle, shown, texts
from tests.support.pdfs import make_pdf
from tests.support.servers import ScriptedEndpoint, complete

QUERIES = complete("size of the Harrow Bridge\nHarrow railway crossing")
PARTS = complete("How long is the Harrow Bridge?\nWhen was the Harrow Bridge opened?")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    """Start an endpoint for the app; tests set its script."""
    with ScriptedEndpoint(complete("It is 412 metres long [1].")) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("RAG_OPENAI_RETRIES", "0")
        yield started


@pytest.fixture
def endpoint(served: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch) -> ScriptedEndpoint:
    """Start an endpoint and set a model."""
    monkeypatch.setenv("RAG_OPENAI_MODEL", "scripted")
    return served


@pytest.fixture
def one_page(engine: Engine) -> None:
    """Index a document of one page."""
    add(engine, bridge=make_pdf("The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway."))


def chat_with(open_page: OpenPage, strategy: str) -> AppTest:
    app = open_page()
    return app.radio(key="strategy").set_value(strategy).run()


def offered(app: AppTest) -> set[str]:
    """Return the strategies in the menu of the chat; none if there is no menu."""
    return {option for radio in app.radio if radio.key == "strategy" for option in radio.options}


def ask(app: AppTest, question: str = LENGTH) -> AppTest:
    app.chat_input[0].set_value(question).run()
    return settle(
        app, lambda app: any("passage" in expander.label and " of " in expander.label for expander in app.expander)
    )


def test_missing_model_offers_no_strategies_that_need_it(open_page: OpenPage, engine: Engine, one_page: None) -> None:
    app = open_page()
    assert offered(app).isdisjoint(one.label for one in engine.strategies.list_all() if one.uses_model)
    assert "412 metres" in plain_text(shown(ask(app))[0]["blocks"])
    admin = texts(open_page("admin"))
    assert "Connect a model to have it write them." in admin
    assert "The chat then also offers ways to search" in admin
    options = open_page("evaluate").multiselect(key="configurations").options
    assert not [option for option in options if "model" in option]


def test_snapshot_offers_no_strategy_that_reads_the_present(
    endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine, one_page: None
) -> None:
    assert {"Step by step", "Compare"} <= offered(open_page())
    engine.snapshots.create("first")
    app = open_page()
    app.selectbox(key="as_of_new").select("first").run()
    assert "Compare" in offered(app)
    # Several queries are in the Lab.
    assert offered(app).isdisjoint(["Step by step", "Several queries"])


def test_choice_is_ignored_without_the_model(
    served: ScriptedEndpoint, open_page: OpenPage, engine: Engine, one_page: None
) -> None:
    engine.models.select("scripted")
    app = chat_with(open_page, "compare")
    engine.models.select(None)
    ask(app)
    assert "Compare" not in offered(app)
    assert served.requests == []


def test_chosen_strategy_is_applied_and_shown(
    endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine, one_page: None
) -> None:
    app = open_page()
    assert app.radio(key="strategy").options[0] == "Automatic"
    captions = app.radio(key="strategy").proto.captions
    assert captions[0] == "One search; a capable model asks for more if something is missing."
    app.radio(key="strategy").set_value("compare").run()
    endpoint.script = [PARTS, complete("It is 412 metres long [1].")]
    ask(app)
    shown_texts = texts(app)
    assert "Searched for “How long is the Harrow Bridge?”\nSearched for “When was the Harrow Bridge" in shown_texts
    assert "2 calls, " in shown_texts.replace("\\", "")
    assert any("· Compare · Written by" in expander.label for expander in app.expander)
    reloaded = open_page(c=conversation_of(app))
    assert "Searched for “When was the Harrow Bridge" in texts(reloaded)
    assert reloaded.radio(key="strategy").value == "plain"
    messages = engine.conversations.messages(conversation_of(app))
    assert messages[-1].answer is not None
    assert messages[-1].answer.strategy == "compare"


def test_answer_can_be_replaced_with_another_strategy(
    endpoint: ScriptedEndpoint, open_page: OpenPage, one_page: None
) -> None:
    app = ask(open_page())
    endpoint.script = [*([PARTS] * 2), complete("It is 412 metres long [1].")]
    app.radio(key="strategy").set_value("compare").run()
    click(app, "Ask again")
    settle(app, lambda app: "When was the Harrow Bridge" in texts(app))


def test_lab_answers_with_any_strategy(endpoint: ScriptedEndpoint, open_page: OpenPage, one_page: None) -> None:
    app = open_page("lab", question=LENGTH)
    options = app.selectbox(key="lab_strategy").options
    assert {"Automatic", "Several queries", "Passage by passage"} <= set(options)
    # Only a model in a GGUF file gives the probabilities of single tokens, and there are no themes.
    assert not {"RAG-Token", "Themes"} & set(options)
    app.selectbox(key="lab_strategy").select("queries").run()
    assert "results are merged" in texts(app)
    endpoint.script = [QUERIES, complete("It is 412 metres long [1].")]
    app.button(key="lab_answer").click().run()
    assert "Searched for “Harrow railway crossing”" in texts(app)
    assert plain_text(shown(app)[0]["blocks"]) == "It is 412 metres long [1]."
    assert shown(app)[0]["sources"] == {"1": "bridge.pdf, page 1"}


def test_choice_survives_a_change_of_page(endpoint: ScriptedEndpoint, open_page: OpenPage) -> None:
    app = chat_with(open_page, "compare")
    app.switch_page(PAGES["documents"]).run()
    app.switch_page(PAGES["chat"]).run()
    assert app.radio(key="strategy").value == "compare"


def test_summary_lists_citations_without_scores(
    endpoint: ScriptedEndpoint, open_page: OpenPage, one_page: None
) -> None:
    app = chat_with(open_page, "summary")
    endpoint.script = [complete("The Harrow Bridge was opened in 1931 [1].")]
    ask(app, "Summarise it.")
    assert "Read part 1 of 1, bridge.pdf page 1: 1 statement noted" in texts(app)
    assert any(expander.label.replace("\\", "") == "[1] bridge.pdf · p. 1 · cited" for expander in app.expander)
    assert not app.exception


def test_failing_model_falls_back_to_plain_search(
    endpoint: ScriptedEndpoint, open_page: OpenPage, one_page: None
) -> None:
    app = chat_with(open_page, "compare")
    endpoint.script = [lambda exchange: exchange.error(500)]
    ask(app)
    assert "A plain search was used instead." in texts(app).replace("\\", "")
    assert "412 metres" in plain_text(shown(app)[0]["blocks"])


def test_evaluation_offers_strategies_with_a_model(
    endpoint: ScriptedEndpoint, open_page: OpenPage, engine: Engine
) -> None:
    options = open_page("evaluate").multiselect(key="configurations").options
    usable = [one for one in engine.strategies.list_usable("scripted") if one.uses_model and one.ranks_passages]
    assert [option for option in options if option.endswith("(uses the model)")] == [
        f"{one.label} (uses the model)" for one in usable
    ]
