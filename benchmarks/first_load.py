"""Measure how long a visitor waits for a usable page, and for the first text of an answer, in headless Chromium.

    python -m benchmarks.first_load [--runs N] [--questions N]

Each run starts the app with a data folder that contains the user guide, and a bare Streamlit page of one line. The
first visitor comes as soon as the server answers, while the models are being loaded, and the second one when they are
ready; a visitor has a fresh browser profile. A page is usable when a question can be typed. The table has the median
and the 95th percentile of the seconds; questions are counted from the Enter key.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from rag_core.engine import Engine
from rag_core.settings import load_settings
from tests.support.browser import ARGUMENTS, ask, chromium, quiet
from tests.support.environment import INDEPENDENT

ROOT = Path(__file__).parents[1]
BARE = "import streamlit as st\n\nst.text('A bare page')\n"
# What a visitor waits for: the line of the bare page, the input for questions, and the text of an answer.
LINE, USABLE = "[data-testid=stText]", "[data-testid=stChatInputTextArea]:enabled"
ANSWER = "[class*=st-key-answer_]"
# The models are ready by then on two cores.
SETTLED_S = 20.0
Seconds = defaultdict[str, list[float]]


@contextmanager
def serve(script: Path, data: Path) -> Iterator[tuple[str, float]]:
    """Run a script as users do; yield its address, and the seconds until the server answered."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_", "OPENAI_"))}
    environment = inherited | INDEPENDENT | {"RAG_DATA_DIR": str(data)}
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    command += ["--server.address", "localhost"]
    command += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=script.parent, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            address = f"http://localhost:{port}"
            _wait_for(f"{address}/_stcore/health")
            yield address, time.perf_counter() - started
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait_for(url: str) -> None:
    for _ in range(1200):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server did not answer within a minute")


def visit(browser: Browser, address: str, selector: str = USABLE) -> tuple[Page, float]:
    """Open a page in a fresh profile; return it, and the seconds until it shows an element."""
    page = browser.new_context().new_page()
    page.goto(address, wait_until="commit")
    return page, _wait_for_elements(page, selector, 1)


def ask_questions(page: Page, questions: list[str]) -> list[float]:
    """Ask questions one after another; return the seconds until the first text of each answer."""
    seconds = []
    for number, question in enumerate(questions, 1):
        quiet(page)
        started = float(page.evaluate("performance.now()")) / 1000
        ask(page, question)
        seconds.append(_wait_for_elements(page, ANSWER, number) - started)
    return seconds


def _wait_for_elements(page: Page, selector: str, number: int) -> float:
    """Wait until a page has a number of visible elements; return the seconds since the page was opened.

    The page itself looks before each frame, because Playwright looks only once a second after a while.
    """
    found = "([selector, number]) => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility())"
    script = f"{found}.length >= number && performance.now()"
    return float(page.wait_for_function(script, arg=[selector, number], polling="raf").json_value()) / 1000


def measure(browser: Browser, data: Path, questions: list[str], seconds: Seconds) -> None:
    """Start both servers once, and add what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE, encoding="utf-8")
        with serve(script, data) as (address, _):
            seconds["bare Streamlit page, first visitor"].append(visit(browser, address, LINE)[1])
            seconds["bare Streamlit page, second visitor"].append(visit(browser, address, LINE)[1])
    with serve(ROOT / "app.py", data) as (address, until_answer):
        seconds["start of the app until the server answers"].append(until_answer)
        seconds["usable chat, first visitor"].append(visit(browser, address)[1])
        time.sleep(SETTLED_S)
        page, usable = visit(browser, address)
        seconds["usable chat, second visitor"].append(usable)
        seconds["question until first text"] += ask_questions(page, questions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--questions", type=int, default=6)
    arguments = parser.parse_args()
    seconds: Seconds = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        data = Path(folder) / "data"
        with Engine(load_settings(data_dir=data)) as engine:
            engine.jobs.wait([engine.documents.add_guide().job_id])
            questions = (list(engine.GUIDE_QUESTIONS) * arguments.questions)[: arguments.questions]
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        for _ in range(arguments.runs):
            measure(browser, data, questions, seconds)
        browser.close()
    print("| | times | p50, s | p95, s |\n| --- | --- | --- | --- |")
    for name, values in seconds.items():
        p50, p95 = np.percentile(values, [50, 95])
        print(f"| {name} | {len(values)} | {p50:.2f} | {p95:.2f} |")


if __name__ == "__main__":
    main()
