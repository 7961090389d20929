"""Marks in the answer of a model: visible, reachable by keyboard, with the compared passage."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import WritingApp
from tests.support.browser import OpenApp, ask, quiet
from tests.support.browser_data import CANAL_QUESTION
from tests.support.servers import complete

TABLE = """| Canal | What is said of its length in the documents of the library | Length | Unit of the length | Source |
|---|---|---|---|---|
| Tornea | it is stated in the text of the first page | 64 | kilometres | [1] |"""


def test_marks_are_visible_and_open_the_compared_passage(open_app: OpenApp, writing_app: WritingApp) -> None:
    writing_app.endpoint.restart(
        complete(
            f"The Tornea canal is **74** kilometres long [1]. Cheese ripens best in caves of limestone.\n\n{TABLE}"
        )
    )
    page = open_app(writing_app.address)
    ask(page, CANAL_QUESTION)
    differs = page.get_by_role("button", name="differs from the source: 64 kilometres")
    missing = page.get_by_role("button", name="not found in the sources")
    expect(differs).to_have_text("differs from the source: 64 kilometres")
    expect(missing).to_have_text("not found in the sources")
    quiet(page)
    # Marks with emphasis inside do not break the line.
    tops = page.locator(".doubt").evaluate_all(
        "all => all.slice(0, 3).map((element) => element.getBoundingClientRect().top)"
    )
    assert len(tops) == 3
    assert max(tops) - min(tops) < 5
    for width, theme in ((1280, "light"), (380, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        expect(differs).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    # A wide table is scrolled by itself.
    assert page.get_by_role("region", name="Table").evaluate("frame => frame.scrollWidth > frame.clientWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    differs.focus()
    expect(page.locator(".tip")).to_have_text("Compared with tornea.pdf, page 1")
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog", name="Source 1:")
    expect(drawer.locator("mark").first).to_contain_text("64 kilometres")
    quiet(page)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    missing.click()
    expect(drawer).to_be_visible()
