"""The form on the Settings page that connects a language model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import backend
from rag_core.engine import Engine
from rag_core.types.status import ModelChoice
from tests.support.app import LENGTH, OpenPage, ask, press, texts
from tests.support.servers import Exchange, ScriptedEndpoint, complete, guarded, serving, status

KEY = "sk-5ecret-5ecret"


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    """Start an endpoint of two models that requires the key."""
    play = serving("large", "small", answer=complete("one, ", "two", tokens=(20, 6)))
    with ScriptedEndpoint(guarded(KEY, play)) as started:
        yield started


def fill(app: AppTest, address: str, key: str) -> AppTest:
    app.selectbox(key="connect_preset").set_value("compatible").run()
    app.text_input(key="connect_address").set_value(address)
    app.text_input(key="connect_key").set_value(key)
    return app


def count_offers(app: AppTest) -> int:
    """Return how often a page offers to connect a model; the reader can hide each offer."""
    return sum(button.key == "hide_model_offer" for button in app.button)


def test_model_is_connected_tested_and_disconnected(
    open_page: OpenPage, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    app = fill(open_page("admin"), endpoint.url.removesuffix("/v1").removeprefix("http://"), KEY)
    press(app, "connect_find")
    assert app.text_input(key="connect_address").value == endpoint.url
    assert app.selectbox(key="connect_model").options == ["large", "small"]
    app.selectbox(key="connect_model").set_value("small")
    shown = texts(press(app, "connect_test"))
    for words in ("lists 2 models", "key was accepted", "small answers", "arrives in pieces", "It arrived"):
        assert words in shown
    assert backend._create_backend().engine.models.active() is None
    press(app, "connect_save")
    assert app.text_input(key="connect_key").value == ""
    shown = texts(app)
    assert f"small, at {endpoint.url}" in shown
    assert "the file `model-key` of the data folder" in shown
    assert "themes and judges send more when you start them" in shown
    assert "which is this machine" in shown
    assert KEY not in shown
    assert backend._create_backend().engine.models.generator == "openai:small"
    assert KEY not in texts(open_page("admin"))
    press(app, "connect_remove")
    assert backend._create_backend().engine.models.active() is None
    assert not list(tmp_path.rglob("model-key"))


def test_refused_key_gives_a_remedy_without_the_key(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    app = press(fill(open_page("admin"), endpoint.url, "sk-wrong-wrong"), "connect_find")
    assert "\\(HTTP 401\\)\\. Set a valid key\\." in app.error[0].value
    assert "sk-wrong-wrong" not in texts(app) + app.error[0].value


def test_wrong_address_gives_a_remedy(open_page: OpenPage) -> None:
    app = press(fill(open_page("admin"), "two words", ""), "connect_save")
    assert "Enter one such as http" in app.error[0].value
    app.selectbox(key="connect_preset").set_value("lmstudio").run()
    assert app.text_input(key="connect_address").value == "http://localhost:1234/v1"
    with ScriptedEndpoint(status(404)) as started:
        app.text_input(key="connect_address").set_value(started.host)
        assert "it has no OpenAI\\-compatible endpoint at" in press(app, "connect_find").error[0].value
        app.selectbox(key="connect_model").set_value("small")
        assert "it has no OpenAI\\-compatible endpoint at" in press(app, "connect_save").error[0].value
    assert backend._create_backend().engine.models.active() is None


def test_host_that_would_get_texts_is_named_before_connecting(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    app = open_page("admin")
    assert "leave this machine for api\\.openai\\.com" in texts(app)
    shown = texts(fill(app, endpoint.url, "").run())
    assert "This address is on this machine" in shown
    assert "leave this machine" not in shown
    assert "questions and passages" not in texts(fill(app, "two words", "").run())


def test_chat_points_to_the_form_until_a_model_is_connected(
    open_page: OpenPage, endpoint: ScriptedEndpoint, bridge: str
) -> None:
    app = open_page()
    assert count_offers(app) == 1
    assert count_offers(ask(app, LENGTH)) == 1
    assert count_offers(ask(app, LENGTH)) == 1
    assert count_offers(ask(app, "Who won the chess match in Reykjavik in 1972?")) == 0
    backend._create_backend().engine.models.connect(ModelChoice("compatible", endpoint.url, "small"), KEY)
    assert count_offers(open_page()) == 0


def test_dismissed_link_stays_away(open_page: OpenPage, engine: Engine) -> None:
    assert count_offers(press(open_page(), "hide_model_offer")) == 0
    backend._create_backend.clear()
    assert count_offers(open_page()) == 0


def test_model_of_the_environment_is_not_offered(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_OPENAI_BASE_URL", "https://models.example.com/v1")
    app = open_page()
    assert count_offers(app) == 0
    assert "Passages that answer a question are sent to models\\.example\\.com" in texts(app)


def test_connection_of_the_environment_is_not_editable(
    open_page: OpenPage, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("RAG_OPENAI_MODEL", "small")
    app = open_page("admin")
    assert "The environment or `.env` sets this model" in texts(app)
    assert not [button for button in app.button if button.key == "connect_save"]


def test_endpoint_without_a_list_asks_for_a_name(open_page: OpenPage) -> None:
    def without_list(exchange: Exchange) -> None:
        exchange.error(404 if exchange.path.endswith("/models") else 400)

    with ScriptedEndpoint(without_list) as started:
        app = press(fill(open_page("admin"), started.url, ""), "connect_find")
        assert "lists no models. Type the name of the model" in app.info[0].value
        assert app.text_input(key="connect_address").value == started.url


def test_options_are_stored_and_shown_again(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    app = press(fill(open_page("admin"), endpoint.url, KEY), "connect_find")
    app.selectbox(key="connect_model").set_value("small")
    app.selectbox(key="connect_api").set_value("responses")
    app.number_input(key="connect_context").set_value(4096)
    press(app, "connect_save")
    saved = backend._create_backend().engine.models.choice
    assert (saved.api, saved.context_tokens, saved.context_reported) == ("responses", 4096, False)
    assert "over Responses" in texts(app)
    again = open_page("admin")
    assert again.number_input(key="connect_context").value == 4096
    assert again.selectbox(key="connect_api").value == "responses"


def test_capability_is_chosen_or_found_by_the_test(
    open_page: OpenPage, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = backend._create_backend().engine
    models, preferences = engine.models, engine.preferences
    assert "no language model is in use. Choose one" in preferences.verifier_problem
    app = press(fill(open_page("admin"), endpoint.url, KEY), "connect_find")
    app.selectbox(key="connect_model").set_value("small")
    app.selectbox(key="connect_capability").set_value("capable")
    press(app, "connect_save")
    assert models.choice.capability == models.active().capability == "capable"
    assert "Capability: capable" in texts(app)
    assert not preferences.verifier_problem
    app.selectbox(key="connect_capability").set_value("")
    assert "because it did not cite its source" in texts(press(app, "connect_test"))
    press(app, "connect_save")
    assert (models.choice.capability, models.choice.tested_capability) == ("", "small")
    assert "Capability: small, as the test found" in texts(app)
    assert "counts as small. Use a capable model" in preferences.verifier_problem
    press(app, "connect_find")
    app.selectbox(key="connect_model").set_value("large")
    press(app, "connect_save")
    assert (models.choice.model, models.choice.tested_capability) == ("large", None)
    assert "was not tested and has a small context. Test it" in preferences.verifier_problem


def test_unreadable_key_is_shown_until_it_is_read(
    open_page: OpenPage, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    app = press(fill(open_page("admin"), endpoint.url, KEY), "connect_find")
    app.selectbox(key="connect_model").set_value("small")
    press(app, "connect_save")
    [file] = tmp_path.rglob("model-key")
    file.rename(tmp_path / "key")
    backend._create_backend().engine.models.read_key_again()
    app = open_page("admin")
    assert "The stored API key of the language model is missing" in app.error[0].value
    (tmp_path / "key").rename(file)
    assert not press(app, "read_key").error


def test_key_of_the_environment_is_offered_for_openai_only(
    open_page: OpenPage, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-program")
    app = open_page("admin")
    assert "The key from `OPENAI_API_KEY` is used if the field is empty" in texts(app)
    app = press(fill(app, endpoint.url, ""), "connect_find")
    assert "is used if the field is empty" not in texts(app)
    assert "sk-of-another-program" not in "".join(str(exchange.headers) for exchange in endpoint.exchanges)
