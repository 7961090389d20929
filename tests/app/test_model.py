"""The language model on the Settings page: choice, test and usage."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from pages.shared import backend
from tests.support.app import OpenPage, press, table, texts
from tests.support.engines import ASK_BUDGET, BUDGET, indexed
from tests.support.servers import MODEL_FILE, ScriptedEndpoint, complete, serving

KEY = "sk-5ecret-5ecret"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    """Start a server of two models; set the small one."""
    answer = complete("It is ", "42 million euros ", "[1].", tokens=(1200, 30))
    with ScriptedEndpoint(serving("large", "small", answer=answer)) as started:
        for name, value in (("BASE_URL", started.url), ("MODEL", "small"), ("API_KEY", KEY), ("RETRIES", "0")):
            monkeypatch.setenv(f"RAG_OPENAI_{name}", value)
        yield started


def test_missing_model_is_explained(open_page: OpenPage) -> None:
    app = open_page("admin")
    assert "answers are quoted from the documents. Connect a model to have it write them." in texts(app)
    assert not [button for button in app.button if button.key == "test_model"]
    assert not [element for element in app.dataframe if "Requests" in element.value]


def test_probe_of_current_model_is_shown(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    app = open_page("admin")
    assert f"small, at {endpoint.url}, over Chat Completions" in texts(app)
    shown = texts(press(app, "test_model"))
    for words in ("lists 2 models", "key was accepted", "small answers", "arrives in pieces", "It arrived"):
        assert words in shown
    assert KEY not in shown


def test_failed_test_gives_a_remedy(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    endpoint.script[:] = [lambda exchange: exchange.error(401, {"error": {"message": f"wrong key {KEY}"}})]
    app = press(open_page("admin"), "test_model")
    assert "Set a valid key" in texts(app)
    assert KEY not in texts(app)
    press(app, "list_models")
    assert "Set a valid key" in app.error[0].value
    assert KEY not in app.error[0].value


@pytest.mark.usefixtures("endpoint")
def test_no_cost_is_shown_without_prices(open_page: OpenPage) -> None:
    app = press(open_page("admin"), "test_model")
    assert list(table(app, "Requests").columns) == ["Model", "Requests", "Tokens in", "Tokens out"]
    assert "Set `RAG_PRICE`" in texts(app)


def test_local_model_can_be_tested(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_GGUF", str(MODEL_FILE))
    monkeypatch.setenv("RAG_OPENAI_CONTEXT_TOKENS", "512")
    monkeypatch.setenv("RAG_OPENAI_TIMEOUT_S", "200")
    app = open_page("admin")
    assert f"{MODEL_FILE}, run inside this app" in texts(app)
    assert not app.selectbox
    shown = texts(press(app, "test_model"))
    assert "It arrived after" in shown
    assert "**Key.**" not in shown


def test_secrets_in_the_address_are_not_shown(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_OPENAI_BASE_URL", "http://me:hunter2@127.0.0.1:9/v1?token=hunter3")
    monkeypatch.setenv("RAG_OPENAI_API", "responses")
    app = open_page("admin")
    assert "No model chosen, at http://127.0.0.1:9/v1, over Responses" in texts(app)
    assert "until you choose a model here" in texts(app)
    press(app, "list_models")
    assert "or correct the address" in app.error[0].value
    assert "hunter" not in texts(app)


def test_model_can_be_chosen_and_reset(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    app = press(open_page("admin"), "list_models")
    choice = app.selectbox(key="model_chosen")
    assert choice.options == ["small", "large"]
    choice.set_value("large").run()
    press(app, "use_model")
    assert "large, at " in texts(app)
    press(app, "test_model")
    assert endpoint.requests[-1]["model"] == "large"
    press(app, "reset_model")
    assert "small, at " in texts(app)
    assert app.selectbox(key="model_chosen").value == "small"


@pytest.mark.usefixtures("endpoint")
def test_model_that_checks_statements_is_switched_on_and_must_be_capable(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("admin")
    app.toggle(key="model_verifies").set_value(True).run()
    assert "because the model counts as small" in texts(app)
    assert backend._create_backend().engine.preferences.verifier == "model"
    monkeypatch.setenv("RAG_MODEL_CAPABILITY", "capable")
    backend._create_backend.clear()
    app = open_page("admin")
    assert app.toggle(key="model_verifies").value
    assert "checked by their values only" not in texts(app)
    app.toggle(key="model_verifies").set_value(False).run()
    assert backend._create_backend().engine.preferences.verifier is None


@pytest.mark.usefixtures("endpoint")
def test_tokens_of_pages_are_chosen_with_their_price(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "context_budget" not in [slider.key for slider in open_page("admin").slider]
    for name, value in (("OPENAI_CONTEXT_TOKENS", "64000"), ("PRICE", "1/10 USD")):
        monkeypatch.setenv(f"RAG_{name}", value)
    backend._create_backend.clear()
    app = open_page("admin")
    slider = app.slider(key="context_budget")
    assert (slider.value, slider.max) == (12_000, 32_000)
    assert "A question costs up to 12,000 tokens in, 1,600 out, 0.028 USD" in texts(app)
    slider.set_value(20_000).run()
    assert "A question costs up to 20,000 tokens in, 1,600 out, 0.036 USD" in texts(app)
    engine = backend._create_backend().engine
    assert engine.preferences.context_budget == engine.models.active().context_budget == 20_000
    assert "whole pages, up to 20,000 tokens" in texts(app.run())
    press(app, "reset_gate")
    assert (app.slider(key="context_budget").value, engine.preferences.context_budget) == (12_000, 12_000)


@pytest.mark.usefixtures("endpoint")
def test_usage_is_totalled(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_PRICE", "1/10 USD")
    app = open_page("admin")
    engine = backend._create_backend().engine
    indexed(engine, "bridge.pdf", BUDGET)
    engine.answer(ASK_BUDGET)
    engine.answer(ASK_BUDGET)
    app.run()
    row = table(app, "Requests").iloc[0]
    assert (row["Model"], row["Requests"], row["Tokens in"], row["Tokens out"]) == ("openai:small", 2, 2400, 60)
    assert row["Cost"] == pytest.approx(0.003)
    assert row["Currency"] == "USD"
    assert "no cost" not in texts(app)
    monkeypatch.setattr("pages.admin.usage._PERIODS", {"Last 30 days": timedelta(0), "All time": None})
    app.button_group(key="usage_period").set_value("Last 30 days").run()
    assert "No model was used in this period." in texts(app)
