"""Answers that a language model writes slowly: display, reload and stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.browser import OpenApp, add_document, ask, quiet, serve
from tests.support.pdfs import make_pdf
from tests.support.servers import Exchange, ScriptedEndpoint

QUESTION = "How tall is the Vardo tower?"
TOWER = make_pdf("The Vardo tower is 88 metres tall and was finished in 1902 by the architect Lena Holm.")
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
            exchange.delta(finish="stop")
            exchange.event("[DONE]")
            exchange.end()
        except OSError:
            exchange.drop()


@pytest.fixture(scope="module")
def writer() -> SlowModel:
    return SlowModel()


@pytest.fixture
def model(writer: SlowModel) -> Iterator[SlowModel]:
    """Return the model, which waits; let it finish after the test."""
    writer.go_on.clear()
    yield writer
    writer.go_on.set()


@pytest.fixture(scope="module")
def address(writer: SlowModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        ScriptedEndpoint(writer) as endpoint,
        serve(
            tmp_path_factory.mktemp("app") / "data",
            RAG_OPENAI_BASE_URL=endpoint.url,
            RAG_OPENAI_MODEL="slow",
            RAG_OPENAI_API_KEY="none",
        ) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def library(profile: BrowserContext, address: str) -> None:
    add_document(profile, address, "tower.pdf", TOWER)


@pytest.fixture
def page(open_app: OpenApp, address: str, library: None, model: SlowModel) -> Page:
    """Open a new chat about the tower."""
    return open_app(address)


def test_streamed_answer_survives_reload(page: Page, model: SlowModel) -> None:
    ask(page, QUESTION)
    expect(page.get_by_text("88 metres tall [1]. " + HOSTILE)).to_be_visible()
    expect(page.get_by_text("Lena Holm")).to_be_hidden()
    expect(page.locator("strong", has_text="The Vardo tower")).to_be_visible()

    page.reload()
    expect(page.get_by_text("88 metres tall [1]. " + HOSTILE)).to_be_visible()
    model.go_on.set()
    expect(page.get_by_role("button", name="Source 1: tower.pdf, page 1").first).to_be_visible()
    expect(page.get_by_text(HOSTILE)).to_be_visible()
    expect(page.get_by_text("Lena Holm finished it in 1902").first).to_be_visible()
    expect(page.get_by_test_id("stChatMessage").locator("strong", has_text="The Vardo tower")).to_be_visible()
    expect(page.get_by_text("Written by slow")).to_be_visible()


def test_next_question_can_be_asked_after_slow_answer(page: Page, model: SlowModel) -> None:
    for number in range(1, 4):
        model.go_on.clear()
        ask(page, QUESTION)
        expect(page.get_by_text("88 metres tall [1]. " + HOSTILE).last).to_be_visible()
        expect(page.get_by_text("Written by slow")).to_have_count(number - 1)  # none below the text
        page.wait_for_timeout(1500)  # the page polls for the answer in this time
        model.go_on.set()
        expect(page.get_by_text("Written by slow")).to_have_count(number)
        expect(page.get_by_test_id("stChatInputTextArea")).to_be_enabled()


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
    expect(page.get_by_text("Stopped before the end.")).to_have_count(1)


def test_source_stays_open_when_an_answer_ends(page: Page, model: SlowModel) -> None:
    model.go_on.set()
    ask(page, QUESTION)
    expect(page.get_by_text("Written by slow")).to_be_visible()
    quiet(page)
    model.go_on.clear()
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("button", name="Source 1: tower.pdf, page 1").first.click()
    drawer = page.get_by_role("dialog", name="Source 1 of")
    expect(drawer.get_by_alt_text("Page 1 of tower.pdf")).to_be_visible()
    model.go_on.set()
    expect(page.get_by_text("Written by slow")).to_have_count(2)
    quiet(page)
    expect(drawer.get_by_alt_text("Page 1 of tower.pdf")).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    quiet(page)
    expect(drawer).to_be_hidden()


def test_title_dialog_stays_open_when_an_answer_ends(page: Page, model: SlowModel) -> None:
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("button", name="Edit", exact=True).first.click()
    page.get_by_role("menuitem", name="Rename").click()
    dialog = page.get_by_role("dialog", name="Rename conversation")
    dialog.get_by_label("Title").fill("The tower of Vardo")
    model.go_on.set()
    expect(page.get_by_text("Written by slow")).to_be_visible()
    quiet(page)
    dialog.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("button", name="The tower of Vardo", exact=True)).to_be_visible()
    quiet(page)
    expect(dialog).to_be_hidden()
