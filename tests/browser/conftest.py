"""The app as a reader has it: a process of its own, and Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Generous, for machines that do other work as well.
PATIENCE_MS = 60_000
OpenApp = Callable[..., Page]


def chromium() -> str | None:
    """Path of an installed Chromium; ``None`` for the one that Playwright brings."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield launched
        launched.close()


@contextmanager
def serve(folder: Path, **variables: str) -> Iterator[str]:
    """Run the app over a data folder; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_", "OPENAI_"))}
    environment = kept | {"RAG_DATA_DIR": str(folder), "HF_HUB_OFFLINE": "1"} | variables
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    log = (folder.parent / f"app-{port}.log").open("wb")
    with log, subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log) as process:
        try:
            address = f"http://localhost:{port}"
            _wait_for(address, process)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "the app ended at once"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            try:
                process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
    raise AssertionError("the app did not answer within a minute")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One app for the tests of a module."""
    with serve(tmp_path_factory.mktemp("app") / "data") as started:
        yield started


@pytest.fixture
def open_app(browser: Browser) -> Iterator[OpenApp]:
    """Open a page in a fresh browser profile; afterwards, nothing may have left this machine."""
    strangers: list[str] = []
    contexts = []

    def opened(url: str, *, width: int = 1280, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            timezone_id="Europe/Berlin",
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("request", lambda request: strangers.append(request.url) if _leaves(request.url) else None)
        page.goto(url)
        quiet(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert strangers == []


def _leaves(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob") and parts.hostname not in ("localhost", "127.0.0.1")


def quiet(page: Page) -> None:
    """Wait until no script runs."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def ask(page: Page, question: str) -> None:
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def upload(page: Page, name: str, data: bytes) -> None:
    """Add a PDF on the Documents page and wait until it is ready."""
    ready = page.get_by_text("is ready.")
    others = ready.count()
    page.set_input_files("input[type=file]", {"name": name, "mimeType": "application/pdf", "buffer": data})
    expect(ready).to_have_count(others + 1)
    quiet(page)


def answers(page: Page) -> Locator:
    return page.get_by_test_id("stChatMessage").filter(has=page.locator("summary"))
