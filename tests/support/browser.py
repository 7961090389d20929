"""Helpers for tests with a real browser."""

from __future__ import annotations

import base64
import io
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page, expect

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


def highlighted_pixels(page: Page) -> int:
    """How many pixels of the page image in the drawer are of the marker's yellow."""
    source = page.locator("img[alt^='Page ']").get_attribute("src") or ""
    with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as image:
        red, green, blue = (np.asarray(channel) for channel in image.convert("RGB").split())
    return int(((red > 200) & (green > 170) & (blue < 120)).sum())
