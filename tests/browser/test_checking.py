"""The check of a draft against the documents."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.accessibility import find_violations
from tests.support.browser import OpenApp, assert_fits_width, follow, highlighted_pixels, quiet, upload
from tests.support.checked import FACTS, write_draft
from tests.support.contrast import find_faint_text
from tests.support.pdfs import make_pdf


def test_draft_is_checked_and_a_citation_opens_its_source(open_app: OpenApp, address: str) -> None:
    page = open_app(f"{address}/documents")
    upload(page, {"skarvoy.pdf": make_pdf(FACTS)})
    follow(page, "Check a text")
    page.set_input_files(
        "input[type=file]", {"name": "draft.md", "mimeType": "text/markdown", "buffer": write_draft().encode()}
    )
    field = page.get_by_role("textbox", name="Text to check")
    expect(field).to_have_value(write_draft())
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("All 12")).to_be_visible()
    expect(page.get_by_text("≠ Differs from the source: 34 metres")).to_be_visible()
    expect(page.get_by_text("✓ Supported", exact=True)).to_have_count(9)
    assert find_faint_text(page) == []
    assert find_violations(page) == []
    page.set_viewport_size({"width": 380, "height": 900})
    assert_fits_width(page)
    page.set_viewport_size({"width": 1280, "height": 900})

    page.get_by_text("≠ Differs from the source 2").click()
    quiet(page)
    expect(page.get_by_text("✓ Supported", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Source 9: skarvoy.pdf, page 1").click()
    expect(page.get_by_role("dialog").get_by_role("img", name="Page 1 of skarvoy.pdf")).to_be_visible()
    quiet(page)
    assert highlighted_pixels(page) > 100

    follow(page, "Themes")
    follow(page, "Check a text")
    expect(field).to_have_value(write_draft())
    expect(page.get_by_text("≠ Differs from the source: 60 crowns")).to_be_visible()
