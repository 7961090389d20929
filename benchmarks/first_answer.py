"""Measure the way from a fresh start to the first answer that a language model writes, in clicks and seconds.

    python -m benchmarks.first_answer FILE [--shots FOLDER]

FILE is a GGUF file. A server on this machine offers it as a mirror would, and a catalogue names it. The app starts with
a new data folder, and headless Chromium does what a new user does: add the guide, download the model and use it, and
ask a question of the guide. The benchmark prints a table with the seconds from each click to its visible result, and
fails if the answer is not from the model or if more clicks were needed than ``MOST_CLICKS``.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from rag_core.engine import Engine
from rag_core.llm.model_catalogue import CatalogueModel
from rag_core.settings import load_settings
from tests.support.browser import ARGUMENTS, PATIENCE_MS, chromium, quiet, serve
from tests.support.file_server import write_catalogue

MOST_CLICKS = 5
# Generous, because a small machine may take minutes to read the prompt.
SLOW_MS = 600_000


class _Files(SimpleHTTPRequestHandler):
    """Serves the files of a folder, without a log."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve the files of a folder on the loopback interface; yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def describe_model(file: Path, address: str) -> CatalogueModel:
    """Return the entry of a catalogue for a GGUF file."""
    with file.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    size = file.stat().st_size
    url = f"{address}/{file.name}"
    return CatalogueModel("first-model", file.name, size, 3 * size, "Apache-2.0", url, sha256)


class Visitor:
    """A new user in Chromium, who clicks and waits for the result."""

    def __init__(self, page: Page, shots: Path | None) -> None:
        self.page = page
        self.steps: list[tuple[str, float]] = []
        self._shots = shots

    def click(self, words: str, button: Locator, until: Callable[[], None]) -> None:
        """Click, wait for the result, and record the seconds."""
        expect(button).to_be_enabled()
        started = time.perf_counter()
        button.click()
        until()
        self.steps.append((words, time.perf_counter() - started))
        if self._shots:
            self.page.screenshot(path=self._shots / f"{len(self.steps)}.png")


def visit(visitor: Visitor, address: str) -> None:
    """Do what a new user does."""
    page = visitor.page
    page.goto(address)
    quiet(page)
    links = page.get_by_test_id("stSidebar").get_by_role("link")
    examples = page.locator("[class*='st-key-example_'] button")
    visitor.click(
        "Chat: Try it with the guide",
        page.get_by_role("button", name="Try it with the guide"),
        lambda: expect(examples.first).to_be_visible(),
    )
    download = page.get_by_role("button", name="Download and use")
    visitor.click("Open Settings", links.filter(has_text="Settings"), lambda: expect(download).to_be_visible())
    visitor.click(
        "Settings: Download and use, until the model is connected",
        download,
        lambda: expect(page.get_by_text("run inside this app")).to_be_visible(timeout=SLOW_MS),
    )
    visitor.click("Open Chat", links.filter(has_text="Chat"), lambda: expect(examples.first).to_be_visible())
    visitor.click(
        "Chat: a question of the guide, until its answer is complete",
        examples.first,
        lambda: expect(page.get_by_role("button", name="Copy answer")).to_be_visible(timeout=SLOW_MS),
    )


def read_answer(folder: Path) -> tuple[str, str]:
    """Return the generator and the text of the only answer in a data folder."""
    with Engine(load_settings(data_dir=folder)) as engine:
        (conversation,) = engine.conversations.list()
        message = engine.conversations.messages(conversation.conversation_id)[-1]
    return message.answer.generator if message.answer else "", message.text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--shots", type=Path, help="write a screenshot after each click to this folder")
    arguments = parser.parse_args()
    file = arguments.file.absolute()
    expect.set_options(timeout=PATIENCE_MS)
    with tempfile.TemporaryDirectory() as folder, serve_folder(file.parent) as mirror:
        data = Path(folder) / "data"
        catalogue = write_catalogue(Path(folder) / "catalogue.toml", describe_model(file, mirror))
        started = time.perf_counter()
        with serve(data, RAG_MODEL_CATALOGUE=str(catalogue)) as address, sync_playwright() as playwright:
            ready = time.perf_counter() - started
            browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
            visitor = Visitor(browser.new_page(viewport={"width": 1440, "height": 900}), arguments.shots)
            visit(visitor, address)
            total = time.perf_counter() - started
            browser.close()
        generator, answer = read_answer(data)
    print("| click | step | seconds |\n| --- | --- | --- |")
    print(f"| | start of the app, until it answers | {ready:.1f} |")
    for number, (words, seconds) in enumerate(visitor.steps, 1):
        print(f"| {number} | {words} | {seconds:.1f} |")
    print(f"| | all, with pauses between the clicks | {total:.1f} |\n\n{generator} wrote:\n{answer}")
    if not generator.startswith("gguf:") or len(visitor.steps) > MOST_CLICKS:
        raise SystemExit(f"{len(visitor.steps)} clicks, and the answer is from {generator}")


if __name__ == "__main__":
    main()
