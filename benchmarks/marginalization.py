"""Compare RAG-Sequence and RAG-Token with the model's answers to a plain prompt: answers and seconds.

    RAG_GGUF=model.gguf python -m benchmarks.marginalization DATA --data-dir FOLDER [--limit 10] [--rows FILE]

DATA contains ``questions.jsonl`` with ``question``, ``kind`` and ``answers``; only questions that the documents answer
are asked. FOLDER is a data folder in which the documents are indexed. The plain prompt contains the same passages and
two sentences of instructions. ``--rows`` writes every answer to a file, as JSON lines, as soon as it is known.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.with_model import plain_messages
from rag_core.engine import Engine
from rag_core.evaluation.answer_metrics import compute_exact_match, compute_token_f1, contains_answer
from rag_core.settings import load_settings
from rag_core.types.answers import strip_markers
from rag_core.types.marginalization import MARGINALIZATIONS
from rag_core.types.retrieval import RetrievalConfig

SEED = 5
_PLAIN = "plain prompt"


def ask_plainly(engine: Engine, question: str, top_k: int) -> str:
    """Return the reply of the model to the plain prompt with the first passages."""
    passages = engine.search(question, top_k=top_k).passages
    model = engine.models.active()
    assert model is not None
    return model.complete(plain_messages(question, passages)).text


def ask(engine: Engine, method: str, question: str, top_k: int) -> str:
    """Return the answer of a method without markers."""
    if method == _PLAIN:
        return strip_markers(ask_plainly(engine, question, top_k))
    how = RetrievalConfig(strategy=next(one for one in MARGINALIZATIONS if one == method))
    return strip_markers(engine.answer(question, top_k=top_k, configuration=how).text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--top-k", type=int, default=3)
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args()
    rows = [json.loads(line) for line in (options.data / "questions.jsonl").read_text("utf-8").splitlines()]
    answerable = [row for row in rows if row.get("kind", "answerable") == "answerable" and row.get("answers")]
    sample = random.Random(SEED).sample(answerable, min(options.limit, len(answerable)))
    values: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with Engine(load_settings(data_dir=options.data_dir)) as engine:
        engine.load_search()
        for row in sample:
            for method in (_PLAIN, *MARGINALIZATIONS):
                started = time.perf_counter()
                text = ask(engine, method, row["question"], options.top_k)
                seconds = time.perf_counter() - started
                scores = contains_answer(text, row["answers"]), compute_exact_match(text, row["answers"])
                values[method].append((*scores, compute_token_f1(text, row["answers"]), seconds))
                if options.rows:
                    with options.rows.open("a", encoding="utf-8") as file:
                        line = {"question": row["question"], "answers": row["answers"], "method": method, "text": text}
                        file.write(json.dumps(line | {"seconds": round(seconds, 1)}, ensure_ascii=False) + "\n")
    print(f"{'method':<16}{'contains':>10}{'exact':>8}{'F1':>8}{'seconds':>10}   n")
    for method, measured in values.items():
        means = [sum(column) / len(measured) for column in zip(*measured, strict=True)]
        print(f"{method:<16}{means[0]:>10.2f}{means[1]:>8.2f}{means[2]:>8.2f}{means[3]:>10.1f}{len(measured):>4}")


if __name__ == "__main__":
    main()
