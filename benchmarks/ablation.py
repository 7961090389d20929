"""Measure what each rule contributes, by asking the same questions with and without the rule.

    python -m benchmarks.ablation search DATA [--limit N]
    python -m benchmarks.ablation follow-ups DATA CONVERSATIONS

``search``: DATA contains ``pdfs/`` and ``questions.jsonl`` in the format of `benchmarks.quality`; a question that has
an answer also has ``values``. The table has four metrics: recall@1 and recall@5 of the evidence pages, the share of
answers that contain an expected value, and the share of questions without an answer that are refused. The first row
has the metrics with all rules. Each other row has the difference that one rule makes to each metric, with the 95 %
paired bootstrap interval of the difference.

``follow-ups``: CONVERSATIONS is a file of JSON lines with ``first``, ``question``, ``values`` and ``document``.
``first`` is a question, and ``question`` is a second question that may depend on the first one. A passage of
``document`` must contain one of the texts in ``values``. An example is ``benchmarks/office/conversations.jsonl``, for
which DATA must contain the documents of `benchmarks.office_documents`. The second question is searched for in three
ways. The first way adds the content words of the first question if the rules consider the second question dependent.
The second way adds nothing, and the third way always adds these words.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.quality import Row, index_pdfs, page_rank, read_questions
from benchmarks.with_model import holds_value
from rag_core.answering.follow_up import Rewriter, add_earlier_words
from rag_core.engine import Engine
from rag_core.evaluation.intervals import compute_mean_interval
from rag_core.evaluation.ranking_metrics import list_ranked_pages
from rag_core.settings import load_settings
from rag_core.store.database import now
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.conversations import Message

DEPTH = 10


def without(target: str, replacement: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: patch(target, replacement)


# Maps the name of each rule to a context manager that replaces the code of the rule, which turns the rule off.
SEARCH_RULES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "near-duplicates folded": without(
        "rag_core.answering.search.fold_near_duplicates", lambda rows, wanted: {row.id: () for row in rows[:wanted]}
    ),
    "named documents first": without("rag_core.answering.ranking._prefer_named_documents", lambda ranking, *_: ranking),
    "statement lines looked up": without("rag_core.answering.ranking.plan_lookup", lambda *_: None),
}


@contextmanager
def library(data: Path) -> Iterator[Engine]:
    """Yield an engine that has indexed the PDFs of a folder."""
    with tempfile.TemporaryDirectory() as folder, Engine(load_settings(data_dir=Path(folder) / "data")) as engine:
        index_pdfs(engine, data)
        yield engine


def measure_search(engine: Engine, rows: Sequence[Row]) -> dict[str, list[float | None]]:
    """Return for each metric a list with one value per question; ``None`` if the metric does not apply."""
    values: dict[str, list[float | None]] = {"recall@1": [], "recall@5": [], "value": [], "refused": []}
    for row in rows:
        answer = engine.answer(row["question"], top_k=DEPTH)
        pages = list_ranked_pages((one.document, one.page_index, one.page_index_end) for one in answer.passages)
        rank = page_rank(row, pages) if row.get("evidence") else None
        is_answerable = row.get("answerable", row.get("kind") == "answerable")
        expects = is_answerable and (row.get("values") or row.get("answer"))
        values["recall@1"].append(None if rank is None else float(rank <= 1))
        values["recall@5"].append(None if rank is None else float(rank <= 5))
        values["value"].append(float(holds_value(row, answer.text)) if expects else None)
        values["refused"].append(None if is_answerable else float(answer.state is AnswerState.ABSTAINED))
    return values


def show_search(data: Path, limit: int | None) -> None:
    rows = [{**row, "values": row.get("values") or row.get("answers")} for row in read_questions(data)[:limit]]
    with library(data) as engine:
        show_rules(lambda: measure_search(engine, rows), SEARCH_RULES)


def show_rules(
    measure: Callable[[], dict[str, list[float | None]]], rules: dict[str, Callable[[], AbstractContextManager[Any]]]
) -> None:
    """Print a table: the metrics with all rules, then the difference that each rule makes to the metrics."""
    full = measure()
    print("| rule | " + " | ".join(full) + " |\n| --- |" + " --- |" * len(full))
    print("| all rules | " + " | ".join(share(values) for values in full.values()) + " |", flush=True)
    for name, off in rules.items():
        with off():
            less = measure()
        cells = [difference(full[metric], less[metric]) for metric in full]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def complete(question: str, history: Sequence[Message]) -> str:
    """Rewrite a follow-up question as the product does without a language model."""
    return Rewriter(None).rewrite(question, history).text or question


FOLLOW_UPS: dict[str, Callable[[str, Sequence[Message]], str]] = {
    "words added to dependent questions": complete,
    "as asked": lambda question, _: question,
    "words added to every question": add_earlier_words,
}


def show_follow_ups(data: Path, conversations: Path) -> None:
    rows = [json.loads(line) for line in conversations.read_text("utf-8").splitlines()]
    with library(data) as engine:
        full: list[tuple[float, float, float]] = []
        print("| completed | rank 1 | first five | answer |\n| --- | --- | --- | --- |")
        for name, rewrite in FOLLOW_UPS.items():
            asked = [rewrite(row["question"], [Message("", "user", row["first"], now())]) for row in rows]
            found = [_found(engine.answer(question, top_k=5), row) for question, row in zip(asked, rows, strict=True)]
            full = full or found
            shares = [share([values[column] for values in found]) for column in range(3)]
            if found is not full:
                differences = [
                    difference([values[column] for values in full], [values[column] for values in found])
                    for column in range(3)
                ]
                shares = [f"{share}; the product adds {gain}" for share, gain in zip(shares, differences, strict=True)]
            print(f"| {name} | " + " | ".join(shares) + " |", flush=True)


def _found(answer: Answer, row: Row) -> tuple[float, float, float]:
    """Return whether an expected value is in the first passage, in the first five, and in the answer, as 1.0 or 0.0."""
    texts = [passage.text if passage.document == row["document"] else "" for passage in answer.passages]
    first, five = (float(any(holds_value(row, text) for text in texts[:count])) for count in (1, 5))
    cited = any(citation.document == row["document"] for citation in answer.citations)
    return first, five, float(cited and holds_value(row, answer.text))


def share(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known) / len(known):.3f} of {len(known)}" if known else ""


def difference(full: Sequence[float | None], less: Sequence[float | None]) -> str:
    pairs = [one - other for one, other in zip(full, less, strict=True) if one is not None and other is not None]
    if not pairs:
        return ""
    found = compute_mean_interval(pairs)
    return f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("search", "follow-ups"))
    parser.add_argument("data", type=Path)
    parser.add_argument("conversations", type=Path, nargs="?")
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    if arguments.what == "follow-ups":
        show_follow_ups(arguments.data, arguments.conversations)
    else:
        show_search(arguments.data, arguments.limit)


if __name__ == "__main__":
    main()
