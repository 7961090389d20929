"""Search strategies: choice by keyboard, progress and stop."""

from __future__ import annotations

import threading

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WritingApp
from tests.support.browser import OpenApp, ask, quiet
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete


def delayed(play: Play, event: threading.Event) -> Play:
    """Wait for an event before a reply."""

    def wait(exchange: Exchange) -> None:
        event.wait(60)
        play(exchange)

    return wait


def choose(page: Page, name: str) -> None:
    """Choose a strategy in its menu."""
    menu = page.get_by_test_id("stPopover")
    menu.get_by_role("button", name="How to search").click()
    page.get_by_test_id("stPopoverBody").get_by_text(name, exact=True).click()
    expect(menu.get_by_role("button", name=f"Search: {name}")).to_be_visible()
    quiet(page)
    page.keyboard.press("Escape")


@pytest.fixture
def page(open_app: OpenApp, writing_app: WritingApp) -> Page:
    """Open a new chat."""
    return open_app(writing_app.address)


@pytest.fixture
def endpoint(writing_app: WritingApp) -> ScriptedEndpoint:
    return writing_app.endpoint


def test_stopped_strategy_sends_no_further_requests(page: Page, endpoint: ScriptedEndpoint) -> None:
    stopped = threading.Event()
    endpoint.restart(delayed(complete("It is 7 metres tall."), stopped))
    choose(page, "Compare")
    ask(page, "How tall is the Vardo tower?")
    expect(page.get_by_text("Asking the model what to look up").first).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    # The model must not answer before the stop is recorded, or the search would continue.
    expect(page.get_by_text("Stopping after the current step")).to_be_visible()
    stopped.set()
    expect(page.get_by_text("Stopped before there was an answer.")).to_be_visible()
    assert len(endpoint.requests) == 1
