"""The download of a model on the Settings page, from a server on this machine."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.browser import OpenApp, assert_fits_width, quiet
from tests.support.file_server import FileServer


def test_download_is_paused_left_and_continued(address: str, downloads: FileServer, open_app: OpenApp) -> None:
    page = open_app(f"{address}/admin", width=380)
    page.get_by_role("button", name="Download and use").click()
    expect(page.get_by_text("Downloading: ")).to_be_visible()
    page.get_by_role("link", name="Chat").press("Enter")
    expect(page.get_by_text("Ask your documents").first).to_be_visible()
    other = open_app(f"{address}/admin", width=380, dark=True)
    other.get_by_role("button", name="Pause").click()
    go_on = other.get_by_role("button", name="Continue (")
    expect(go_on).to_be_visible()
    quiet(other)
    assert_fits_width(other)
    downloads.slow = False
    go_on.click()
    # The file is not a model, so llama.cpp refuses it, and the app does not use it.
    expect(other.get_by_text("did not pass the test")).to_be_visible()
    expect(other.get_by_text("could not be loaded")).to_be_visible()
    expect(other.get_by_role("button", name="Use", exact=True)).to_be_visible()
    assert_fits_width(other)
    first, second = downloads.ranges
    assert (first, second is not None and second.startswith("bytes=")) == (None, True)
