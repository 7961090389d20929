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
from tests.support.servers import Exchange, ScriptedEndpoint, at, complete, guarded, listing, status

KEY = "sk-5ecret/with+signs=&more?"
ANSWER = complete("The Harrow Bridge is ", "412 metres ", "long [1].", tokens=(300, 12))
QUOTED = "carries the railway over the river Tell"
GOOD = at(v1__models=listing("large", "small"), v1__chat__completions=ANSWER)


@pytest.fixture
def page(open_app: OpenApp, address: str) -> Iterator[Page]:
    """Open the form; disconnect after the test."""
    opened = open_app(f"{address}/admin")
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


def test_link_of_a_new_chat_leads_to_the_form_and_a_model_is_connected(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    page.get_by_role("link", name="Connect a model").click()
    expect(page.get_by_role("heading", name="Language model")).to_be_in_viewport()
    expect(page.get_by_text("leave this machine for api.openai.com")).to_be_visible()
    with ScriptedEndpoint(guarded(KEY, GOOD)) as endpoint:
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
        for typed in (f"{endpoint.url}/", f"{endpoint.host}/v1/chat/completions", endpoint.host):
            type_connection(page, typed)
            find_models(page, 2)
            expect(page.get_by_label("Address")).to_have_value(endpoint.url)
        type_model(page, "small")
        press(page, "Test")
        for words in ("lists 2 models", "small answers", "arrives in pieces"):
            expect(page.get_by_text(words)).to_be_visible()
        connect(page, endpoint.host)
        check_answer(page, "small")
        disconnect(page)
        ask_new(page, LENGTH)
        expect(page.get_by_text(QUOTED).first).to_be_visible()
        expect(page.get_by_text("Written by")).to_have_count(0)


def test_server_without_an_endpoint_is_explained_until_it_has_one_which_is_slow(page: Page) -> None:
    loaded = threading.Event()

    def slow(exchange: Exchange) -> None:
        loaded.wait(60)
        ANSWER(exchange)

    with ScriptedEndpoint(status(404)) as endpoint:
        choose_kind(page, "LM Studio")
        expect(page.get_by_label("Address")).to_have_value("http://localhost:1234/v1")
        type_connection(page, endpoint.host)
        press(page, "List models")
        expect(page.get_by_text("it has no OpenAI-compatible endpoint at")).to_be_visible()
        type_model(page, "small")
        press(page, "Connect")
        expect(page.get_by_text("it has no OpenAI-compatible endpoint at")).to_be_visible()
        expect(page.get_by_text("None: answers are quoted")).to_be_visible()
        endpoint.restart(at(v1__models=listing("large", "small"), v1__chat__completions=slow))
        find_models(page, 2)
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.get_by_text("Testing the model")).to_be_visible()
        loaded.set()
        expect(page.get_by_text("small answers")).to_be_visible()
        connect(page, endpoint.host)


def test_ollama_on_this_machine_is_offered_with_its_models(page: Page, ollama: ScriptedEndpoint) -> None:
    press(page, "Use Ollama on this machine (2 models)")
    expect(page.get_by_label("Address")).to_have_value(ollama.url)
    type_model(page, "qwen3:4b")
    connect(page, ollama.host)
    check_answer(page, "qwen3:4b")


def choose(page: Page, field: str, name: str) -> None:
    """Choose an option by keyboard, because a list that is drawn again while a pointer is over it closes."""
    box = page.get_by_role("combobox", name=field, exact=True)
    option = page.get_by_role("option", name=name)
    # A list that is opened while the page is drawn closes again.
    for _ in range(20):
        if option.is_visible():
            break
        box.focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(500)
    for _ in range(10):
        if option.get_attribute("aria-selected") == "true" or "true" in (option.get_attribute("data-focused") or ""):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(box).to_have_value(name)
    quiet(page)


def test_endpoint_without_a_list_has_the_responses_api(page: Page) -> None:
    def play(exchange: Exchange) -> None:
        # An empty request to find the endpoint is refused as a bad request.
        if exchange.path.endswith("/chat/completions"):
            exchange.error(400)
        elif exchange.path.endswith("/responses"):
            ANSWER(exchange)
        else:
            exchange.error(404)

    with ScriptedEndpoint(play) as endpoint:
        choose_kind(page, "Any OpenAI-compatible endpoint")
        type_connection(page, endpoint.url)
        press(page, "List models")
        expect(page.get_by_text("This endpoint lists no models. Type the name")).to_be_visible()
        type_model(page, "small")
        page.get_by_text("More options", exact=True).click()
        choose(page, "API", "Responses")
        page.get_by_label("Context length", exact=True).fill("4096")
        page.get_by_label("Context length", exact=True).press("Tab")
        quiet(page)
        press(page, "Test")
        expect(page.get_by_text("has no list of models (HTTP 404)")).to_be_visible()
        expect(page.get_by_text("small answers")).to_be_visible()
        expect(page.get_by_text("It arrived after")).to_be_visible()
        expect(page.get_by_text("Not reported by the endpoint; 4,096 tokens are assumed.")).to_be_visible()
        press(page, "Connect")
        expect(page.get_by_text(f"small, at {endpoint.url}, over Responses")).to_be_visible()
        page.set_viewport_size({"width": 380, "height": 800})
        assert_fits_width(page)
        page.set_viewport_size({"width": 1280, "height": 800})
        check_answer(page, "small")
        assert {request["model"] for request in endpoint.requests if "model" in request} == {"small"}
