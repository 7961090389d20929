"""Measure what learned sparse retrieval adds to the time of a search, to the index and to the memory.

    RAG_SPARSE=ENCODER python -m benchmarks.sparse FOLDER QUESTIONS [--sample N]

FOLDER is a data folder whose index was built with RAG_SPARSE. QUESTIONS is a file of JSON lines with ``question``. Each
question is searched with and without the sparse index, one directly after the other and in alternating order, so that
the load of the machine affects both alike. ``python -m rag_core evaluate QUESTIONS --table`` measures the rankings.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.types.retrieval import RetrievalConfig

CONFIGURATIONS = {"with": RetrievalConfig(), "without": RetrievalConfig(sparse=False)}


def resident_mb() -> float:
    """Return the resident memory of this process in megabytes."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--sample", type=int, default=100)
    options = parser.parse_args()
    questions = [json.loads(line)["question"] for line in options.questions.read_text("utf-8").splitlines()]
    with Engine(load_settings(data_dir=options.folder)) as engine:
        engine.search(questions[0], configuration=CONFIGURATIONS["without"])
        before = resident_mb()
        engine.search(questions[0])
        print(f"memory: {before:.0f} MB without, {resident_mb() - before:.0f} MB more with the sparse encoder")
        status = engine.status()
        print(f"stores: {dict(status.stores)}; bytes: {dict(status.disk_bytes)}")
        times: dict[str, list[float]] = {name: [] for name in CONFIGURATIONS}
        for place, question in enumerate(questions[: options.sample]):
            names = list(CONFIGURATIONS)
            for name in names if place % 2 else reversed(names):
                started = time.perf_counter()
                engine.search(question, configuration=CONFIGURATIONS[name])
                times[name].append(1000 * (time.perf_counter() - started))
    shares = {name: np.percentile(ms, [50, 95]) for name, ms in times.items()}
    for name, (median, p95) in shares.items():
        print(f"{name:8} median {median:.0f} ms, p95 {p95:.0f} ms over {len(times[name])} questions")
    ratios = shares["with"] / shares["without"]
    print(f"ratio    median {ratios[0]:.2f}, p95 {ratios[1]:.2f}")


if __name__ == "__main__":
    main()
