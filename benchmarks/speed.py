"""Measure the speed of indexing and answering; ratios are between times of the same run on the same machine.

    python -m benchmarks.speed DATA [--peer "COMMAND"]

DATA contains ``pdfs/`` and ``questions.jsonl``. Each question is asked once, and then `ROUNDS` - 1 times again. The
first percentiles are over the first times of the questions. The second percentiles are over the medians of the later
times, which other load on the machine affects less. ``--peer`` is the command of another program, which must have the
same command ``add`` and is measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_core.embedding import load_embedder
from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.types.answers import Answer, Delta
from rag_core.types.chunks import build_embedded_text

ROUNDS = 6


def warm_up(engine: Engine) -> None:
    """Start the workers and load all models, as the app does after its start."""
    engine.warm_up()
    engine.load_search()


def measure_indexing(engine: Engine, files: Sequence[Path]) -> tuple[int, int, float]:
    """Index all files; return the number of pages and of chunks, and the seconds without the loading of models."""
    warm_up(engine)
    started = time.perf_counter()
    engine.jobs.wait([engine.documents.submit(file.name, file.read_bytes()).job_id for file in files])
    seconds = time.perf_counter() - started
    counts = engine.status().counts
    return counts["pages"], counts["chunks"], seconds


def measure_embedding(engine: Engine) -> float:
    """Return the seconds to embed the indexed chunks again, without other work and sorted by length."""
    spans = [span for document in engine.documents.list() for span in engine.documents.chunks(document.document_id)]
    spans.sort(key=lambda span: span.tokens)
    texts = [build_embedded_text(span.prefix, span.text) for span in spans]
    embedder = load_embedder(engine.settings.embedder)
    started = time.perf_counter()
    embedder.embed(texts)
    return time.perf_counter() - started


def measure_words_first(file: Path, folder: Path) -> tuple[int, float]:
    """Return the number of pages of a file, and the seconds from its upload until a search by words finds it."""
    with Engine(load_settings(data_dir=folder)) as engine:
        warm_up(engine)
        data = file.read_bytes()
        started = time.perf_counter()
        job = engine.documents.submit(file.name, data)
        while not engine.search("total revenue and net income of the year").passages:
            time.sleep(0.05)
        seconds = time.perf_counter() - started
        engine.jobs.cancel(job.job_id)
        return engine.documents.get(job.document_id or "").pages, seconds


def percentiles(values: Sequence[float]) -> str:
    return f"p50 {np.percentile(values, 50):6.1f} ms  p95 {np.percentile(values, 95):6.1f} ms"


def measure_questions(engine: Engine, questions: Sequence[str]) -> None:
    """Print the time of each stage of a search, and the time until the first text of an answer."""
    engine.search(questions[0])
    rounds = [[timings(engine, question) for question in questions] for _ in range(ROUNDS)]
    first, *again = rounds
    for name in dict.fromkeys(name for one in first for name in one):
        positions = [number for number, one in enumerate(first) if name in one]
        usual = [float(np.median([one[number][name] for one in again])) for number in positions]
        print(f"  {name:10} {percentiles([first[number][name] for number in positions])}   again {percentiles(usual)}")
    print(f"  first text {percentiles([first_text(engine, question) for question in questions])}")


def timings(engine: Engine, question: str) -> dict[str, float]:
    """Return milliseconds by stage; ``retrieval`` is the total without the gate."""
    took = engine.search(question, top_k=5).timings_ms
    return {**took, "retrieval": took["total"] - took["gate"]}


def first_text(engine: Engine, question: str) -> float:
    """Return the milliseconds from a question to the first text of its answer."""
    started = time.perf_counter()
    events = engine.ask(question)
    first = next(event for event in events if isinstance(event, Delta))
    milliseconds = 1000 * (time.perf_counter() - started)
    assert first.text
    *_, last = events
    assert isinstance(last, Answer)
    return milliseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--peer", type=shlex.split, default=None)
    arguments = parser.parse_args()
    files = sorted((arguments.data / "pdfs").glob("*.pdf"))
    lines = (arguments.data / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines][:200]
    with tempfile.TemporaryDirectory() as folder, Engine(load_settings(data_dir=Path(folder) / "data")) as engine:
        pages, chunks, seconds = measure_indexing(engine, files)
        print(f"indexing: {pages} pages, {chunks} chunks in {seconds:.1f} s, {pages / seconds:.1f} pages/s")
        alone = measure_embedding(engine)
        print(f"embedding the same chunks alone: {alone:.1f} s, {alone / seconds:.2f} of indexing")
        again = engine.jobs.wait([engine.index.rebuild().job_id])[0].seconds
        print(f"re-index, nothing changed: {again:.2f} s, {again / seconds:.4f} of indexing")
        longest = max(files, key=lambda file: file.stat().st_size)
        of_pages, found_after = measure_words_first(longest, Path(folder) / "words")
        print(f"{longest.name}, {of_pages} pages: found by its words {found_after:.1f} s after its upload")
        print("a question:")
        measure_questions(engine, questions)
        if arguments.peer:
            started = time.perf_counter()
            command = [*arguments.peer, "--data-dir", str(Path(folder) / "peer"), "add", str(arguments.data / "pdfs")]
            subprocess.run([*command, "--json"], check=True, capture_output=True)
            peer = time.perf_counter() - started
            print(f"peer: {pages / peer:.1f} pages/s; ours is {peer / seconds:.2f} times as fast")


if __name__ == "__main__":
    main()
