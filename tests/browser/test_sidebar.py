"""The sidebar of every page, on wide and narrow screens, and a browser tab that does not flicker."""

from __future__ import annotations

from itertools import product

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import OpenApp, ask, quiet
from tests.support.pdfs import make_pdf

PHONE = 380
PATHS = ("documents", "evaluate", "lab", "admin")
QUESTION = "How tall is the lighthouse of Utsira?"
# Records each change of the title and of the icon of the browser tab, and whether Streamlit's status was ever visible.
WATCH = """() => {
    window.changes = [];
    const look = () => {
        const icon = document.querySelector("link[rel*=icon]").href, status = document.querySelector(
            "[data-testid=stStatusWidgetRunningIcon]")?.checkVisibility() ?? false;
        const now = `${document.title} ${icon} ${status}`;
        if (window.changes.at(-1) !== now) window.changes.push(now);
    };
    look();
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
}"""


def open_sidebar(page: Page) -> None:
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "false")


def test_navigation_link_closes_the_sidebar_of_a_phone(open_app: OpenApp, address: str) -> None:
    page = open_app(address, width=PHONE)
    page.wait_for_function("window.footnoteClosesSidebar")
    for name in ("Documents", "Documents", "Lab", "Chat"):
        open_sidebar(page)
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
        expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
        quiet(page)
        expect(page).to_have_title(f"{name} · Footnote")


def test_navigation_link_leaves_the_sidebar_of_a_wide_screen_open(open_app: OpenApp, address: str) -> None:
    page = open_app(address)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Documents").click()
    expect(page).to_have_title("Documents · Footnote")
    quiet(page)
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "false")


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_conversation_is_opened_from_every_page(open_app: OpenApp, address: str, width: int) -> None:
    page = open_app(address, width=width)
    ask(page, QUESTION)
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text(QUESTION)
    quiet(page)
    conversation = page.url
    sidebar = page.get_by_test_id("stSidebar")
    messages = page.get_by_test_id("stChatMessage").first
    for path, (name, shown) in product(PATHS, ((QUESTION[:20], messages), ("New chat", None))):
        page.goto(f"{address}/{path}")
        quiet(page)
        if width == PHONE:
            open_sidebar(page)
        sidebar.get_by_role("button", name=name).first.click()
        expect(page).to_have_title("Chat · Footnote")
        quiet(page)
        if shown:
            expect(shown).to_contain_text(QUESTION)
            assert page.url == conversation
        else:
            expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
            assert page.url == f"{address}/"
        expect(sidebar).to_have_attribute("data-collapsed", str(width == PHONE).lower())
        page.go_back()
        expect(page).to_have_title(f"{path.capitalize()} · Footnote")
        quiet(page)


def test_tab_and_status_stay_the_same_while_files_are_indexed(open_app: OpenApp, address: str) -> None:
    page = open_app(f"{address}/documents")
    page.evaluate(WATCH)
    pages = [
        [f"Ship {number} of page {page} carried {number + page} tons." for number in range(12)] for page in range(40)
    ]
    files = [("fleet.pdf", make_pdf(*pages)), ("pier.pdf", make_pdf("The pier of Utsira is 90 metres long."))]
    page.set_input_files(
        "input[type=file]", [{"name": name, "mimeType": "application/pdf", "buffer": data} for name, data in files]
    )
    for name, _ in files:
        expect(page.get_by_text(f"{name} is ready.")).to_be_visible()
    quiet(page)
    assert len(page.evaluate("window.changes")) == 1, page.evaluate("window.changes")
