"""The app in its own process, and Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.browser import ARGUMENTS, PATIENCE_MS, OpenApp, _leaves, chromium, quiet, serve


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start one app for the tests of a module."""
    with serve(tmp_path_factory.mktemp("app") / "data") as started:
        yield started


@pytest.fixture
def open_app(browser: Browser) -> Iterator[OpenApp]:
    """Return a function that opens a page in a new browser profile; check that no request leaves this machine."""
    external_requests: list[str] = []
    contexts = []

    def opened(url: str, *, width: int = 1280, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            timezone_id="Europe/Berlin",
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("request", lambda request: external_requests.append(request.url) if _leaves(request.url) else None)
        page.goto(url)
        quiet(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert external_requests == []
