"""The Lab page, opened by a link: passages, matching words and labels."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.support.browser import OpenApp, quiet, serve, upload, width_overflow
from tests.support.pdfs import make_pdf

QUESTION = "How many visitors did the Brennick lighthouse museum have?"
LIGHTHOUSE = make_pdf(
    "The Brennick lighthouse stands on a rock of red sandstone. Its lamp was lit for the first time in 1874.",
    "The Brennick lighthouse museum had 18,240 visitors last year.",
)
LINK = "lab?question=How+many+visitors+did+the+Brennick+lighthouse+museum+have%3F&document=lighthouse.pdf"


def test_deep_link_asks_and_click_shows_matching_words(
    open_app: OpenApp, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lab") / "data"
    with serve(folder) as address:
        upload(open_app(f"{address}/documents"), "lighthouse.pdf", LIGHTHOUSE)
    with serve(folder) as address:
        page = open_app(f"{address}/{LINK}")
        best = page.get_by_role("button", name="rerank rank 1: passage A, lighthouse.pdf, p. 2")
        expect(best).to_be_visible()
        expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
        quiet(page)

        best.focus()
        expect(page.locator("button.row.same")).to_have_count(4)
        page.keyboard.press("Enter")
        drawer = page.get_by_role("dialog", name="Passage A")
        drawer.get_by_role("button", name="visitors: weight").hover()
        expect(drawer.locator("mark.met")).to_have_text("visitors")

        drawer.get_by_role("button", name="Mark as right").click()
        expect(drawer).to_be_hidden()
        expect(page.get_by_text("The right passage counts most")).to_be_visible()
        query = parse_qs(urlsplit(page.url).query)
        assert query == {"question": [QUESTION], "document": ["lighthouse.pdf"]}


def test_narrow_screen_needs_no_horizontal_scrolling(open_app: OpenApp, address: str) -> None:
    upload(open_app(f"{address}/documents"), "lighthouse.pdf", LIGHTHOUSE)
    page = open_app(f"{address}/{LINK}", width=380)
    expect(page.get_by_role("heading", name="Weight in an answer")).to_be_visible()
    quiet(page)
    assert width_overflow(page) <= 0
    page.get_by_role("textbox", name="Question").fill("When was the lamp lit?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="rerank rank 1: passage A, lighthouse.pdf, p. 1")).to_be_visible()
    quiet(page)
    assert parse_qs(urlsplit(page.url).query)["question"] == ["When was the lamp lit?"]
