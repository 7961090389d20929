"""The way from upload to deletion, names of files, and a conversation that another window deletes."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.browser import OpenApp, ask, follow, highlighted_pixels, open_chat, quiet, start_chat
from tests.support.pdfs import make_pdf

QUESTION = "How many visitors did the Orsk observatory have?"
OBSERVATORY = make_pdf(
    "The Orsk observatory stands on a hill of red sandstone. Its telescope was built in 1874.",
    "The Orsk observatory had 18,240 visitors last year $5|day <img src=http://evil.example/a.png> "
    "![x](http://evil.example/b.png) `rm` and [more](http://evil.example/c).",
)


def delete_document(page: Page, name: str) -> None:
    page.locator(".st-key-document_search input").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of ").first).to_be_visible()
    quiet(page)
    # The table is drawn on a canvas: click at the position of the first row's check box.
    page.get_by_test_id("stDataFrame").first.click(position={"x": 17, "y": 52})
    page.get_by_role("button", name="Delete 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 1 document").click()
    expect(page.get_by_text("0 remaining")).to_be_visible()


def test_from_upload_to_deleted_source(open_app: OpenApp, address: str) -> None:
    page = open_chat(open_app, address, {"observatory.pdf": OBSERVATORY})
    ask(page, QUESTION)
    citation = page.get_by_role("button", name="Source 1: observatory.pdf, page 2").first
    expect(citation).to_have_text("[1]")
    for written in ("18,240 visitors", "$5|day", "<img src=http://evil.example/a.png>"):
        expect(page.get_by_text(written).first).to_be_visible()
    quiet(page)

    citation.focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog", name="Source 1:")
    expect(drawer.locator("img[alt='Page 2 of observatory.pdf']")).to_be_visible()
    assert highlighted_pixels(page) > 300
    drawer.get_by_role("button", name="Previous page").click()
    expect(drawer.locator("img[alt='Page 1 of observatory.pdf']")).to_be_visible()
    assert highlighted_pixels(page) == 0
    drawer.get_by_role("button", name="Larger").click()
    expect(drawer.locator("img")).to_have_attribute("style", "width: 150%;")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()

    where = page.url
    page.reload()
    quiet(page)
    assert page.url == where
    expect(page.get_by_text(QUESTION).last).to_be_visible()
    page.get_by_text(re.compile("Read . passages? of")).click()
    page.get_by_text("[1] observatory.pdf · p. 2").click()
    expect(page.get_by_role("img", name="rerank").first).to_be_visible()

    follow(page, "Documents")
    delete_document(page, "observatory")
    follow(page, "Chat")
    expect(page.get_by_text(QUESTION).last).to_be_visible()
    page.get_by_role("button", name="Source 1: observatory.pdf, page 2").first.click()
    expect(drawer.get_by_text("no longer in the library")).to_be_visible()
    expect(drawer.locator("mark").first).to_have_text("18,240")
    expect(drawer.get_by_text("18,240 visitors last year").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def test_file_name_is_shown_literally(open_app: OpenApp, address: str) -> None:
    name = "_a_ *b* $x$ $y$ :smile: :red[c] `d` ~~e~~ www.evil.example -- f.pdf"
    page = open_chat(open_app, address, {name: make_pdf("The village of Quenby has a windmill with eleven sails.")})
    ask(page, "How many sails has the windmill of Quenby?")
    page.get_by_text(re.compile("Read . passages? of")).click()
    passage = page.get_by_test_id("stExpander").filter(has_text=name[:6]).last
    expect(passage).to_be_visible()
    assert f"[1] {name} · p. 1" in passage.inner_text().replace("\u2060", "")
    assert page.get_by_role("main").locator("a[href*=evil]").count() == 0


def test_dialog_of_deleted_conversation_reports_it(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    ask(page, "Which conversation is to be deleted?")
    row = page.get_by_test_id("stSidebar").get_by_role(
        "button", name="Which conversation is to be deleted?", exact=True
    )
    expect(row).to_be_visible()
    quiet(page)
    start_chat(page)
    other = open_app(address)
    for window, action in ((page, "Rename"), (other, "Delete")):
        window.get_by_role("button", name="Menu of").first.click()
        window.get_by_role("menuitem", name=action).click()
        expect(window.get_by_role("dialog")).to_be_visible()
    other.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(other.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("dialog").get_by_label("Title").fill("Another title")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    quiet(page)
    expect(page.get_by_text("That conversation is no longer stored.")).to_be_visible()
