"""Files on the Documents page while they are indexed."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.browser import OpenApp, choose_files, quiet
from tests.support.pdfs import make_pdf

# Records the lines of the files that are being indexed, and the buttons beside them, whenever they stay the same for 50
# ms. Streamlit sends the elements of a page one by one, so that it changes one line before it removes another. Records
# also each change of the title and of the icon of the browser tab, and whether Streamlit's status was ever visible.
WATCH = """() => {
    window.seen = [];
    window.tabs = [];
    const visible = (selector) =>
        [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility()).map((one) => one.innerText);
    let timer = 0;
    const look = () => {
        const lines = visible("[data-testid=stProgress], [data-testid=stCaptionContainer]");
        const files = lines.filter((line) => /: (reading|all pages read|waiting for)/.test(line));
        window.seen.push([files, visible("button")]);
    };
    const change = () => {
        const icon = document.querySelector("link[rel*=icon]").href, status = document.querySelector(
            "[data-testid=stStatusWidgetRunningIcon]")?.checkVisibility() ?? false;
        const now = `${document.title} ${icon} ${status}`;
        if (window.tabs.at(-1) !== now) window.tabs.push(now);
        clearTimeout(timer);
        timer = setTimeout(look, 50);
    };
    change();
    new MutationObserver(change).observe(
        document, { subtree: true, childList: true, attributes: true, characterData: true });
}"""


def long_pdf(topic: str, pages: int) -> bytes:
    texts = [
        [f"{topic} {n} of page {page} carried {n * page} tons of grain." for n in range(14)] for page in range(pages)
    ]
    return make_pdf(*texts)


def test_each_file_has_one_line_and_one_button_and_the_tab_stays_the_same(open_app: OpenApp, address: str) -> None:
    page = open_app(f"{address}/documents")
    page.evaluate(WATCH)
    files = {"fleet.pdf": long_pdf("Ship", 120), "pier.pdf": make_pdf("The pier is 90 metres long.")}
    files["train.pdf"] = long_pdf("Train", 30)
    choose_files(page, files)
    for name in files:
        expect(page.get_by_text(f"{name} is ready.")).to_be_visible()
    quiet(page)
    assert len(page.evaluate("window.tabs")) == 1, page.evaluate("window.tabs")
    seen = page.evaluate("window.seen")
    lines = [line for shown, _ in seen for line in shown]
    assert any("left" in line for line in lines)
    assert not [line for line in lines if " 0 of " in line or "waiting for fleet" in line]
    for shown, buttons in seen:
        names = [name for name in files for line in shown if name in line]
        assert len(names) == len(set(names)), shown
        assert "Stop" not in buttons
    # The short file that was dropped after the long one is ready first.
    listed: set[str] = set()
    for shown, _ in seen:
        current = {name for name in files if any(name in line for line in shown)}
        ended, listed = listed - current, listed | current
        assert "fleet.pdf" not in ended or "pier.pdf" not in current


def test_name_opens_the_preview_of_a_document(open_app: OpenApp, address: str) -> None:
    page = open_app(f"{address}/documents")
    table = page.get_by_test_id("stDataFrame").first
    table.click(position={"x": 65, "y": 55})
    preview = page.get_by_role("dialog", name="Document ")
    expect(preview.get_by_role("img", name="Page 1 of ")).to_be_visible()
    assert "document=" in page.url
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    table.click(position={"x": 300, "y": 90})
    page.keyboard.press("Shift+Space")
    page.locator(".st-key-open_selected button").press("Enter")
    expect(preview).to_be_visible()
    page.set_viewport_size({"width": 380, "height": 800})
    preview.get_by_role("tab", name="Problems").click()
    expect(preview.get_by_text("All pages were read without problems.")).to_be_visible()
    preview.get_by_role("button", name="Ask this document").click()
    expect(page.get_by_role("textbox", name="Ask your documents")).to_be_visible()
