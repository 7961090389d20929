"""Citations open their page by mouse, by keyboard, after a reload, and in an earlier conversation."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from reportlab.pdfgen.canvas import Canvas

from tests.support.attacks import HIDDEN, HIDDEN_ORDER
from tests.support.browser import OpenApp, ask, assert_fits_width, highlighted_pixels, open_chat, quiet, start_chat
from tests.support.browser_data import CANAL_QUESTION
from tests.support.drawn_pdfs import make

REGIONS = ("Region", *(f"Q{quarter} {year}" for year in (2022, 2023) for quarter in range(1, 5)))
FERRIES = (
    ("Northern coast", "1,204", "1,131", "986", "1,302", "1,377", "1,400", "1,288", "1,519"),
    ("Southern coast", "804", "731", "686", "702", "777", "800", "788", "819"),
)


def check_source(page: Page) -> None:
    """Check that the drawer shows the cited page with highlights; close it."""
    drawer = page.get_by_role("dialog", name="Source 1:")
    expect(drawer.locator("img[alt='Page 2 of canal.pdf']")).to_be_visible()
    expect(drawer.locator("mark").first).to_contain_text("64 kilometres")
    assert highlighted_pixels(page) > 300
    quiet(page)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def test_citation_opens_its_page_by_click_by_keyboard_after_reload_and_later(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    ask(page, CANAL_QUESTION)
    citation = page.get_by_role("button", name="Source 1: canal.pdf, page 2").first
    citation.click()
    check_source(page)

    page.get_by_test_id("stChatInputTextArea").focus()
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if has_focus(citation):
            break
    for key in ("Space", "Enter"):
        expect(citation).to_be_focused()  # as the focus returns to it when the source closes
        expect(page.locator(".tip")).to_have_text("canal.pdf, page 2")
        page.keyboard.press(key)
        check_source(page)
    expect(citation).to_be_focused()

    page.reload()
    quiet(page)
    citation.click()
    check_source(page)

    page.get_by_role("button", name="New chat").click()
    expect(citation).to_have_count(0)
    page.get_by_role("button", name="How long is the Tornea").first.click()
    expect(citation).to_be_visible()
    quiet(page)
    citation.click()
    drawer = page.get_by_role("dialog")
    frame, opener = drawer.get_by_label("Page 2 of canal.pdf").first, drawer.get_by_role("button", name="Open PDF at")
    expect(frame).to_be_visible()
    expect(opener).to_be_visible()
    quiet(page)
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached |= {control for control in (frame, opener) if has_focus(control)}
        if reached == {frame, opener}:
            break
    assert reached == {frame, opener}
    check_source(page)


def has_focus(control: Locator) -> bool:
    return bool(control.evaluate("element => element.getRootNode().activeElement === element"))


def test_hidden_text_and_cited_row_of_a_wide_table_are_shown(open_app: OpenApp, address: str, tmp_path: Path) -> None:
    def draw_hidden(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "The Ounas dam is 71 metres high and was built in 1935.")
        HIDDEN["white"](canvas)

    def draw_table(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(50, 740, "Passengers of the ferries by region (in thousands)")
        for number, row in enumerate((REGIONS, *FERRIES)):
            for column, cell in enumerate(row):
                write = canvas.drawRightString if column else canvas.drawString
                write(130 + 50 * column if column else 50, 715 - 16 * number, cell)

    files = {"dam.pdf": draw_hidden, "ferries.pdf": draw_table}
    page = open_chat(
        open_app, address, {name: make(tmp_path / name, draw).read_bytes() for name, draw in files.items()}
    )
    ask(page, "How high is the Ounas dam?")
    page.get_by_role("button", name="Source 1: dam.pdf, page 1").first.click()
    drawer = page.get_by_role("dialog", name="Source 1:")
    expect(drawer.get_by_text("text that a reader cannot see")).to_contain_text(HIDDEN_ORDER)
    expect(drawer.locator("mark").first).to_contain_text("71 metres")
    expect(page.get_by_test_id("stChatMessage").last.get_by_text("999").first).to_be_hidden()
    quiet(page)
    page.keyboard.press("Escape")
    start_chat(page)

    page.set_viewport_size({"width": 380, "height": 900})
    page.emulate_media(color_scheme="dark")
    ask(page, "How many passengers did the ferries of the southern coast have in Q1 2023?")
    table = page.get_by_role("region", name="ferries.pdf, page 1")
    expect(table.locator("td.marked")).to_have_text(["777"])
    # The conversation may stand scrolled to its end; sideways the table scrolls itself.
    table.scroll_into_view_if_needed()
    expect(table.locator("td.marked")).to_be_in_viewport()
    expect(table.get_by_role("cell", name="Southern coast")).to_be_in_viewport()
    assert table.evaluate("frame => frame.scrollWidth > frame.clientWidth && frame.scrollLeft > 0")
    assert_fits_width(page)
    page.get_by_role("button", name="Source 1: ferries.pdf, page 1").first.click()
    expect(drawer.locator("td.marked")).to_have_text(["Southern coast", "777"])
