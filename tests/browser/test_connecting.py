"""The form that connects a language model, with servers that imitate each kind."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.app import LENGTH
from tests.support.browser import OpenApp, assert_fits_width, quiet
from tests.support.model_form import (
    ask_new,
    choose_kind,
    connect,
    disconnect,
    find_models,
    open_form,
    press,
    type_connection,
    type_model,
)
from tests.support.servers import Exchange, ScriptedEndpoint, at, guarded, listing

KEY = "sk-5ecret/with+signs=&more?"
QUOTED = "carries the railway over the river Tell"


@pytest.fixture
def page(open_app: OpenApp, address: str) -> Iterator[Page]:
    """Open a new chat; disconnect after the test."""
    opened = open_app(address)
    yield opened
    opened.set_viewport_size({"width": 1280, "height": 900})
    open_form(opened)
    if opened.get_by_role("button", name="Disconnect").count():
        disconnect(opened)


def check_answer(page: Page, model: str) -> None:
    """Ask the connected model a question."""
    ask_new(page, LENGTH)
    # The page puts an invisible character into the name qwen3:4b, so that it does not become an emoji.
    expect(page.get_by_text(re.compile(f"Written by {model}"))).to_be_visible()
    expect(page.get_by_text("The Harrow Bridge is 412 metres long").first).to_be_visible()


def test_link_of_a_new_chat_leads_to_the_form_and_models_are_connected(page: Page, ollama: ScriptedEndpoint) -> None:
    loaded = threading.Event()

    def slow(exchange: Exchange) -> None:
        # Pieces that all arrive after a long wait would seem to be buffered by a proxy.
        exchange.start()
        exchange.delta("The Harrow Bridge is ")
        loaded.wait(60)
        exchange.delta("412 metres long [1].")
        exchange.finish(tokens=(300, 12))

    page.get_by_role("link", name="Connect a model").click()
    expect(page.get_by_role("heading", name="Language model")).to_be_in_viewport()
    expect(page.get_by_text("leave this machine for api.openai.com")).to_be_visible()
    # A list that is opened while the page is written closes again.
    quiet(page)
    play = at(v1__models=listing("large", "small"), v1__chat__completions=slow)
    with ScriptedEndpoint(guarded(KEY, play)) as endpoint:
        choose_kind(page, "Any OpenAI-compatible endpoint")
        expect(page.get_by_text("leave this machine for")).to_have_count(0)
        field = page.get_by_label("API key", exact=True)
        drawn = field.element_handle()
        type_connection(page, endpoint.host, "sk-wrong")
        expect(page.get_by_text("This address is on this machine")).to_be_visible()
        # The field was not replaced, which would have taken the focus and what was typed.
        assert drawn is not None
        assert drawn.evaluate("field => field.isConnected")
        press(page, "List models")
        expect(page.get_by_text("refused the API key on the Settings page")).to_be_visible()
        # The message stands in the form, not at the top of the long page.
        expect(page.locator(".st-key-language_model").get_by_text("(HTTP 401)")).to_be_in_viewport()
        field.fill(KEY)
        field.press("Tab")  # to the button that shows the key
        type_connection(page, f"{endpoint.host}/v1/chat/completions")
        find_models(page, 2)
        expect(page.get_by_label("Address")).to_have_value(endpoint.url)
        type_model(page, "small")
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.get_by_text("Testing the model")).to_be_visible()
        loaded.set()
        for words in ("lists 2 models", "small answers", "arrives in pieces"):
            expect(page.get_by_text(words)).to_be_visible()
        quiet(page)
        page.set_viewport_size({"width": 380, "height": 800})
        assert_fits_width(page)
        page.set_viewport_size({"width": 1280, "height": 900})
        connect(page, endpoint.host)
        check_answer(page, "small")
        disconnect(page)
        ask_new(page, LENGTH)
        expect(page.get_by_text(QUOTED).first).to_be_visible()
        expect(page.get_by_text("Written by")).to_have_count(0)

    open_form(page)
    press(page, "Use Ollama on this machine (2 models)")
    expect(page.get_by_label("Address")).to_have_value(ollama.url)
    type_model(page, "qwen3:4b")
    connect(page, ollama.host)
    check_answer(page, "qwen3:4b")
