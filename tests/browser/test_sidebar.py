"""The sidebar of every page, on wide and narrow screens."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import OpenApp, ask, find_link, quiet

PHONE = 380
QUESTION = "How tall is the lighthouse of Utsira?"


def check_sidebar(page: Page, collapsed: bool) -> None:
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", str(collapsed).lower())


def click_in_sidebar(page: Page, role: str, name: str, *, leads_to: str) -> None:
    """Click a link or button in the sidebar, which a phone shows on demand and closes after the click."""
    is_phone = page.viewport_size == {"width": PHONE, "height": 900}
    if is_phone:
        check_sidebar(page, collapsed=True)
        page.get_by_test_id("stExpandSidebarButton").click()
    check_sidebar(page, collapsed=False)
    sidebar = page.get_by_test_id("stSidebar")
    target = find_link(page, name) if role == "link" else sidebar.get_by_role("button", name=name).first
    target.click()
    expect(page).to_have_title(f"{leads_to} · Footnote")
    quiet(page)
    check_sidebar(page, collapsed=is_phone)


# The buttons of the sidebar are the same on every page; whether its width matters is the same on every page, too.
@pytest.mark.parametrize(("width", "pages"), [(PHONE, ("Documents", "Evaluate")), (1280, ("Lab",))])
def test_pages_and_conversations_are_opened_from_every_page(
    open_app: OpenApp, address: str, width: int, pages: tuple[str, ...]
) -> None:
    page = open_app(address, width=width)
    page.wait_for_function("window.footnoteClosesSidebar")
    ask(page, QUESTION)
    message = page.get_by_test_id("stChatMessage").first
    expect(message).to_contain_text(QUESTION)
    quiet(page)
    conversation = page.url
    for name in pages:
        click_in_sidebar(page, "link", name, leads_to=name)
        click_in_sidebar(page, "button", QUESTION[:20], leads_to="Chat")
        expect(message).to_contain_text(QUESTION)
        expect(page).to_have_url(conversation)
        page.go_back()
        expect(page).to_have_title(f"{name} · Footnote")
        quiet(page)
    # A link to the open conversation is one step of the browser's history.
    click_in_sidebar(page, "link", "Documents", leads_to="Documents")
    click_in_sidebar(page, "link", "Chat", leads_to="Chat")
    expect(page).to_have_url(conversation)
    page.go_back()
    expect(page).to_have_title("Documents · Footnote")
    quiet(page)
    click_in_sidebar(page, "button", "New chat", leads_to="Chat")
    expect(message).to_have_count(0)
    expect(page).to_have_url(f"{address}/")
    # A page that is opened by its address is left in the same way, and a link to the page itself closes the sidebar.
    page.goto(f"{address}/lab")
    quiet(page)
    click_in_sidebar(page, "link", "Lab", leads_to="Lab")
    click_in_sidebar(page, "button", "New chat", leads_to="Chat")
    expect(message).to_have_count(0)
    click_in_sidebar(page, "button", QUESTION[:20], leads_to="Chat")
    expect(page).to_have_url(conversation)
    click_in_sidebar(page, "button", "New chat", leads_to="Chat")
    expect(message).to_have_count(0)
