"""A library of many small documents: how long the list and a search take.

    python -m benchmarks.many_documents [--documents 10000]

The documents are made here, one page of four sentences each. Prints the seconds of indexing, the
milliseconds of listing all documents, and percentiles of a search over all and over one.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rag_core.engine import Engine
from rag_core.settings import load_settings
from tests.conftest import make_pdf

THINGS = "pump valve turbine ledger contract tariff reactor cable lease audit bridge survey permit vessel grant".split()
DEEDS = "was inspected,was replaced,was delivered,was approved,was measured,was cancelled,was insured".split(",")
PLACES = "Oslo Porto Quito Lagos Osaka Perth Tunis Turku Salta Davao Izmir Leeds Malmo Natal".split()


def document(number: int) -> bytes:
    """One page of sentences that no other document holds."""
    chance = random.Random(number)
    sentences = [
        f"The {chance.choice(THINGS)} {number}-{line} {chance.choice(DEEDS)} in {chance.choice(PLACES)} "
        f"on {chance.randint(1, 28)} May {chance.randint(1950, 2020)} at a cost of {chance.randint(100, 99999)} crowns."
        for line in range(4)
    ]
    return make_pdf(" ".join(sentences))


def timed(call: Callable[[int], object], times: int) -> str:
    """Percentiles in milliseconds over repeated calls."""
    taken = []
    for number in range(times):
        started = time.perf_counter()
        call(number)
        taken.append(1000 * (time.perf_counter() - started))
    return f"p50 {np.percentile(taken, 50):.1f} ms  p95 {np.percentile(taken, 95):.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--data-dir", type=Path, default=None, help="keep the library here, and use it when it is")
    arguments = parser.parse_args()
    count = arguments.documents
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(load_settings(data_dir=arguments.data_dir or Path(folder))) as engine,
    ):
        started = time.perf_counter()
        if len(engine.documents()) < count:
            jobs = [engine.submit(f"{number:05}.pdf", document(number)) for number in range(count)]
            engine.wait([job.job_id for job in jobs])
        print(f"indexing {count} documents: {time.perf_counter() - started:.1f} s")
        engine.search("warm up")
        names = [one.name for one in engine.documents()]
        print("list of documents:", timed(lambda number: engine.documents(), 20))
        question = "What did the {} in {} cost in {}?"
        ask = [question.format(THINGS[n % 15], PLACES[n % 14], 1950 + n % 70) for n in range(200)]
        print("search over all:  ", timed(lambda number: engine.search(ask[number]), 200))
        one = timed(lambda number: engine.search(ask[number], documents=[names[number]]), 100)
        print("search in one:    ", one)


if __name__ == "__main__":
    main()
