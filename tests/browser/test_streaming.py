"""Answers that a language model writes slowly: display, reload, stop and an end half-way."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WritingApp
from tests.support.browser import OpenApp, ask, quiet
from tests.support.browser_data import TOWER_QUESTION as QUESTION
from tests.support.servers import Exchange, complete

HOSTILE = "![x](http://evil.example/a.png) <img src=http://evil.example/b.png> $x|y$"


@dataclass
class SlowModel:
    """Sends the first part of an answer, waits for an event, then sends the rest."""

    go_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, exchange: Exchange) -> None:
        exchange.start()
        exchange.delta(f"**The Vardo tower** is 88 metres tall [1]. {HOSTILE}")
        try:
            while not self.go_on.wait(0.1):
                exchange.delta(" ")
            exchange.delta(" Lena Holm finished it in 1902 [1].")
            exchange.finish()
        except OSError:
            exchange.drop()


@pytest.fixture
def model(writing_app: WritingApp) -> Iterator[SlowModel]:
    """Return the model, which waits; let it finish after the test."""
    writer = SlowModel()
    writing_app.endpoint.restart(writer)
    yield writer
    writer.go_on.set()


@pytest.fixture
def page(open_app: OpenApp, writing_app: WritingApp) -> Page:
    """Open a new chat about the tower."""
    return open_app(writing_app.address)


def test_streamed_answer_survives_reload_and_is_followed_by_others(page: Page, model: SlowModel) -> None:
    ask(page, QUESTION)
    expect(page.get_by_text("88 metres tall [1]. " + HOSTILE)).to_be_visible()
    expect(page.get_by_text("Lena Holm")).to_be_hidden()
    expect(page.get_by_test_id("stChatMessage").locator("strong", has_text="The Vardo tower")).to_be_visible()

    page.reload()
    expect(page.get_by_text("88 metres tall [1]. " + HOSTILE)).to_be_visible()
    model.go_on.set()
    expect(page.get_by_role("button", name="Source 1: tower.pdf, page 1").first).to_be_visible()
    # The streamed text may still be there for a moment.
    expect(page.get_by_text(HOSTILE).last).to_be_visible()
    expect(page.get_by_text("Lena Holm finished it in 1902").first).to_be_visible()
    expect(page.get_by_test_id("stChatMessage").locator("strong", has_text="The Vardo tower").last).to_be_visible()
    expect(page.get_by_text("Written by small")).to_be_visible()

    for number in (1, 2):
        model.go_on.clear()
        ask(page, QUESTION)
        expect(page.get_by_text("88 metres tall [1]. " + HOSTILE).last).to_be_visible()
        expect(page.get_by_text("Written by small")).to_have_count(number)  # none below the text
        page.wait_for_timeout(1500)  # the page polls for the answer in this time
        model.go_on.set()
        expect(page.get_by_text("Written by small")).to_have_count(number + 1)
        expect(page.get_by_test_id("stChatInputTextArea")).to_be_focused()


@pytest.mark.usefixtures("model")
def test_stopped_answer_keeps_its_text(page: Page) -> None:
    ask(page, QUESTION)
    expect(page.get_by_text("88 metres tall [1].").first).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped before the end.")).to_be_visible()
    expect(page.get_by_text("It was not checked against the sources.")).to_be_visible()
    quiet(page)
    expect(page.get_by_text("is 88 metres tall").first).to_be_visible()
    page.reload()
    expect(page.get_by_text("Stopped before the end.")).to_be_visible()
    expect(page.get_by_role("button", name="Source 1: tower.pdf, page 1").first).to_be_visible()

    page.get_by_role("button", name="Ask again").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    # It may have been stopped before its first words.
    expect(page.get_by_text(re.compile("Stopped before (the end|there was an answer)"))).to_have_count(1)


def test_open_source_and_dialog_stay_open_when_an_answer_ends(page: Page, model: SlowModel) -> None:
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("button", name="Menu of").first.click()
    page.get_by_role("menuitem", name="Rename").click()
    dialog = page.get_by_role("dialog", name="Rename conversation")
    dialog.get_by_label("Title").fill("The tower of Vardo")
    model.go_on.set()
    expect(page.get_by_text("Written by small")).to_be_visible()
    quiet(page)
    dialog.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("button", name="The tower of Vardo", exact=True)).to_be_visible()
    quiet(page)
    expect(dialog).to_be_hidden()

    model.go_on.clear()
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("button", name="Source 1: tower.pdf, page 1").first.click()
    drawer = page.get_by_role("dialog", name="Source 1:")
    expect(drawer.get_by_alt_text("Page 1 of tower.pdf")).to_be_visible()
    model.go_on.set()
    expect(page.get_by_text("Written by small")).to_have_count(2)
    quiet(page)
    expect(drawer.get_by_alt_text("Page 1 of tower.pdf")).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    quiet(page)
    expect(drawer).to_be_hidden()


def test_interrupted_answer_is_kept_quoted_on_demand_and_continued(page: Page, writing_app: WritingApp) -> None:
    def break_off(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("The Vardo tower is 88 metres tall [1]. Lena")
        exchange.drop()

    writing_app.endpoint.restart(break_off, complete("Holm finished ", "it in 1902 [1]."))
    ask(page, QUESTION)
    expect(page.get_by_text("stopped half-way")).to_be_visible()
    page.get_by_role("button", name="Show quotes").click()
    expect(page.get_by_text("Quotes from the documents follow the text.")).to_be_visible()
    expect(page.get_by_role("button", name="Source 1: tower.pdf, page 1").first).to_be_visible()
    quiet(page)
    page.reload()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Lena Holm finished it in 1902").first).to_be_visible()
    expect(page.get_by_text("The Vardo tower is 88 metres tall").first).to_be_visible()
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)
    expect(page.get_by_text("stopped half-way")).to_have_count(0)
