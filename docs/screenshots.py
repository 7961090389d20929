"""Run the app with generated documents, and take the screenshots for the documentation.

Run this module with ``python -m docs.screenshots``.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from rag_core.guide import GUIDE_NAME, build_guide_pdf
from tests.browser.test_scans import LINES, scanned
from tests.support.browser import ARGUMENTS, PATIENCE_MS, ask, chromium, quiet, serve, upload
from tests.support.pdfs import make_pdf

HERE = Path(__file__).parent
COLOURS = 96
REPORT, MINUTES = "Tern_Island_Harbour_2022.pdf", "Board_minutes_scan.pdf"
SPENDING = "What was capital expenditure in 2022?"
CRANE = "From where was the new crane bought?"
PROSE = (
    "Capital expenditure was 18.4 million crowns in 2022, up from 11.2 million in the year before.",
    "Most of it went into the new quay wall on the north side and a second crane.",
    "Revenue rose by seven per cent to 96.3 million crowns, as more grain ships called.",
)
TABLE = (
    ("Million crowns", "2022", "2021", "2020"),
    ("Revenue", "96.3", "90.0", "84.7"),
    ("Operating profit", "14.1", "12.8", "9.9"),
    ("Capital expenditure", "18.4", "11.2", "7.5"),
    ("Ships handled", "1,204", "1,131", "986"),
)
LABELS = [
    {"question": SPENDING, "document": REPORT, "page": "2", "answers": ["18.4 million"]},
    {"question": "By how much did revenue rise?", "document": REPORT, "page": "2", "answers": ["seven per cent"]},
    {"question": "How many ships were handled in 2021?", "document": REPORT, "page": "2", "answers": ["1,131"]},
    {"question": "Who manages the harbour?", "document": REPORT, "page": "1", "answers": ["Ida Brandt"]},
    {"question": "When was the harbour founded?", "document": REPORT, "page": "1", "answers": ["1868"]},
    {"question": CRANE, "document": MINUTES, "page": "1", "answers": ["Aberdeen"]},
    {"question": "When did the board meet?", "document": MINUTES, "page": "1", "answers": ["first Monday of March"]},
    {"question": "Who won the chess match in Reykjavik?", "kind": "off-corpus"},
    {"question": "What is the capital of Mongolia?", "kind": "off-corpus"},
    {"question": "Which aircraft can land on the island?", "kind": "no answer"},
]


def report() -> bytes:
    """Return a PDF of two pages: the history of a harbour, and one year as prose and as a table."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    _page(canvas, "Tern Island Harbour", ("The harbour of Tern Island was founded in 1868 by fishermen from the north",
          "shore. Ida Brandt has managed it since 2015 with a staff of forty-one.",
          "It lies open to the west, and ice closes it for two weeks in most winters."))  # fmt: skip
    canvas.showPage()
    _page(canvas, "The year 2022", PROSE)
    for row, cells in enumerate(TABLE):
        canvas.setFont("Helvetica-Bold" if row == 0 else "Helvetica", 11)
        for column, cell in enumerate(cells):
            draw = canvas.drawString if column == 0 else canvas.drawRightString
            draw(72 if column == 0 else 250 + 90 * column, 620 - 24 * row, cell)
        canvas.line(72, 612 - 24 * row, 520, 612 - 24 * row)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _page(canvas: Canvas, heading: str, lines: tuple[str, ...]) -> None:
    canvas.setFont("Helvetica-Bold", 18)
    canvas.drawString(72, 760, heading)
    canvas.setFont("Helvetica", 11)
    for number, line in enumerate(lines):
        canvas.drawString(72, 725 - 18 * number, line)


def shoot(page: Page, name: str) -> None:
    """Save a screenshot of the page, reduced to a few colours to keep the file small."""
    quiet(page)
    page.wait_for_timeout(500)  # wait for the animation of an opening or closing dialog
    with Image.open(io.BytesIO(page.screenshot())) as image:
        image.convert("RGB").quantize(COLOURS).save(HERE / f"{name}.png", optimize=True)


def fill(page: Page, address: str) -> str:
    """Add the documents, run an evaluation and ask the questions; return the address of the conversation."""
    page.goto(f"{address}/documents")
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()
    files = ((REPORT, report()), (MINUTES, scanned(make_pdf(LINES))), (GUIDE_NAME, build_guide_pdf()))
    for name, data in files:
        upload(page, {name: data})
    page.goto(f"{address}/evaluate")
    file = {"name": "harbour.jsonl", "mimeType": "application/json"}
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(
        {**file, "buffer": "\n".join(map(json.dumps, LABELS)).encode()}
    )
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("Precision and recall").first).to_be_visible()
    page.goto(address)
    for question in (CRANE, SPENDING):
        ask(page, question)
        expect(page.get_by_role("button", name="Source 1").last).to_be_visible()
        quiet(page)
    return page.url


def opened(name: str, question: str) -> Callable[[Page, str], None]:
    """Return a function that opens the first source of a question's answer and takes a screenshot."""

    def show(page: Page, scheme: str) -> None:
        message = page.get_by_test_id("stChatMessage").filter(has=page.get_by_role("button", name="Source 1"))
        message.nth(0 if question == CRANE else 1).get_by_role("button", name="Source 1").first.click()
        expect(page.get_by_role("dialog").locator("img")).to_be_visible()
        shoot(page, f"{name}-{scheme}")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()

    return show


def pictures(browser: Browser, scheme: str, address: str, conversation: str) -> None:
    """Take every screenshot in one colour scheme."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(conversation)
    answer = page.get_by_test_id("stChatMessage").last
    expect(answer.get_by_role("button", name="Source 1").first).to_be_visible()
    quiet(page)
    page.wait_for_timeout(1000)  # wait until the newest question is in view
    shoot(page, f"chat-{scheme}")
    opened("source", SPENDING)(page, scheme)
    opened("scan", CRANE)(page, scheme)
    for name, path, sign in (
        ("documents", "documents", "3 documents"),
        ("lab", f"lab?{urlencode({'question': SPENDING})}", "How their order changed"),
        ("evaluate", "evaluate", "Precision and recall"),
    ):
        page.goto(f"{address}/{path}")
        expect(page.get_by_text(sign).first).to_be_visible()
        quiet(page)
        if name == "evaluate":
            page.get_by_text("Compared with", exact=True).evaluate("one => one.scrollIntoView({block: 'start'})")
        shoot(page, f"{name}-{scheme}")
    context.close()


def main() -> None:
    expect.set_options(timeout=PATIENCE_MS)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "data") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        conversation = fill(page, address)
        for scheme in ("light", "dark"):
            pictures(browser, scheme, address, conversation)
        browser.close()


if __name__ == "__main__":
    main()
