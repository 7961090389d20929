"""Measure how well a search for a follow-up question finds its evidence page, as asked and rewritten.

    python -m benchmarks.follow_ups DATA [--show N]

DATA contains ``pdfs/`` and ``questions.jsonl`` in the format of `benchmarks.quality`. The questions are not parts of
conversations, so the benchmark generates conversations. Each consists of two questions that share a name and have their
evidence in the same document. The first question is asked as it is. In the second question, `follow_up` replaces the
name by "its", "their", "there", "it", "they" or "them", depending on the position of the name. `follow_up` does not
distinguish persons from things.

Generated follow-ups are easier than real ones, because each refers to a name in the previous question. They are also
harder, because the previous question is often about another topic. The benchmark also asks each original question after
the previous question of the file, to measure how often a question is rewritten by mistake.

Intervals are 95 % percentile bootstrap intervals over conversations (10,000 resamples, seed 0).
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.ablation import complete
from benchmarks.quality import Row, index_pdfs, interval, page_rank, pages_of, read_questions
from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.store.database import now
from rag_core.text.grammar import AUXILIARIES, split_tokens
from rag_core.text.proper_names import Phrase, find_names
from rag_core.types.conversations import Message

DEPTH = 50
_IN = re.compile(r"\b(?:in|at)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two labelled questions; ``follow_up`` is the second question, rephrased as a follow-up of the first."""

    first: Row
    second: Row
    follow_up: str


def _without_article(name: Phrase) -> str:
    return name.text.removeprefix("the ")


def _is_plural(name: Phrase) -> bool:
    last = _without_article(name).split()[-1].lower()
    return (last.endswith("s") and not last.endswith(("ss", "us", "is"))) or " and " in name.text


def follow_up(question: str, name: Phrase) -> str:
    """Return the question with a name replaced by a pronoun; an empty string if a pronoun does not fit.

    A pronoun does not fit if the name is in a list ("Syria and Egypt") or begins a longer phrase ("Ohio territory").
    The name is assumed to begin a longer phrase if a content word directly follows the name. This does not apply if
    an auxiliary comes before the name, because the name is then the subject.
    """
    before, after = question[: name.start], question[name.end :]
    last = split_tokens(before)[-1].word if split_tokens(before) else ""
    following = split_tokens(after)[0] if split_tokens(after) else None
    genitive = re.match(r"['’]s?(?!\w)", after)
    if last in ("and", "or") or (following and following.word in ("and", "or") and not genitive):
        return ""
    if genitive:
        return before + ("their" if _is_plural(name) else "its") + after[genitive.end() :]
    subject = last in AUXILIARIES
    if following and not following.is_function_word and after.strip()[0] not in ",;?" and not subject:
        return ""
    if last in ("in", "at"):
        return _IN.sub("", before) + "there" + after
    plural = "they" if subject or not before.strip() else "them"
    return before + (plural if _is_plural(name) else "it") + after


def pairs(rows: Sequence[Row]) -> Iterator[Pair]:
    """Yield each question with another question that shares a name with it.

    Both questions are about the same document and, if possible, about the same page.
    """
    labelled = [row for row in rows if row["evidence"]]
    for second in labelled:
        near = sorted(
            (row for row in labelled if row is not second and row["document"] == second["document"]),
            key=lambda row: row["evidence"][0]["page_index"] != second["evidence"][0]["page_index"],
        )
        for first in near:
            shared = {_without_article(one).lower() for one in find_names(first["question"])}
            names = [one for one in find_names(second["question"]) if _without_article(one).lower() in shared]
            question = follow_up(second["question"], names[0]) if names else ""
            if question:
                yield Pair(first, second, question)
                break


def ranks(engine: Engine, questions: Sequence[tuple[str, Row]]) -> list[float]:
    """Return the rank of the evidence page of each question."""
    page_ranks = []
    for question, row in questions:
        passages = engine.search(question, top_k=DEPTH).passages
        page_ranks.append(page_rank(row, pages_of(passages, "named")))
    return page_ranks


def report(engine: Engine, rows: Sequence[Row], show: int) -> None:
    """Print the metrics, and the first ``show`` conversations."""
    conversations = list(pairs(rows))
    rewritten = [complete(one.follow_up, [Message("", "user", one.first["question"], now())]) for one in conversations]
    for one, question in list(zip(conversations, rewritten, strict=True))[:show]:
        print(f"  {one.first['question']}\n    {one.second['question']}\n    {one.follow_up}\n    {question}")
    same = sum(one.first["evidence"][0] == one.second["evidence"][0] for one in conversations)
    print(f"{len(conversations)} conversations, {same} of them about one page")
    rows_asked = [one.second for one in conversations]
    for label, questions in (
        ("full question", [one.second["question"] for one in conversations]),
        ("follow-up alone", [one.follow_up for one in conversations]),
        ("rewritten", rewritten),
    ):
        page_ranks = ranks(engine, list(zip(questions, rows_asked, strict=True)))
        cells = [f"recall@{k} {interval([rank <= k for rank in page_ranks])}" for k in (1, 5)]
        print(f"{label:16} page {cells[0]}  {cells[1]}", flush=True)
    changed = [
        asked != question for asked, question in zip((one.follow_up for one in conversations), rewritten, strict=True)
    ]
    print(f"follow-ups found {interval(changed)}")
    kept = [
        complete(one["question"], [Message("", "user", other["question"], now())]) == one["question"]
        for other, one in _neighbours(rows)
    ]
    print(f"left as they are {interval(kept)} of {len(kept)} questions that stand alone")


def _neighbours(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return each pair of a question in the file and the question after it."""
    return list(pairwise(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--show", type=int, default=0, help="number of conversations to print")
    arguments = parser.parse_args()
    rows = read_questions(arguments.data)
    with tempfile.TemporaryDirectory() as folder, Engine(load_settings(data_dir=Path(folder) / "data")) as engine:
        index_pdfs(engine, arguments.data)
        report(engine, rows, arguments.show)


if __name__ == "__main__":
    main()
