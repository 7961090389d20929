"""Compare context sizes: the passage, the passage with its neighbours, and its whole page.

    python -m benchmarks.context INDEX DATA [--sample 200] [--context passage ...] [--without-pages]

INDEX is the data folder of an indexed library, and DATA a folder as `benchmarks.quality` describes it. An answer is
right if its text contains an expected answer. Without a language model, the reader reads the whole pages of the first
passages in any case; ``--without-pages`` measures the passages alone. With a language model (``RAG_GGUF``,
``RAG_OPENAI_MODEL``), its answers are measured.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args
from unittest.mock import patch

import numpy as np

from benchmarks.quality import Row, holds_gold, interval, read_questions
from rag_core.engine import Engine
from rag_core.reading import excerpts
from rag_core.settings import load_settings
from rag_core.types import AnswerState, Context, RetrievalConfig


def measure(engine: Engine, rows: Sequence[Row], context: Context, label: str) -> None:
    """Ask all questions, and print a line of figures."""
    outcomes: Counter[str] = Counter()
    right, characters, seconds, tokens = [], [], [], []
    for row in rows:
        started = time.perf_counter()
        answer = engine.answer(row["question"], configuration=RetrievalConfig(context=context))
        seconds.append(time.perf_counter() - started)
        characters.append(sum(len(one.text) for one in answer.passages))
        tokens.append(answer.usage.input_tokens)
        answered = answer.state is AnswerState.ANSWERED
        right.append(answered and holds_gold(row, answer.text))
        outcomes["right" if right[-1] else "wrong" if answered else "refused"] += 1
    print(
        f"{label:24} right {interval(right)}  {dict(sorted(outcomes.items()))}  passages {np.mean(characters):,.0f} "
        f"characters  {np.mean(tokens):,.0f} input tokens  median {1000 * np.median(seconds):,.0f} ms",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--context", nargs="*", choices=get_args(Context), default=list(get_args(Context)))
    parser.add_argument("--without-pages", action="store_true")
    options = parser.parse_args()
    rows = [row | {"answers": row.get("values") or row.get("answers")} for row in read_questions(options.data)]
    rows = [row for row in rows if row["answers"]]
    rows = random.Random(0).sample(rows, min(options.sample, len(rows)))
    with Engine(load_settings(data_dir=options.index)) as engine:
        engine.load_search()
        print(f"{len(rows)} questions, answers by {engine.models.find_name(None) or 'the reader'}")
        if options.without_pages:
            with patch.object(excerpts, "WHOLE_PAGES", 0):
                measure(engine, rows, "passage", "passage, without pages")
        for context in options.context:
            measure(engine, rows, context, context)


if __name__ == "__main__":
    main()
