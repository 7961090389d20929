"""Marks in the answer of a model: visible, reachable by keyboard, with the compared passage."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.support.browser import OpenApp, ask, open_chat, quiet, serve
from tests.support.pdfs import make_pdf
from tests.support.servers import ScriptedEndpoint, complete

CANAL = make_pdf("The Tornea canal is 64 kilometres long. It has nineteen locks and was dug by hand.")
WRITTEN = "The Tornea canal is **74** kilometres long [1]. Cheese ripens best in caves of limestone."


def test_marks_are_visible_and_open_the_compared_passage(open_app: OpenApp, tmp_path: Path) -> None:
    with (
        ScriptedEndpoint(complete(WRITTEN)) as endpoint,
        serve(tmp_path / "data", OPENAI_BASE_URL=endpoint.url, RAG_OPENAI_MODEL="scripted") as address,
    ):
        page = open_chat(open_app, address, {"canal.pdf": CANAL})
        ask(page, "How long is the Tornea canal?")
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
        for width, dark in ((1280, False), (380, True)):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if dark else "light")
            expect(differs).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.set_viewport_size({"width": 1280, "height": 900})
        differs.focus()
        expect(page.locator(".tip")).to_have_text("Compared with canal.pdf, page 1")
        page.keyboard.press("Enter")
        drawer = page.get_by_role("dialog", name="Source 1 of")
        expect(drawer.locator("mark").first).to_contain_text("64 kilometres")
        quiet(page)
        page.keyboard.press("Escape")
        expect(drawer).to_be_hidden()
        missing.click()
        expect(drawer).to_be_visible()
