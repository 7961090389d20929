"""Contrast of the text on every page, in both themes (WCAG 2.2 AA)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.test_evaluate import ROWS
from tests.support.app import BRIDGE, LENGTH
from tests.support.browser import OpenApp, ask, evaluate_rows, quiet, upload
from tests.support.contrast import find_faint_text

PATHS = ("documents", "evaluate", f"lab?question={LENGTH}", "admin")


@pytest.fixture(scope="module")
def conversation(profile: BrowserContext, address: str) -> Iterator[str]:
    """Add documents, run an evaluation and ask two questions; return the address of the conversation."""
    page = profile.new_page()
    page.goto(f"{address}/documents")
    quiet(page)
    upload(page, "bridge.pdf", BRIDGE)
    notes = {"name": "notes.pdf", "mimeType": "application/pdf", "buffer": b"These are only notes."}
    page.set_input_files("input[type=file]", notes)
    expect(page.get_by_text("Not added")).to_be_visible()
    evaluate_rows(page, address, ROWS)
    page.goto(address)
    quiet(page)
    ask(page, "Who won the chess match in Reykjavik?")
    expect(page.get_by_text("I don't know")).to_be_visible()
    quiet(page)
    ask(page, LENGTH)
    expect(page.get_by_role("button", name="Source 1").first).to_be_visible()
    quiet(page)
    yield page.url
    page.close()


@pytest.mark.parametrize("dark", [False, True])
def test_text_on_every_page_has_enough_contrast(open_app: OpenApp, address: str, conversation: str, dark: bool) -> None:
    page = open_app(address, dark=dark)
    for path in (conversation, *(f"{address}/{one}" for one in PATHS)):
        page.goto(path)
        quiet(page)
        for hidden in page.get_by_test_id("stExpander").locator("summary").all():
            hidden.click()
        quiet(page)
        page.mouse.move(5, 5)
        assert find_faint_text(page) == [], path


@pytest.mark.parametrize("dark", [False, True])
def test_open_and_hovered_buttons_have_enough_contrast(open_app: OpenApp, conversation: str, dark: bool) -> None:
    page = open_app(conversation, dark=dark)
    for name in ("Ask again", "Export"):
        page.get_by_role("button", name=name).last.hover()
        page.wait_for_timeout(500)  # the colour changes gradually
        assert find_faint_text(page) == [], name
    page.get_by_role("button", name="Export").last.click()
    expect(page.get_by_role("button", name="Markdown")).to_be_visible()
    page.wait_for_timeout(500)
    assert find_faint_text(page) == []
