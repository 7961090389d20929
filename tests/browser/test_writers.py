"""The model beside the input, and instructions: chosen in the browser, and kept after a restart by a first visit."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import WritingApp
from tests.support.browser import OpenApp, ask, assert_fits_width, click_until, follow, open_chat, quiet, serve
from tests.support.browser_data import TOWER
from tests.support.browser_data import TOWER_QUESTION as QUESTION
from tests.support.servers import ScriptedEndpoint, complete, serving

WRITTEN = serving("large", "small", answer=complete("The Vardo tower is 88 metres tall [1]."))
ANSWERS = "Next answers in this conversation"


def open_popover(page: Page, label: str) -> None:
    button = page.get_by_test_id("stPopover").get_by_role("button", name=label)
    click_until(button, expect(page.get_by_test_id("stPopoverBody")).to_be_visible)


def choose_typed(page: Page, name: str) -> None:
    """Type the name of a model into the list, and close the popover."""
    box = page.get_by_role("combobox", name=ANSWERS)
    box.fill(name)
    box.press("Enter")
    expect(page.get_by_test_id("stPopover").get_by_role("button", name=name)).to_be_visible()
    quiet(page)
    page.keyboard.press("Escape")


def write_instructions(page: Page, text: str) -> None:
    open_popover(page, "Instructions")
    field = page.get_by_label("Instructions for answers in this conversation")
    field.fill(text)
    # A click elsewhere ends the entry, as when a reader goes on to ask; the popover may cover the middle of the input.
    page.get_by_test_id("stChatInputTextArea").click(position={"x": 10, "y": 10})
    expect(page.get_by_test_id("stPopover").get_by_role("button", name="Instructions: on")).to_be_visible()
    quiet(page)


def test_model_and_instructions_are_chosen_and_kept(open_app: OpenApp, tmp_path: Path) -> None:
    with ScriptedEndpoint(WRITTEN) as endpoint:
        served = {"RAG_OPENAI_BASE_URL": endpoint.url, "RAG_OPENAI_MODEL": "small"}
        with serve(tmp_path / "data", **served) as address:
            page = open_chat(open_app, address, {"tower.pdf": TOWER})
            expect(page.get_by_test_id("stPopover").get_by_role("button", name="small")).to_be_visible()
            ask(page, QUESTION)
            expect(page.get_by_text("Written by small")).to_be_visible()
            quiet(page)
            assert "/v1/models" not in endpoint.paths
            open_popover(page, "small")
            page.get_by_role("button", name="List models").click()
            expect(page.get_by_role("combobox", name=ANSWERS)).to_be_visible()
            choose_typed(page, "large")
            write_instructions(page, "Answer in German.")
            ask(page, QUESTION)
            expect(page.get_by_text("Written by large")).to_be_visible()
            expect(page.get_by_text("Written by small")).to_be_visible()
            quiet(page)
            conversation = page.url.removeprefix(address)
        assert [request["model"] for request in endpoint.requests] == ["small", "large"]
        assert "Answer in German." in endpoint.requests[1]["messages"][-1]["content"]
        with serve(tmp_path / "data", **served) as address:
            # The first visit of a process leads to the page of its address.
            page = open_app(f"{address}/lab?question=How+tall+is+the+Vardo+tower%3F&document=tower.pdf")
            expect(page.get_by_role("button", name="rerank rank 1: passage A, tower.pdf, p. 2")).to_be_visible()
            expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
            expect(page).to_have_title("Lab · Footnote")
            expect(page.get_by_text("Page not found")).to_be_hidden()
            quiet(page)
            follow(page, "Settings")
            expect(page.get_by_text("Everything works.")).to_be_visible()
            for name in ("Chat", "Documents", "Settings"):
                expect(page.get_by_role("link", name=name)).to_be_visible()
            page.goto(f"{address}{conversation}")
            quiet(page)
            expect(page.get_by_test_id("stPopover").get_by_role("button", name="large")).to_be_visible()
            expect(page.get_by_test_id("stPopover").get_by_role("button", name="Instructions: on")).to_be_visible()
            open_popover(page, "large")
            page.get_by_text("Quotes only", exact=True).click()
            expect(page.get_by_test_id("stPopover").get_by_role("button", name="Quotes only")).to_be_visible()
            quiet(page)
            expect(page.get_by_role("button", name="How to search")).to_have_count(0)
            page.keyboard.press("Escape")
            ask(page, QUESTION)
            expect(page.get_by_text("These passages may answer your question.")).to_be_visible()
            expect(page.get_by_test_id("stChatMessage").last.locator("mark").first).to_have_text("88 metres")
            quiet(page)
            expect(page.get_by_text("Written by")).to_have_count(2)
        assert len(endpoint.requests) == 2


def test_choosers_fit_the_screen(open_app: OpenApp, writing_app: WritingApp) -> None:
    page = open_app(writing_app.address)
    for width, theme in product((1440, 380), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        for label, inside in (
            ("small", page.get_by_text("Quotes only", exact=True)),
            ("Instructions", page.get_by_label("Instructions for answers in this conversation")),
        ):
            open_popover(page, label)
            expect(inside).to_be_in_viewport()
            assert_fits_width(page)
            page.keyboard.press("Escape")
            expect(inside).to_be_hidden()
