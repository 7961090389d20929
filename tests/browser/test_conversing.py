"""Conversations: citations, corrected follow-ups, exports, and narrow screens."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

from playwright.sync_api import expect

from tests.support.browser import OpenApp, ask, assert_fits_width, quiet
from tests.support.browser_data import TOWER
from tests.support.browser_data import TOWER_QUESTION as QUESTION


def test_conversation_with_sources_follow_ups_and_export(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    ask(page, QUESTION)
    citation = page.get_by_role("button", name="Source 1: tower.pdf, page 2").first
    tip = page.get_by_role("tooltip", name="tower.pdf, page 2").or_(page.locator(".tip"))
    quiet(page)
    citation.hover()
    expect(tip).to_have_text("tower.pdf, page 2")
    page.mouse.move(0, 0)
    expect(tip).to_have_count(0)
    quiet(page)
    citation.focus()
    expect(tip).to_have_text("tower.pdf, page 2")
    page.keyboard.press("Enter")

    drawer = page.get_by_role("dialog", name="Source 1:")
    expect(drawer.locator("img[alt='Page 2 of tower.pdf']")).to_be_visible()
    drawer.get_by_text("Text before (p. 1)").click()
    expect(drawer.get_by_text("free of ice in winter")).to_be_visible()
    drawer.get_by_text("Text after (p. 3)").click()
    expect(drawer.get_by_text("Boats leave for the mainland")).to_be_visible()
    with page.context.expect_event("request", lambda request: "/media/" in request.url) as opened:
        drawer.get_by_role("button", name="Open PDF at page 2").click()
    with urllib.request.urlopen(opened.value.url.partition("#")[0], timeout=30) as response:
        assert response.headers["Content-Type"] == "application/pdf"
        assert "Content-Disposition" not in response.headers
        assert response.read() == TOWER
    page.bring_to_front()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()

    ask(page, "Who drew it?")
    expect(page.get_by_text("Searched for: Who drew it (tall Vardo tower)?")).to_be_visible()
    quiet(page)
    expect(page.get_by_role("button", name="Export")).to_be_visible()
    quiet(page)
    page.get_by_role("button", name="Edit search").click()
    field = page.get_by_label("Search for")
    expect(field).to_have_value("Who drew it (tall Vardo tower)?")
    field.fill("When do boats leave for the mainland?")
    field.press("Tab")
    page.get_by_role("dialog").get_by_role("button", name="Ask").click()
    expect(page.get_by_text("Searched for: When do boats leave for the mainland?")).to_be_visible()
    newest = page.get_by_test_id("stChatMessage").last
    expect(newest.get_by_text("every hour").first).to_be_visible()
    quiet(page)
    page.reload()
    expect(page.get_by_text("Searched for: When do boats leave for the mainland?")).to_be_visible()
    quiet(page)
    for kind, beginning in (
        ("Markdown", b"# How tall is the Vardo tower?"),
        ("PDF", b"%PDF-"),
        ("Word (DOCX)", b"PK"),
    ):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        assert Path(download.value.path()).read_bytes().startswith(beginning)
        assert re.fullmatch(r"How tall is the Vardo tower [\d-]{10}\.(md|pdf|docx)", download.value.suggested_filename)
        page.keyboard.press("Escape")


def test_conversation_fits_a_narrow_screen(open_app: OpenApp, address: str) -> None:
    page = open_app(address, width=380)
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Edit question")).to_be_visible()
    quiet(page)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.get_by_role("button", name="Source 1: tower.pdf, page 2").first.focus()
        expect(page.locator(".tip")).to_be_visible()
        assert_fits_width(page)
    page.set_viewport_size({"width": 380, "height": 700})
    page.get_by_role("button", name="Edit question").click()
    dialog = page.get_by_role("dialog", name="Edit question")
    button = dialog.get_by_role("button", name="Ask")
    expect(button).to_be_in_viewport(ratio=1)
    dialog.get_by_label("Question").fill("Who drew the Vardo tower?")
    button.click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text("Who drew the Vardo tower?")
    # While the script runs, the button of the former question may still be there.
    quiet(page)
    expect(page.get_by_role("button", name="Edit question")).to_be_visible()
