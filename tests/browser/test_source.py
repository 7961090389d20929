"""The source beside the conversation, and the newest question in view."""

from __future__ import annotations

import time

from playwright.sync_api import Page, expect

from tests.support.browser import PATIENCE_MS, OpenApp, ask, quiet

QUESTION = "Who were the keepers of the lights of Kvalnes, Sandvika and Torvik?"


def find_message(page: Page, text: str) -> dict[str, float]:
    """Return the rectangle of the last message with a text, once it is on the screen."""
    message = page.get_by_test_id("stChatMessage").filter(has_text=text).last
    expect(message).to_be_in_viewport()
    box = message.bounding_box()
    assert box is not None
    return {name: float(value) for name, value in box.items()}


def test_source_stays_open_beside_the_conversation(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    page.set_viewport_size({"width": 1440, "height": 900})
    ask(page, QUESTION)
    answer = page.get_by_test_id("stChatMessage").last
    for number in (1, 2, 3):
        citation = answer.get_by_role("button", name=f"Source {number}: lights.pdf").first
        place = citation.bounding_box()
        citation.click()
        source = page.get_by_role("dialog", name=f"Source {number}:")
        expect(source.get_by_role("img", name="of lights.pdf")).to_be_visible()
        expect(source).to_be_focused()
    # The text beside the source is narrower, and what was clicked stays where it was.
    quiet(page)
    moved = citation.bounding_box()
    assert place
    assert moved
    assert abs(moved["y"] - place["y"]) < 3
    shown, beside = answer.bounding_box(), source.bounding_box()
    assert shown
    assert beside
    assert shown["x"] + shown["width"] <= beside["x"]
    # The conversation can be used: a second question is asked while the source is open.
    ask(page, "How often does the light of Torvik flash?")
    expect(answer.get_by_text("green flash every four seconds").first).to_be_visible()
    expect(source).to_be_visible()

    page.set_viewport_size({"width": 380, "height": 800})
    expect(source.get_by_role("button", name="Close")).to_be_visible()
    box = source.bounding_box()
    assert box
    assert (box["x"], box["width"]) == (0, 380)
    source.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    quiet(page)
    page.go_back()
    expect(page.get_by_role("dialog", name="Source 3:")).to_be_visible()


def test_keyboard_opens_steps_through_and_closes_sources(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    ask(page, QUESTION)
    citation = page.get_by_role("button", name="Source 1: lights.pdf").first
    expect(citation).to_be_visible()
    page.get_by_test_id("stChatInputTextArea").focus()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="First source of the newest answer")).to_be_focused()
    page.keyboard.press("Enter")
    expect(citation).to_be_focused()
    page.keyboard.press("Enter")
    source = page.get_by_role("dialog")
    expect(source).to_be_focused()
    source.get_by_role("button", name="Next source").focus()
    page.keyboard.press("Enter")
    expect(source.get_by_text("2 of 3")).to_be_visible()
    quiet(page)
    # A key that is pressed in a step of its own can reach a button that is drawn anew.
    source.get_by_role("button", name="Next page").first.press("Enter")
    source.get_by_role("button", name="Back to the quote").press("Enter")
    expect(source.get_by_role("button", name="Back to the quote")).to_have_count(0)
    quiet(page)
    page.keyboard.press("Escape")
    expect(source).to_have_count(0)
    expect(citation).to_be_focused()


def test_newest_question_is_in_view(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    for width, height in ((1440, 900), (380, 656)):
        page.set_viewport_size({"width": width, "height": height})
        for question in ("Who was the keeper of the light of Sandvika?", "How often does the light of Kvalnes flash?"):
            before = page.get_by_test_id("stChatMessage").count()
            ask(page, question)
            expect(page.get_by_test_id("stChatMessage")).to_have_count(before + 2)
            expect(page.get_by_test_id("stChatMessage").last.get_by_text("These passages")).to_be_visible()
            quiet(page)
            assert 0 <= find_message(page, question)["y"] < height / 3
            assert find_message(page, "These passages")["y"] < height / 2
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Source 1").last.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.set_viewport_size({"width": 380, "height": 656})
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    ask(page, question)
    expect(page.get_by_test_id("stChatMessage")).to_have_count(10)
    quiet(page)
    page.wait_for_timeout(1500)
    # The shorter conversation of a wide window cannot be scrolled as far.
    page.set_viewport_size({"width": 1440, "height": 900})
    # The page scrolls for a second after each change of its layout.
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not 0 <= find_message(page, question)["y"] < 300:
        assert time.monotonic() < deadline
        page.wait_for_timeout(200)
