"""Steps in the form that connects a language model, in the browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from rag_core.llm.presets import PRESETS
from tests.support.browser import ask, follow, quiet, start_chat


def open_form(page: Page) -> None:
    """Open the Settings page, unless it is open."""
    if not page.url.endswith("/admin"):
        follow(page, "Settings")
    expect(page.get_by_label("Kind of model")).to_be_visible()


def choose_kind(page: Page, kind: str) -> None:
    _choose(page, "Kind of model", kind)
    # The server then fills in the usual address of this kind.
    example = next(preset.example for preset in PRESETS if preset.name == kind)
    expect(page.get_by_label("Address")).to_have_attribute("placeholder", example)
    quiet(page)


def type_connection(page: Page, address: str, key: str = "") -> None:
    page.get_by_label("Address").fill(address)
    page.get_by_label("Address").press("Tab")
    quiet(page)
    if key:
        # The page runs when a field loses the focus; a click at the same moment may be lost on a busy machine.
        page.get_by_label("API key", exact=True).fill(key)
        page.get_by_label("API key", exact=True).press("Tab")
        quiet(page)


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()
    quiet(page)


def find_models(page: Page, number: int) -> None:
    page.get_by_role("button", name="List models").click()
    expect(page.get_by_text(f"{number} model{'s' * (number > 1)} found")).to_be_visible()
    quiet(page)


def type_model(page: Page, name: str) -> None:
    """Choose a model of the list, or enter its name."""
    _choose(page, "Model", name)


def connect(page: Page, host: str) -> None:
    press(page, "Connect")
    expect(page.get_by_text(f"Sent for answers to {host}")).to_be_visible()


def disconnect(page: Page) -> None:
    open_form(page)
    press(page, "Disconnect")
    expect(page.get_by_text("None: answers are quoted from the documents.")).to_be_visible()


def ask_new(page: Page, question: str) -> None:
    """Ask a question in a new chat, and wait for its answer."""
    start_chat(page)
    ask(page, question)
    expect(page.get_by_role("button", name="Source 1").first).to_be_visible()
    quiet(page)


def _choose(page: Page, label: str, option: str) -> None:
    box = page.get_by_role("combobox", name=label, exact=True)
    if box.input_value() == option:
        return
    # A scroll closes an open list, so the page is scrolled, and the event of it has passed, before the list is opened.
    box.scroll_into_view_if_needed()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    box.fill(option)
    page.get_by_role("option").filter(has_text=option).wait_for()
    page.keyboard.press("Enter")
    quiet(page)
