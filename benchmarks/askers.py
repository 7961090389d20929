"""Measure how long people wait for the first text of an answer, alone and while a large document is indexed.

    python -m benchmarks.askers DATA [--askers N] [--pages N] [--think SECONDS]

DATA contains ``pdfs/`` and ``questions.jsonl`` as `benchmarks.quality` reads them. The askers ask questions of the set
at the same time, each with a pause after every answer: first while nothing else happens, and then while a document of
many pages is indexed that consists of words of the questions. The table has the median and the 95th percentile of the
seconds until the first text, the ratio of the latter to that of one asker, and the number of errors.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.quality import index_pdfs, read_questions
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.settings import load_settings
from rag_core.types.answers import Answer, Delta
from tests.support.pdfs import make_pdf

IDLE_S = 40.0


class Askers:
    """Threads that ask questions until they are stopped."""

    def __init__(self, engine: Engine, questions: list[str], count: int, think_s: float) -> None:
        self._engine = engine
        self._questions = questions
        self._think_s = think_s
        self._stop = threading.Event()
        self.seconds: list[float] = []
        self.errors: list[str] = []
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(count)]

    def _ask(self, number: int) -> None:
        random_numbers = random.Random(number)
        self._stop.wait(random_numbers.random() * self._think_s)
        while not self._stop.is_set():
            started = time.perf_counter()
            try:
                events = self._engine.ask(random_numbers.choice(self._questions))
                next(event for event in events if isinstance(event, Delta | Answer))
                self.seconds.append(time.perf_counter() - started)
                for _ in events:
                    pass
            except RagError as error:
                self.errors.append(str(error))
            self._stop.wait(self._think_s)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def measure(engine: Engine, questions: list[str], count: int, think_s: float, document: bytes | None) -> Askers:
    """Let people ask for a while, or until a document is indexed."""
    askers = Askers(engine, questions, count, think_s)
    askers.start()
    if document is None:
        time.sleep(IDLE_S)
    else:
        engine.jobs.wait([engine.documents.submit("large.pdf", document).job_id])
    askers.stop()
    return askers


def make_document(questions: list[str], pages: int) -> bytes:
    """Return a PDF whose pages consist of words of the questions, so that questions find them before all others."""
    random_numbers = random.Random(1)
    words = [word for question in questions for word in question.rstrip("?").split()]
    return make_pdf(*(" ".join(random_numbers.choices(words, k=400)) + "." for _ in range(pages)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--askers", type=int, default=20)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--think", type=float, default=5.0)
    arguments = parser.parse_args()
    questions = [row["question"] for row in read_questions(arguments.data)]
    with tempfile.TemporaryDirectory() as folder, Engine(load_settings(data_dir=Path(folder) / "data")) as engine:
        engine.warm_up()
        index_pdfs(engine, arguments.data)
        engine.answer(questions[0])
        runs = {
            "one asker": measure(engine, questions, 1, 0.5, None),
            f"{arguments.askers} askers": measure(engine, questions, arguments.askers, arguments.think, None),
            f"{arguments.askers} askers, {arguments.pages} pages being indexed": measure(
                engine, questions, arguments.askers, arguments.think, make_document(questions, arguments.pages)
            ),
        }
    alone = np.percentile(runs["one asker"].seconds, 95)
    print("| | answers | p50, s | p95, s | p95, ratio | errors |\n| --- | --- | --- | --- | --- | --- |")
    for name, askers in runs.items():
        p50, p95 = np.percentile(askers.seconds, [50, 95])
        errors = len(askers.errors)
        print(f"| {name} | {len(askers.seconds)} | {p50:.3f} | {p95:.3f} | {p95 / alone:.1f} | {errors} |")


if __name__ == "__main__":
    main()
