"""Every page: its accessibility in both themes (WCAG 2.2 AA), and its width on a phone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.accessibility import find_violations
from tests.support.app import LENGTH
from tests.support.browser import (
    OpenApp,
    ask,
    assert_fits_width,
    choose_files,
    evaluate_rows,
    follow,
    quiet,
    start_chat,
)
from tests.support.contrast import find_faint_text

ROWS = [
    {"question": LENGTH, "document": "bridge.pdf", "page_index": 0, "answers": ["412 metres"]},
    {"question": "When was the Harrow Bridge opened?", "document": "bridge.pdf", "page": "1", "answers": ["1850"]},
    {"question": "Who won the chess match in Reykjavik in 1972?", "kind": "no answer"},
]
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 28)"}


def check_page(page: Page) -> None:
    """Open all that is folded; check accessibility in both themes, and that a phone needs no horizontal scrolling."""
    for hidden in page.get_by_test_id("stExpander").locator("summary").all():
        hidden.click()
    quiet(page)
    page.mouse.move(5, 5)
    for theme, background in BACKGROUNDS.items():
        page.emulate_media(color_scheme=theme)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        page.wait_for_timeout(500)  # the colours change gradually
        assert find_faint_text(page) == [], (page.url, theme)
    # Only the colours differ between the themes.
    assert find_violations(page) == [], page.url
    page.set_viewport_size({"width": 380, "height": 900})
    quiet(page)
    assert_fits_width(page)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_evaluation_of_a_file_links_wrong_answers_to_the_lab(open_app: OpenApp, address: str) -> None:
    page = open_app(f"{address}/evaluate")
    evaluate_rows(page, ROWS)
    expect(page.get_by_text("Went wrong: 1 of 3 questions")).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    link = page.get_by_role("link", name="When was the Harrow Bridge opened?")
    assert link.evaluate("link => link.href") == f"{address}/lab?question=When+was+the+Harrow+Bridge+opened%3F"
    expect(page.get_by_role("button", name="Use 0.")).to_be_enabled()
    check_page(page)


def test_text_has_enough_contrast_and_fits_a_phone(open_app: OpenApp, address: str) -> None:
    page = open_app(f"{address}/lab?question={LENGTH}")
    check_page(page)
    for name in ("Settings", "Check a text", "Themes"):
        follow(page, name)
        check_page(page)
    follow(page, "Documents")
    choose_files(page, {"notes.pdf": b"These are only notes."})
    expect(page.get_by_text("Not added:")).to_be_visible()
    check_page(page)

    start_chat(page)
    check_page(page)
    ask(page, "Who won the chess match in Reykjavik?")
    expect(page.get_by_text("I don't know")).to_be_visible()
    quiet(page)
    ask(page, LENGTH)
    expect(page.get_by_role("button", name="Source 1").first).to_be_visible()
    quiet(page)
    page.get_by_role("button", name="Source 1").first.click()
    expect(page.get_by_role("dialog").get_by_role("img", name="Page ")).to_be_visible()
    check_page(page)
    page.keyboard.press("Escape")
    for theme in BACKGROUNDS:
        page.emulate_media(color_scheme=theme)
        for name in ("Ask again", "Export"):
            page.get_by_role("button", name=name).last.hover()
            page.wait_for_timeout(500)
            assert find_faint_text(page) == [], (name, theme)
        page.get_by_role("button", name="Export").last.click()
        expect(page.get_by_role("button", name="Markdown")).to_be_visible()
        page.wait_for_timeout(500)
        assert find_faint_text(page) == [], theme
        page.keyboard.press("Escape")
