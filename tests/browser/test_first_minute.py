"""The first minute: a file dropped anywhere on the page, its card, and a question of the card."""

from __future__ import annotations

import base64
from pathlib import Path

from playwright.sync_api import expect

from tests.support.browser import OpenApp, assert_fits_width, quiet, serve
from tests.support.pdfs import make_pdf

ORCHARD = make_pdf(
    ["Minutes of the orchard society", "The annual fee is 35 euros. It was not changed. They discussed the hedge."]
)
# Drops a file on the title of the page. Streamlit's input for questions needs a moment between the two events.
DROP = """async (data) => {
    const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], "orchard.pdf", { type: "application/pdf" }));
    const send = (kind) => document.querySelector("h1").dispatchEvent(
        new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
    // The page follows a drag as soon as its script has been loaded.
    for (let turn = 0; !document.body.classList.contains("footnote-dropping"); turn++) {
        if (turn == 600) {
            throw new Error("The page does not follow the drag.");
        }
        send("dragover");
        await new Promise((done) => setTimeout(done, 100));
    }
    await new Promise((done) => setTimeout(done, 500));
    send("drop");
}"""


def test_file_dropped_on_the_page_gets_a_card_with_questions(open_app: OpenApp, tmp_path: Path) -> None:
    with serve(tmp_path / "data") as address:
        page = open_app(address)
        expect(page.get_by_text("Drop files anywhere on this page")).to_be_visible()
        page.evaluate(DROP, base64.b64encode(ORCHARD).decode())
        question = page.get_by_role("button", name="What is the annual fee?")
        expect(question).to_be_visible()
        quiet(page)
        page.set_viewport_size({"width": 380, "height": 800})
        assert_fits_width(page)
        question.click()
        expect(page.get_by_text("35 euros").first).to_be_visible()
        quiet(page)
        assert_fits_width(page)
