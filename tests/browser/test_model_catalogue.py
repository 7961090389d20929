"""The download of a model on the Admin page, from a server on this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.support.browser import OpenApp, quiet, serve, width_overflow
from tests.support.file_server import FileServer, write_catalogue

# Large enough for the test to pause the download before its end on a busy machine.
CONTENT = b"GGUF" + bytes(80_000_000)


@pytest.fixture(scope="module")
def server() -> Iterator[FileServer]:
    with FileServer(CONTENT) as server:
        server.slow = True
        yield server


@pytest.fixture(scope="module")
def address(server: FileServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("app")
    catalogue = write_catalogue(folder / "catalogue.toml", server.model())
    with serve(folder / "data", RAG_MODEL_CATALOGUE=str(catalogue)) as started:
        yield started


def test_download_is_paused_left_and_continued(address: str, server: FileServer, open_app: OpenApp) -> None:
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
    assert width_overflow(other) == 0
    server.slow = False
    go_on.click()
    # The file is not a model, so llama.cpp refuses it, and the app does not use it.
    expect(other.get_by_text("did not pass the test")).to_be_visible()
    expect(other.get_by_text("could not be loaded")).to_be_visible()
    expect(other.get_by_role("button", name="Use", exact=True)).to_be_visible()
    assert width_overflow(other) == 0
    first, second = server.ranges
    assert (first, second is not None and second.startswith("bytes=")) == (None, True)
