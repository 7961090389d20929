"""The app in its own process, and Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.support.browser import ARGUMENTS, PATIENCE_MS, OpenApp, _leaves, chromium, clear_storage, quiet, serve


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


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """Return the browser profile of all tests, so that each page after the first comes from the cache."""
    context = browser.new_context(locale="en-GB", timezone_id="Europe/Berlin")
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def open_app(profile: BrowserContext) -> Iterator[OpenApp]:
    """Return a function that opens a page without stored data; check that no request leaves this machine."""
    external_requests: list[str] = []
    pages = []

    def opened(url: str, *, width: int = 1280, dark: bool = False) -> Page:
        page = profile.new_page()
        pages.append(page)
        clear_storage(page, url)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.on("request", lambda request: external_requests.append(request.url) if _leaves(request.url) else None)
        page.goto(url)
        quiet(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert external_requests == []
