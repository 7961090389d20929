"""Measure a library of many small documents: the list, a search and the Documents page.

    python -m benchmarks.many_documents [--documents 10000]

The documents are generated, and each has one page with four sentences. The benchmark prints the seconds that indexing
takes. It also prints percentiles of the milliseconds to list all documents, to search in all documents, to search in
one document, and to open the Documents page in Chromium until the table is visible. The page is opened in fresh browser
profiles, which load the whole web application first, and in a used profile, which has the application in its cache.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import BrowserContext, sync_playwright

from rag_core.engine import Engine
from rag_core.settings import load_settings
from tests.support.browser import ARGUMENTS, PATIENCE_MS, chromium, serve
from tests.support.pdfs import make_pdf

THINGS = "pump valve turbine ledger contract tariff reactor cable lease audit bridge survey permit vessel grant".split()
DEEDS = "was inspected,was replaced,was delivered,was approved,was measured,was cancelled,was insured".split(",")
PLACES = "Oslo Porto Quito Lagos Osaka Perth Tunis Turku Salta Davao Izmir Leeds Malmo Natal".split()


def document(number: int) -> bytes:
    """Return a PDF of one page with sentences that no other document contains."""
    chance = random.Random(number)
    sentences = [
        f"The {chance.choice(THINGS)} {number}-{line} {chance.choice(DEEDS)} in {chance.choice(PLACES)} "
        f"on {chance.randint(1, 28)} May {chance.randint(1950, 2020)} at a cost of {chance.randint(100, 99999)} crowns."
        for line in range(4)
    ]
    return make_pdf(" ".join(sentences))


def measure_calls(call: Callable[[int], object], times: int) -> str:
    """Call a function repeatedly, and format the percentiles of the milliseconds that the calls take."""
    taken = []
    for number in range(times):
        started = time.perf_counter()
        call(number)
        taken.append(1000 * (time.perf_counter() - started))
    return f"p50 {np.percentile(taken, 50):.1f} ms  p95 {np.percentile(taken, 95):.1f} ms"


def measure_page(folder: Path, count: int, times: int) -> tuple[str, str]:
    """Return percentiles of the time to open the Documents page, in fresh browser profiles and in a used one."""
    with serve(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)

        def profile() -> BrowserContext:
            return browser.new_context(viewport={"width": 1360, "height": 860})

        def page_opens(context: BrowserContext) -> None:
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(f"{address}/documents")
            page.get_by_text(f"{count:,} documents").wait_for()
            page.get_by_test_id("stDataFrame").locator("canvas").first.wait_for()
            page.close()

        def opens_first(_: int) -> None:
            with profile() as context:
                page_opens(context)

        opens_first(0)
        first = measure_calls(opens_first, times)
        with profile() as used_profile:
            page_opens(used_profile)
            again = measure_calls(lambda _: page_opens(used_profile), times)
        browser.close()
    return first, again


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--data-dir", type=Path, default=None, help="store the library here; reuse it if it exists")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = arguments.data_dir or Path(folder) / "data"
        measure(library, arguments.documents)
        first, again = measure_page(library, arguments.documents, 10)
        print("Documents page, first visit:", first)
        print("Documents page, later ones: ", again)


def measure(library: Path, count: int) -> None:
    """Fill the library, and measure indexing, listing and searching."""
    with Engine(load_settings(data_dir=library)) as engine:
        started = time.perf_counter()
        if len(engine.documents.list()) < count:
            jobs = [engine.documents.submit(f"{number:05}.pdf", document(number)) for number in range(count)]
            engine.jobs.wait([job.job_id for job in jobs])
        print(f"indexing {count} documents: {time.perf_counter() - started:.1f} s")
        engine.search("warm up")
        names = [one.name for one in engine.documents.list()]
        print("list of documents:", measure_calls(lambda number: engine.documents.list(), 20))
        question = "What did the {} in {} cost in {}?"
        ask = [question.format(THINGS[n % 15], PLACES[n % 14], 1950 + n % 70) for n in range(200)]
        print("search over all:  ", measure_calls(lambda number: engine.search(ask[number]), 200))
        one = measure_calls(lambda number: engine.search(ask[number], documents=[names[number]]), 100)
        print("search in one:    ", one)


if __name__ == "__main__":
    main()
