"""Helpers for tests with a real browser."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.support.environment import INDEPENDENT

ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # All pages share one process, which keeps the compiled scripts.
    "--process-per-site",
]
ADVANCED = ("Check a text", "Lab", "Evaluate", "Themes", "Snapshots")
# Generous, for busy machines.
PATIENCE_MS = 60_000
# After this time, a page whose link was clicked is not being opened.
FOLLOWED_MS = 20_000
OpenApp = Callable[..., Page]


def chromium() -> str | None:
    """Return the path of an installed Chromium, or ``None`` for that of Playwright."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def serve(folder: Path, **variables: str) -> Iterator[str]:
    """Run the app with a data folder; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_", "OPENAI_"))}
    environment = inherited | INDEPENDENT | {"RAG_DATA_DIR": str(folder)} | variables
    command = [sys.executable, "-m", "tests.support.run_app", "--server.port", str(port)]
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
        assert process.poll() is None, "the app ended during its start"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except OSError:  # no connection yet, or no reply while the engine is opened
            try:
                process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
    raise AssertionError("the app did not answer within a minute")


def _leaves(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob") and parts.hostname not in ("localhost", "127.0.0.1")


def clear_storage(page: Page, url: str) -> None:
    """Remove the cookies, and what the origin of the URL has stored."""
    page.context.clear_cookies()
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})
    session.detach()


def quiet(page: Page) -> None:
    """Wait until no script runs."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def ask(page: Page, question: str) -> None:
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def follow(page: Page, name: str) -> None:
    """Open a page by its link in the sidebar, which takes a fraction of the time of a new load."""
    click_until(find_link(page, name), partial(expect(page).to_have_title, f"{name} · Footnote"))
    quiet(page)


def click_until(target: Locator, check: Callable[..., None]) -> None:
    """Click, and click again if the check fails, as a click on an element that is drawn anew has no effect."""
    target.click()
    try:
        check(timeout=FOLLOWED_MS)
    except AssertionError:
        target.click()
        check()


def find_link(page: Page, name: str) -> Locator:
    """Return the link to a page in the sidebar; open the part with advanced pages for one of these."""
    sidebar = page.get_by_test_id("stSidebar")
    link = sidebar.get_by_role("link", name=name, exact=True)
    # While this part opens, its links are not yet visible; another click would close it.
    if name in ADVANCED and sidebar.locator("details").get_attribute("open") is None:
        sidebar.get_by_text("Advanced").click()
    return link


def start_chat(page: Page) -> None:
    """Start a new conversation by the button in the sidebar."""
    page.get_by_test_id("stSidebar").get_by_role("button", name="New chat").click()
    expect(page).to_have_title("Chat · Footnote")
    expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
    quiet(page)


def upload(page: Page, files: Mapping[str, bytes]) -> None:
    """Add PDFs on the Documents page and wait until they are ready."""
    ready = page.get_by_text("is ready.")
    others = ready.count()
    choose_files(page, files)
    expect(ready).to_have_count(others + len(files))
    quiet(page)


def choose_files(page: Page, files: Mapping[str, bytes]) -> None:
    """Choose PDFs in the uploader of the Documents page."""
    chosen = [FilePayload(name=name, mimeType="application/pdf", buffer=data) for name, data in files.items()]
    page.set_input_files("input[type=file]", chosen)


def evaluate_rows(page: Page, rows: Sequence[dict[str, object]]) -> None:
    """Evaluate three labels on the Evaluate page, one of which has no answer; wait for the result."""
    labels = "\n".join(json.dumps(row) for row in rows).encode()
    page.set_input_files("input[type=file]", {"name": "l.jsonl", "mimeType": "application/json", "buffer": labels})
    expect(page.get_by_text("3 questions, 1 of them without an answer")).to_be_visible()
    quiet(page)
    page.get_by_role("button", name="Run", exact=True).press("Enter")
    expect(page.get_by_text(re.compile("Went wrong|Every question"))).to_be_visible()
    quiet(page)


def open_chat(open_app: OpenApp, address: str, files: Mapping[str, bytes]) -> Page:
    """Upload PDFs on the Documents page, then go to the chat."""
    page = open_app(f"{address}/documents")
    upload(page, files)
    follow(page, "Chat")
    return page


def assert_fits_width(page: Page) -> None:
    """Check that the page needs no horizontal scrolling.

    When a window becomes narrow, the sidebar moves out, and tables and charts follow some frames later.
    """
    overflow = "one => one.scrollWidth - one.clientWidth"
    for _ in range(50):
        wide = max(page.locator("html").evaluate(overflow), page.get_by_role("main").evaluate(overflow))
        if wide <= 0:
            return
        page.wait_for_timeout(200)
    raise AssertionError(f"{page.url} is too wide by {wide} pixels.")


def highlighted_pixels(page: Page) -> int:
    """Count the pixels of the page image in the drawer with the yellow of the highlights."""
    source = page.locator("img[alt^='Page ']").get_attribute("src") or ""
    with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as image:
        red, green, blue = (np.asarray(channel) for channel in image.convert("RGB").split())
    return int(((red > 200) & (green > 170) & (blue < 120)).sum())
