"""Measure the retrieval of each stage, the answers and the refusals, with intervals.

    python -m benchmarks.quality DATA [--scoped] [--peer "COMMAND"]

DATA contains ``pdfs/`` and ``questions.jsonl`` with ``id``, ``question``, ``document``, ``evidence``
(``[{"document", "page_index"}]``), ``answers`` and ``kind`` (answerable, off-corpus, adversarial). ``--peer`` is the
command of another program, which must have the same commands ``add`` and ``search`` and is measured in the same run.
Intervals are 95 % percentile bootstrap intervals over questions (10,000 resamples, seed 0).
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.engine import Engine
from rag_core.evaluation.intervals import compute_auroc, compute_mean_interval
from rag_core.evaluation.ranking_metrics import find_first_rank, list_ranked_pages
from rag_core.settings import load_settings
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage

STAGES = ("dense", "bm25", "rrf", "rerank", "financials", "named")
EVERY_CANDIDATE = 200
Row = dict[str, Any]


def read_questions(data: Path) -> list[Row]:
    """Return the rows of ``questions.jsonl``."""
    return [json.loads(line) for line in (data / "questions.jsonl").read_text("utf-8").splitlines()]


def index_pdfs(engine: Engine, data: Path) -> None:
    """Index the files of ``pdfs/`` and wait until all jobs have ended."""
    files = sorted((data / "pdfs").glob("*.pdf"))
    engine.jobs.wait([engine.documents.submit(file.name, file.read_bytes()).job_id for file in files])


def page_rank(row: Row, pages: Sequence[PageKey]) -> float:
    """Return the rank of the first evidence page, counted from 1; infinity if no evidence page is in ``pages``."""
    rank = find_first_rank(pages, [(one["document"], one["page_index"]) for one in row["evidence"]])
    return float("inf") if rank is None else rank


def pages_of(passages: Sequence[Passage], stage: str) -> list[PageKey]:
    """Return the pages of the passages that a stage scored, in the order of its scores.

    A page is a pair of document name and page index. If the stage scored no passage, the order of the previous stage is
    returned.
    """
    scored = [(passage.scores[stage], passage) for passage in passages if passage.scores.get(stage) is not None]
    ordered = [passage for _, passage in sorted(scored, key=lambda pair: -float(pair[0] or 0.0))]
    if not ordered and passages and stage != STAGES[0]:
        return pages_of(passages, STAGES[STAGES.index(stage) - 1])
    return list_ranked_pages((one.document, one.page_index, one.page_index_end) for one in ordered)


def interval(values: Sequence[float]) -> str:
    """Format the mean of the values with its 95 % bootstrap interval."""
    estimate = compute_mean_interval(values)
    return f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"


def show_ranks(name: str, ranks: Sequence[float]) -> None:
    """Print one line of retrieval metrics."""
    cells = [f"{name:10}"]
    cells += [f"recall@{k} {interval([rank <= k for rank in ranks])}" for k in (1, 5)]
    cells.append(f"MRR@10 {interval([1 / rank if rank <= 10 else 0.0 for rank in ranks])}")
    print("  ".join(cells), flush=True)


def measure_retrieval(engine: Engine, rows: Sequence[Row], scoped: bool) -> None:
    """Print the retrieval metrics of each stage."""
    labelled = [row for row in rows if row["evidence"]]
    ranks: dict[str, list[float]] = {stage: [] for stage in STAGES}
    for row in labelled:
        documents = [row["document"]] if scoped else None
        passages = engine.search(row["question"], documents=documents, top_k=EVERY_CANDIDATE).passages
        for stage in STAGES:
            ranks[stage].append(page_rank(row, pages_of(passages, stage)))
    for stage in STAGES:
        show_ranks(stage, ranks[stage])


def measure_answers(engine: Engine, rows: Sequence[Row]) -> None:
    """Print the metrics of answers and refusals."""
    answers_by_kind: dict[str, list[tuple[Row, Answer]]] = {}
    for row in rows:
        answers_by_kind.setdefault(row.get("kind", "answerable"), []).append(
            (row, engine.answer(row["question"], top_k=5))
        )
    answerable = answers_by_kind["answerable"]
    answered = [(row, one) for row, one in answerable if one.state is AnswerState.ANSWERED]
    on_page = [
        (citation.document, citation.page_index) in {(e["document"], e["page_index"]) for e in row["evidence"]}
        for row, one in answered
        for citation in one.citations
    ]
    holds = [one.state is AnswerState.ANSWERED and holds_gold(row, one.text) for row, one in answerable]
    print("answered     ", interval([one.state is AnswerState.ANSWERED for _, one in answerable]))
    if any(row.get("answers") for row, _ in answerable):
        print("holds gold   ", interval(holds))
    if short := [(row, one.short) for row, one in answered if one.short]:
        # If a year is expected, a date with this year is right. If a date is expected, its year alone is right.
        right = [holds_gold(row, text) or any(text in gold for gold in row.get("answers") or []) for row, text in short]
        print(f"short answers {len(short)}, right {sum(right)}")
    if on_page:
        print("cited page   ", interval(on_page))
    print("median words ", int(np.median([len(one.text.split()) for _, one in answered])))
    for kind in ("off-corpus", "adversarial"):
        if kind in answers_by_kind:
            refused = interval([one.state is AnswerState.ABSTAINED for _, one in answers_by_kind[kind]])
            area = compute_auroc(
                [one.gate.score for _, one in answerable], [one.gate.score for _, one in answers_by_kind[kind]]
            )
            print(f"{kind} refused {refused}  AUROC {area:.4f}")


def holds_gold(row: Row, text: str) -> bool:
    """Return whether a text contains one of the expected answers, ignoring white space and case."""
    folded = " ".join(text.split()).casefold()
    return any(" ".join(gold.split()).casefold() in folded for gold in row.get("answers") or [])


def measure_peer(command: Sequence[str], data: Path, rows: Sequence[Row], folder: Path) -> None:
    """Print the retrieval metrics of another program."""

    def call(*words: str) -> str:
        line = [*command, "--data-dir", str(folder / "peer"), *words, "--json"]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout

    call("add", str(data / "pdfs"))
    labelled = [row for row in rows if row["evidence"]]
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps({"id": row["id"], "question": row["question"]}) + "\n" for row in labelled))
    results = [json.loads(line) for line in call("search", "--questions", str(questions), "--top-k", "20").splitlines()]
    ranks = [
        page_rank(
            row,
            list_ranked_pages((one["document"], one["page_index"], one["page_index"]) for one in answer["passages"]),
        )
        for row, answer in zip(labelled, results, strict=True)
    ]
    show_ranks("peer", ranks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--scoped", action="store_true", help="search only the document that each question names")
    parser.add_argument("--peer", type=shlex.split, default=None)
    arguments = parser.parse_args()
    rows = read_questions(arguments.data)
    with tempfile.TemporaryDirectory() as folder, Engine(load_settings(data_dir=Path(folder) / "data")) as engine:
        index_pdfs(engine, arguments.data)
        measure_retrieval(engine, rows, arguments.scoped)
        if arguments.peer:
            measure_peer(arguments.peer, arguments.data, rows, Path(folder))
        if not arguments.scoped:
            measure_answers(engine, rows)


if __name__ == "__main__":
    main()
