"""Conversations: citations, corrected follow-ups, exports, narrow screens and an interrupted model."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser import OpenApp, ask, open_chat, quiet, serve, width_overflow
from tests.support.pdfs import make_pdf
from tests.support.servers import Exchange, ScriptedEndpoint

TOWER = make_pdf(
    "The town of Vardo lies on an island. Its harbour is free of ice in winter.",
    "The Vardo tower is 88 metres tall. Lena Holm drew it. Lena Holm lived in Bergen until 1920.",
    "Boats leave for the mainland every hour.",
)
QUESTION = "How tall is the Vardo tower?"


def break_off(exchange: Exchange) -> None:
    """Send part of an answer, then close the connection."""
    exchange.start()
    exchange.delta("The Vardo tower is eighty")
    exchange.drop()


def test_conversation_with_sources_follow_ups_and_export(open_app: OpenApp, address: str) -> None:
    page = open_chat(open_app, address, {"tower.pdf": TOWER})
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

    drawer = page.get_by_role("dialog", name="Source 1 of")
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
    for kind, beginning in (("Markdown", b"# How tall is the Vardo tower?"), ("PDF", b"%PDF-")):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        assert Path(download.value.path()).read_bytes().startswith(beginning)
        page.keyboard.press("Escape")


def test_conversation_fits_a_narrow_screen(open_app: OpenApp, address: str) -> None:
    page = open_app(address, width=380)
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Edit question")).to_be_visible()
    quiet(page)
    for dark in (False, True):
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.reload()
        expect(page.get_by_role("button", name="Edit question")).to_be_visible()
        quiet(page)
        page.get_by_role("button", name="Source 1: tower.pdf, page 2").first.focus()
        expect(page.locator(".tip")).to_be_visible()
        assert width_overflow(page) <= 0


@pytest.mark.parametrize(("width", "height"), [(380, 700), (1440, 900)])
def test_edited_question_is_asked_without_scrolling(open_app: OpenApp, address: str, width: int, height: int) -> None:
    page = open_app(address, width=width)
    page.set_viewport_size({"width": width, "height": height})
    ask(page, QUESTION)
    page.get_by_role("button", name="Edit question").click()
    dialog = page.get_by_role("dialog", name="Edit question")
    button = dialog.get_by_role("button", name="Ask")
    expect(button).to_be_in_viewport(ratio=1)
    field = dialog.get_by_label("Question")
    expect(field).to_have_value(QUESTION)
    field.fill("Who drew the Vardo tower?")
    button.click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text("Who drew the Vardo tower?")
    # While the script runs, the button of the former question may still be there.
    quiet(page)
    expect(page.get_by_role("button", name="Edit question")).to_be_visible()


def test_interrupted_answer_is_kept_and_quotes_are_shown_on_demand(
    open_app: OpenApp, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("broken") / "data"
    with (
        ScriptedEndpoint(break_off) as endpoint,
        serve(folder, RAG_OPENAI_BASE_URL=endpoint.url, RAG_OPENAI_MODEL="m", RAG_OPENAI_API_KEY="none") as address,
    ):
        page = open_chat(open_app, address, {"tower.pdf": TOWER})
        ask(page, QUESTION)
        page.get_by_role("button", name="Show quotes").click()
        expect(page.get_by_text("Quotes from the documents follow the text.")).to_be_visible()
        expect(page.get_by_role("button", name="Source 1: tower.pdf, page 2").first).to_be_visible()
        expect(page.get_by_text("eighty").first).to_be_visible()


@pytest.mark.parametrize(("width", "collapsed"), [(390, "true"), (1280, "false")])
def test_sidebar_collapses_on_narrow_screens(open_app: OpenApp, address: str, width: int, collapsed: str) -> None:
    page = open_app(address, width=width)
    sidebar = page.get_by_test_id("stSidebar")
    ask(page, "How tall is the lighthouse of Utsira?")
    expect(page.get_by_text("How tall is the lighthouse of Utsira?").first).to_be_visible()
    quiet(page)
    for name in ("New chat", "How tall is the light", "New chat"):
        if sidebar.get_attribute("data-collapsed") == "true":
            page.get_by_test_id("stExpandSidebarButton").click()
        expect(sidebar).to_have_attribute("data-collapsed", "false")
        sidebar.get_by_role("button", name=name).first.click()
        quiet(page)
        expect(sidebar).to_have_attribute("data-collapsed", collapsed)
