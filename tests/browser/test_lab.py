"""The Lab page: passages, matching words and labels."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.support.browser import OpenApp, assert_fits_width, quiet

LINK = "lab?question=How+many+visitors+did+the+Brennick+lighthouse+museum+have%3F&document=lighthouse.pdf"


def test_click_shows_matching_words_and_a_narrow_screen_needs_no_horizontal_scrolling(
    open_app: OpenApp, address: str
) -> None:
    page = open_app(f"{address}/{LINK}")
    best = page.get_by_role("button", name="rerank rank 1: passage A, lighthouse.pdf, p. 2")
    expect(best).to_be_visible()
    question = page.get_by_role("textbox", name="Question")
    expect(question).to_have_value("How many visitors did the Brennick lighthouse museum have?")
    quiet(page)
    asked = parse_qs(urlsplit(page.url).query)
    page.get_by_role("button", name="Source 1: lighthouse.pdf").first.click()
    expect(page.get_by_role("dialog").get_by_role("img", name="of lighthouse.pdf")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
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
    assert parse_qs(urlsplit(page.url).query) == asked

    page.set_viewport_size({"width": 380, "height": 900})
    expect(page.get_by_role("heading", name="How much each passage counts")).to_be_visible()
    quiet(page)
    assert_fits_width(page)
    question.fill("When was the lamp lit?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="rerank rank 1: passage A, lighthouse.pdf, p. 1")).to_be_visible()
    quiet(page)
    assert parse_qs(urlsplit(page.url).query)["question"] == ["When was the lamp lit?"]
