"""Compare answers from themes with plain retrieval and the summary strategy, without a language model.

    python -m benchmarks.themes DATA_DIR [QUESTIONS] [--most N] [--show]

DATA_DIR is a data folder with indexed documents and built themes (``python -m rag_core themes build``). QUESTIONS
contains global questions with ``aspects`` (regular expressions for what a good answer mentions) and local questions
with ``answer`` (a regular expression for the fact); the default is the file beside this module, which is about filings
of companies. The aspects were written before any answer was seen. A row gives, for each strategy: global questions
answered, the documents that an answer cites and the share of the aspects that its text mentions, as means over all
global questions (0 if refused), local questions whose answer contains the fact, and the median time.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from pathlib import Path
from typing import Any

from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.retrieval import RetrievalConfig

QUESTIONS = Path(__file__).with_name("theme_questions.jsonl")
STRATEGIES: tuple[str, ...] = ("plain", "summary", "themes")


def score_answer(row: dict[str, Any], answer: Answer, seconds: float) -> dict[str, float]:
    """Return the measures of one answer; those of a refusal are 0."""
    answered = answer.state is AnswerState.ANSWERED
    text = f"{answer.short} {answer.text}" if answered else ""
    found = [re.search(one, text, re.IGNORECASE) is not None for one in row.get("aspects", [row.get("answer", "")])]
    return {
        "answered": float(answered),
        "documents": float(len({one.document_id for one in answer.citations})),
        "found": sum(found) / len(found) if text else 0.0,
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("questions", type=Path, nargs="?", default=QUESTIONS)
    parser.add_argument("--most", type=int, help="Ask global questions about the first N documents only, by name.")
    parser.add_argument("--show", action="store_true", help="Print the answers.")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.questions.read_text("utf-8").splitlines()]
    with Engine(load_settings(data_dir=options.data_dir)) as engine:
        engine.load_search()
        names = sorted(one.name for one in engine.documents.list())
        scores: dict[tuple[str, str], list[dict[str, float]]] = {}
        for strategy in STRATEGIES:
            for row in rows:
                documents = names[: options.most] if options.most and row["kind"] == "global" else None
                started = time.monotonic()
                answer = engine.answer(
                    row["question"], documents=documents, configuration=RetrievalConfig(strategy=strategy), model=""
                )
                score = score_answer(row, answer, time.monotonic() - started)
                scores.setdefault((strategy, row["kind"]), []).append(score)
                if options.show:
                    print(f"\n## {strategy}: {row['question']}\n{score}\n{answer.text}")
                    print("\n".join(f"[{one.marker}] {one.document} p. {one.page_label}" for one in answer.citations))
    print("\n| strategy | global answered | documents cited | aspects | local correct | seconds, global | local |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for strategy in STRATEGIES:
        asked, local = scores[strategy, "global"], scores[strategy, "local"]

        def mean(name: str, of: list[dict[str, float]] = asked) -> float:
            return statistics.fmean(one[name] for one in of)

        seconds = [statistics.median(one["seconds"] for one in of) for of in (asked, local)]
        print(
            f"| {strategy} | {mean('answered') * len(asked):.0f} of {len(asked)} | {mean('documents'):.1f} | "
            f"{mean('found'):.2f} | {mean('found', local) * len(local):.0f} of {len(local)} | {seconds[0]:.1f} | "
            f"{seconds[1]:.1f} |"
        )


if __name__ == "__main__":
    main()
