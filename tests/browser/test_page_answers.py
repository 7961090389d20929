"""Answers that a capable model writes from whole pages: sources, a second look and a refusal in the browser."""

from __future__ import annotations

import threading
from pathlib import Path

from playwright.sync_api import expect

from tests.support.browser import OpenApp, ask, assert_fits_width, open_chat, quiet, serve
from tests.support.page_models import build_handbook, find_source
from tests.support.servers import Exchange, ScriptedEndpoint, complete

ANSWER = """The harbour fee is 420 crowns for each ship {420}.

1. Explosives are unloaded only at the outer pier {Explosives}.
   - Oily waste is delivered to the barge of the harbour {Oily}.

| Matter | Rule in the words of the handbook of the harbour | Time | Place of the rule | Source |
|---|---|---|---|---|
| Complaints | sent in writing, and the board of the harbour decides on them | 30 days | the last page | {Complaints} |
"""
REFUSAL = "NOT STATED: The fee of 2031 is not stated; the closest is the harbour fee of 420 crowns {420}."


def test_sources_second_look_and_refusal(open_app: OpenApp, tmp_path: Path) -> None:
    go_on = threading.Event()

    def answer_late(exchange: Exchange) -> None:
        go_on.wait(60)
        complete(find_source(exchange.body, ANSWER))(exchange)

    def refuse(exchange: Exchange) -> None:
        complete(find_source(exchange.body, REFUSAL))(exchange)

    look = complete("I look further.\n", "OPEN: handbook.pdf, page 3")
    with (
        ScriptedEndpoint(look, answer_late, refuse) as endpoint,
        serve(
            tmp_path / "data",
            OPENAI_BASE_URL=endpoint.url,
            RAG_OPENAI_MODEL="scripted",
            RAG_OPENAI_CONTEXT_TOKENS="32768",
        ) as address,
    ):
        page = open_chat(open_app, address, {"handbook.pdf": build_handbook()})
        ask(page, "What is the fee of the harbour?")
        expect(page.get_by_text("Read page 3 of handbook.pdf").last).to_be_visible()
        expect(page.get_by_text("I look further.")).to_be_hidden()
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        go_on.set()

        expect(page.get_by_text("Read 8 pages of 1 document")).to_be_visible()
        quiet(page)
        for dark, width in ((False, 1440), (True, 380)):
            page.emulate_media(color_scheme="dark" if dark else "light")
            page.set_viewport_size({"width": width, "height": 900})
            expect(page.get_by_role("region", name="Table").get_by_role("button", name="Source 8")).to_be_attached()
            assert_fits_width(page)
        table = page.get_by_role("region", name="Table")
        assert table.evaluate("frame => frame.scrollWidth > frame.clientWidth")
        page.get_by_text("Read 8 pages of 1 document").click()
        page.get_by_text("[4] handbook.pdf · p. 4").click()
        expect(page.locator("mark", has_text="Explosives are unloaded")).to_be_visible()
        page.get_by_text("4 more pages were read").click()
        other = page.get_by_role("button", name="Source 6: handbook.pdf, page 6")
        expect(other).to_have_text("p. 6")
        other.click()
        expect(page.get_by_role("dialog", name="Source 6:").get_by_alt_text("Page 6 of handbook.pdf")).to_be_visible()
        quiet(page)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()

        ask(page, "What is the fee of the harbour in 2031?")
        refusal = page.get_by_test_id("stChatMessage").last
        expect(refusal.get_by_text("Closest:")).to_be_visible()
        quiet(page)
        refusal.get_by_role("button", name="Source 3: handbook.pdf, page 3").first.click()
        expect(page.get_by_role("dialog", name="Source 3:")).to_be_visible()
