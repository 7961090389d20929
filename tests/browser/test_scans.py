"""Scanned pages: recognized, answered and highlighted."""

from __future__ import annotations

import base64
import io

import pypdfium2
from PIL import Image, ImageChops
from playwright.sync_api import Page, expect

from tests.support.browser import OpenApp, ask, open_chat, quiet
from tests.support.pdfs import make_pdf

LINES = (
    "Minutes of the Brennick harbour board",
    "The board met on the first Monday of March in the customs house.",
    "The new crane was bought from a yard in Aberdeen for 48,200 crowns.",
    "Members agreed to meet again before the herring season began.",
)


def scanned(pdf: bytes) -> bytes:
    """Convert the pages to images in a PDF without a text layer."""
    document = pypdfium2.PdfDocument(pdf)
    pictures = [document[number].render(scale=2.5).to_pil().convert("L") for number in range(len(document))]
    document.close()
    buffer = io.BytesIO()
    pictures[0].save(buffer, "PDF", resolution=180, save_all=True, append_images=pictures[1:])
    return buffer.getvalue()


def marked_rows(page: Page) -> tuple[float, float]:
    """Return top and bottom of the highlights in the page image, as fractions of its height."""
    source = page.locator("img[alt^='Page ']").get_attribute("src") or ""
    with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as image:
        red, _, blue = image.convert("RGB").split()
        # The yellow of the highlights has more red than blue; the scan is grey.
        box = ImageChops.subtract(red, blue).point(lambda value: 255 if value > 60 else 0).getbbox()
        assert box is not None, "nothing is highlighted"
        return box[1] / image.height, box[3] / image.height


def line_rows(pdf: bytes, line: str) -> tuple[float, float]:
    """Return top and bottom of a line on the first page of a PDF, as fractions of its height."""
    document = pypdfium2.PdfDocument(pdf)
    page = document[0]
    text = page.get_textpage()
    match = text.search(line).get_next()
    assert match is not None
    text.count_rects(*match)
    _, bottom, _, top = text.get_rect(0)
    height = page.get_height()
    text.close()
    page.close()
    document.close()
    return 1 - top / height, 1 - bottom / height


def test_answer_from_a_scan_has_its_highlight_in_place(open_app: OpenApp, address: str) -> None:
    typeset = make_pdf(LINES)
    page = open_chat(open_app, address, {"minutes.pdf": scanned(typeset)})
    ask(page, "From where was the new crane bought?")
    page.get_by_role("button", name="Source 1: minutes.pdf, page 1").first.click()
    drawer = page.get_by_role("dialog", name="Source 1:")
    expect(drawer.locator("img[alt='Page 1 of minutes.pdf']")).to_be_visible()
    expect(drawer.locator("mark").first).to_contain_text("Aberdeen")
    expect(drawer.get_by_text("was read by OCR, with a confidence of 0.")).to_be_visible()
    quiet(page)
    top, bottom = marked_rows(page)
    expected_top, expected_bottom = line_rows(typeset, "The new crane")
    assert abs(top - expected_top) < 0.01
    assert abs(bottom - expected_bottom) < 0.01
