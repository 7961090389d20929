"""Connecting a language model with the form, and an answer that breaks off."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.browser import OpenApp, add_document, ask, quiet, width_overflow
from tests.support.model_form import choose_kind, press, type_connection, type_model
from tests.support.pdfs import make_pdf
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete, guarded, serving

KEY = "sk-5ecret-5ecret"
TOWER = make_pdf("The Vardo tower is 88 metres tall and was finished in 1902 by the architect Lena Holm.")
QUESTION = "How tall is the Vardo tower?"
HEIGHT = "The Vardo tower is 88 metres tall"


@pytest.fixture(scope="module")
def library(profile: BrowserContext, address: str) -> None:
    add_document(profile, address, "tower.pdf", TOWER)


@pytest.fixture
def page(open_app: OpenApp, address: str, library: None) -> Page:
    return open_app(f"{address}/admin")


def break_off(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta(f"{HEIGHT} [1]. Lena")
    exchange.drop()


def delayed(play: Play, seconds: float) -> Play:
    def wait(exchange: Exchange) -> None:
        if not exchange.path.endswith("/models"):
            time.sleep(seconds)
        play(exchange)

    return wait


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


def fill_form(page: Page, address: str, key: str = "") -> None:
    """Choose the kind without presets, and type an address and a key."""
    choose_kind(page, "Any OpenAI-compatible endpoint")
    type_connection(page, address, key)
    page.get_by_label("API key", exact=True).press("Tab")
    quiet(page)


def test_interrupted_answer_is_continued(page: Page) -> None:
    rest = complete("Holm finished ", "it in 1902 [1].")
    with ScriptedEndpoint(guarded(KEY, serving("small", answer=break_off))) as endpoint:
        fill_form(page, endpoint.url.removesuffix("/v1"), key=KEY)
        press(page, "List models")
        expect(page.get_by_text("1 model found")).to_be_visible()
        type_model(page, "small")
        press(page, "Connect")
        expect(page.get_by_text(f"small, at {endpoint.url}")).to_be_visible()
        page.get_by_role("link", name="Chat").click()
        ask(page, QUESTION)
        expect(page.get_by_role("button", name="Continue")).to_be_visible()
        expect(page.get_by_text("stopped half-way")).to_be_visible()
        expect(page.get_by_role("button", name="Show quotes")).to_be_visible()
        page.reload()
        endpoint.script = [guarded(KEY, rest)]
        press(page, "Continue")
        expect(page.get_by_text("Lena Holm finished it in 1902").first).to_be_visible()
        expect(page.get_by_text(HEIGHT).first).to_be_visible()
        expect(page.get_by_role("button", name="Continue")).to_have_count(0)
        expect(page.get_by_text("stopped half-way")).to_have_count(0)


def test_endpoint_without_a_list_is_slow_and_has_the_responses_api(page: Page) -> None:
    answer = complete(f"{HEIGHT} ", "[1].")

    def play(exchange: Exchange) -> None:
        known = exchange.path.endswith("/responses") or exchange.headers["Content-Length"] == "2"
        exchange.error(404) if exchange.path.endswith("/models") or not known else answer(exchange)

    def without_list(exchange: Exchange) -> None:
        # An empty request to find the endpoint is refused as a bad request.
        is_probe = exchange.path.endswith("/chat/completions")
        exchange.error(400) if is_probe else delayed(play, 1.5)(exchange)

    with ScriptedEndpoint(without_list) as endpoint:
        fill_form(page, endpoint.url)
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
        # The page is laid out again some time after its size has changed.
        for _ in range(50):
            if width_overflow(page) <= 0:
                break
            page.wait_for_timeout(100)
        assert width_overflow(page) <= 0
        page.set_viewport_size({"width": 1280, "height": 800})
        page.get_by_role("link", name="Chat").click()
        ask(page, QUESTION)
        expect(page.get_by_text("Written by small")).to_be_visible()
        assert {request["model"] for request in endpoint.requests if "model" in request} == {"small"}
