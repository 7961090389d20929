"""The form on the Admin page that connects a language model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import backend
from tests.support.app import OpenPage, texts
from tests.support.servers import ScriptedEndpoint, complete, guarded, serving

KEY = "sk-5ecret-5ecret"


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    """Start an endpoint of two models that requires the key."""
    play = serving("large", "small", answer=complete("one, ", "two", tokens=(20, 6)))
    with ScriptedEndpoint(guarded(KEY, play)) as started:
        yield started


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception, app.exception
    return app


def fill(app: AppTest, address: str, key: str) -> AppTest:
    app.selectbox(key="connect_preset").set_value("compatible").run()
    app.text_input(key="connect_address").set_value(address)
    app.text_input(key="connect_key").set_value(key).run()
    return app


def test_model_is_connected_tested_and_disconnected(
    open_page: OpenPage, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    app = fill(open_page("admin"), endpoint.url.removesuffix("/v1").removeprefix("http://"), KEY)
    press(app, "connect_find")
    assert app.text_input(key="connect_address").value == endpoint.url
    assert app.selectbox(key="connect_model").options == ["large", "small"]
    app.selectbox(key="connect_model").set_value("small").run()
    shown = texts(press(app, "connect_test"))
    for words in ("lists 2 models", "key was accepted", "small answers", "arrives in pieces", "It arrived"):
        assert words in shown
    assert backend._open().engine.models.active() is None
    press(app, "connect_save")
    assert app.text_input(key="connect_key").value == ""
    shown = texts(app)
    assert f"small, at {endpoint.url}" in shown
    assert "the file `model-key` of the data folder" in shown
    assert "Nothing else is sent for the model" in shown
    assert KEY not in shown
    assert backend._open().engine.models.generator == "openai:small"
    assert KEY not in texts(open_page("admin"))
    press(app, "connect_remove")
    assert backend._open().engine.models.active() is None
    assert not list(tmp_path.rglob("model-key"))


def test_refused_key_gives_a_remedy_without_the_key(open_page: OpenPage, endpoint: ScriptedEndpoint) -> None:
    app = press(fill(open_page("admin"), endpoint.url, "sk-wrong-wrong"), "connect_find")
    assert "Set a valid key" in app.error[0].value
    assert "sk-wrong-wrong" not in texts(app) + app.error[0].value


def test_wrong_address_gives_a_remedy(open_page: OpenPage) -> None:
    app = press(fill(open_page("admin"), "two words", ""), "connect_save")
    assert "Enter one such as http" in app.error[0].value


def test_connection_of_the_environment_is_not_editable(
    open_page: OpenPage, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("RAG_OPENAI_MODEL", "small")
    app = open_page("admin")
    assert "The environment or `.env` sets this model" in texts(app)
    assert not [button for button in app.button if button.key == "connect_save"]
