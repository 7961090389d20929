"""Measure what content that only snapshots contain costs searches of the present.

    python -m benchmarks.snapshots INDEX DATA

INDEX is the data folder of an indexed library, and DATA a folder as `benchmarks.quality` describes it. While a snapshot
contains content that a document no longer has, searches exclude its versions. The times are those of the calling thread
on the processor, without waiting.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.quality import read_questions
from rag_core.answering.ranking import CANDIDATES
from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.types.retrieval import Excluding, VersionFilter

QUESTIONS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    rows = read_questions(options.data)[:QUESTIONS]
    with Engine(load_settings(data_dir=options.index)) as engine:
        stores, generation = engine._stores, engine._generations.active()
        versions = list(stores.documents.visible_versions())
        print(f"{stores.documents.count_chunks():,} chunks of {len(versions)} documents, {len(rows)} questions")
        questions = [generation.embedder.embed_question(row["question"]) for row in rows]
        filters: dict[str, VersionFilter | None] = {
            "all versions": None,
            "excluding one": Excluding(versions[:1]),
            "as of a snapshot": versions[1:],
        }
        for name, versions_to_search in filters.items():
            for retriever, index in stores.open_indexes(generation.generation_id):
                if retriever.reads == "encoding":
                    continue
                index.retrieve(questions[0], CANDIDATES, versions_to_search)
                times = []
                for question in questions:
                    started = time.thread_time()
                    index.retrieve(question, CANDIDATES, versions_to_search)
                    times.append(1000 * (time.thread_time() - started))
                print(f"{name:18} {retriever.score.name:6} median {np.median(times):5.1f} ms, most {max(times):5.1f}")


if __name__ == "__main__":
    main()
