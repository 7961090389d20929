"""Evaluation of a file of labels."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.app import BRIDGE, LENGTH
from tests.support.browser import OpenApp, evaluate_rows, quiet, upload

ROWS = [
    {"question": LENGTH, "document": "bridge.pdf", "page_index": 0, "answers": ["412 metres"]},
    {"question": "When was the Harrow Bridge opened?", "document": "bridge.pdf", "page": "1", "answers": ["1850"]},
    {"question": "Who won the chess match in Reykjavik in 1972?", "kind": "no answer"},
]


def test_evaluation_of_a_file_links_wrong_answers_to_the_lab(address: str, open_app: OpenApp) -> None:
    page = open_app(f"{address}/documents", width=380, dark=True)
    upload(page, "bridge.pdf", BRIDGE)
    evaluate_rows(page, address, ROWS)
    quiet(page)
    expect(page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    link = page.get_by_role("link", name="When was the Harrow Bridge opened?")
    resolved = link.evaluate("link => link.href")
    assert resolved == f"{address}/lab?question=When+was+the+Harrow+Bridge+opened%3F"
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_role("button", name="Use 0.").click()
    expect(page.get_by_text("is in use")).to_be_visible()
