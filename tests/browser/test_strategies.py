"""A strategy from the keyboard to the source: chosen, followed step by step, stopped, kept over a reload."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.browser import OpenApp, ask, quiet, serve, upload
from tests.support.pdfs import make_pdf
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete

TOWER = make_pdf("The Vardo tower is 88 metres tall. Lena Holm drew it.")
CANAL = make_pdf("The Lindow Canal was dug between 1803 and 1811. It is 31 kilometres long.")
QUESTION = "Which is longer, the Vardo tower or the Lindow Canal?"
PARTS = complete("How tall is the Vardo tower?\nHow long is the Lindow Canal?")
WRITTEN = "The Vardo tower is 88 metres tall [1]. The Lindow Canal is 31 kilometres long [2]."


def held(play: Play, until: threading.Event) -> Callable[[Exchange], None]:
    """The same, once an event has come."""

    def wait(exchange: Exchange) -> None:
        until.wait(60)
        play(exchange)

    return wait


def choose(page: Page, name: str, what: str) -> None:
    """Choose a strategy with the keyboard alone, and wait until the page says what it does."""
    select = page.get_by_role("combobox", name="How to search")
    select.focus()
    page.keyboard.press("ArrowDown")
    option = page.get_by_role("option", name=f"Search: {name}")
    expect(option).to_be_visible()
    for _ in range(10):
        if option.get_attribute("aria-selected") == "true" or "true" in (option.get_attribute("data-focused") or ""):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text(what)).to_be_visible()
    quiet(page)


def test_a_comparison_is_followed_part_by_part_and_kept(open_app: OpenApp, tmp_path: Path) -> None:
    planned = threading.Event()
    with (
        ScriptedEndpoint(held(PARTS, planned), complete(WRITTEN)) as endpoint,
        serve(tmp_path / "data", OPENAI_BASE_URL=endpoint.url, RAG_OPENAI_MODEL="slow") as address,
    ):
        page = open_app(f"{address}/documents")
        upload(page, "tower.pdf", TOWER)
        upload(page, "canal.pdf", CANAL)
        page.get_by_role("link", name="Chat").click()
        choose(page, "Compare", "each part is looked up")
        ask(page, QUESTION)
        expect(page.get_by_text("Asking the model what to look up").first).to_be_visible()
        planned.set()
        expect(page.get_by_role("button", name="Source 2: canal.pdf, page 1").first).to_be_visible()
        quiet(page)
        page.get_by_text("· Compare").click()
        expect(page.get_by_text("Searched for “How long is the Lindow Canal?”")).to_be_visible()
        page.get_by_role("button", name="Source 2: canal.pdf, page 1").first.click()
        expect(page.get_by_role("dialog", name="Source 2 of").get_by_alt_text("Page 1 of canal.pdf")).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="Source 2: canal.pdf, page 1").first).to_be_visible()
        expect(page.get_by_text("· Compare")).to_be_visible()


def test_a_strategy_that_is_stopped_asks_the_model_for_no_more(open_app: OpenApp, tmp_path: Path) -> None:
    stopped = threading.Event()
    with (
        ScriptedEndpoint(held(complete("It is 7 metres tall."), stopped)) as endpoint,
        serve(tmp_path / "data", OPENAI_BASE_URL=endpoint.url, RAG_OPENAI_MODEL="slow") as address,
    ):
        page = open_app(f"{address}/documents")
        upload(page, "tower.pdf", TOWER)
        page.get_by_role("link", name="Chat").click()
        choose(page, "Hypothetical answer", "similar passages are searched for")
        ask(page, "How tall is the Vardo tower?")
        expect(page.get_by_text("Asking the model for a made-up answer").first).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        # Only now may the model answer: before the stop is noted, the search would go on.
        expect(page.get_by_text("Stopping after the current step")).to_be_visible()
        stopped.set()
        expect(page.get_by_text("Stopped before there was an answer.")).to_be_visible()
        assert len(endpoint.requests) == 1
