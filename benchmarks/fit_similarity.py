"""Fit the map from the similarities of another embedder to those of the bundled one.

    RAG_EMBEDDER=multilingual-e5-small python -m benchmarks.fit_similarity DATA [DATA ...]

Each DATA contains ``pdfs/`` and ``questions.jsonl``. The weights of excerpts were fitted with the bundled embedder, and
cosines of other embedders vary less, around another mean. The map gives them the same mean and standard deviation over
the excerpts of the same questions. Its two numbers belong in the file of the embedder's calibration.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.quality import index_pdfs, read_questions
from rag_core.engine import Engine
from rag_core.reading.similarity import PageSimilarity
from rag_core.settings import BUNDLED_EMBEDDER, load_settings
from rag_core.types.documents import PageKey
from rag_core.types.tables import Span

QUESTIONS = 50


def collect_similarities(data: Path, embedder: str) -> list[float]:
    """Return the similarities, without any map, of all excerpts that answers to some of the questions consider."""
    questions = [one["question"] for one in read_questions(data) if one["kind"] == "answerable"]
    found: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(load_settings(data_dir=Path(folder), embedder=embedder)) as engine,
    ):
        index_pdfs(engine, data)
        compare = PageSimilarity.compute_mean_cosine

        def record(self: PageSimilarity, page: PageKey, spans: Sequence[Span]) -> float | None:
            value = compare(self, page, spans)
            found.extend([] if value is None else [value])
            return value

        with patch.object(PageSimilarity, "compute_mean_cosine", record):
            for question in random.Random(3).sample(questions, min(QUESTIONS, len(questions))):
                for _ in engine.ask(question):
                    pass
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    arguments = parser.parse_args()
    ours, others = (
        np.array([value for data in arguments.data for value in collect_similarities(data, embedder)])
        for embedder in (BUNDLED_EMBEDDER, load_settings().embedder)
    )
    slope = ours.std() / others.std()
    print(f'"similarity_slope": {slope:.3f}, "similarity_intercept": {ours.mean() - slope * others.mean():.3f}')


if __name__ == "__main__":
    main()
