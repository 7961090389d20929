"""How well follow-up questions find their page: as asked, and rewritten to stand alone.

    python -m benchmarks.follow_ups DATA [--show N]

DATA holds ``pdfs/`` and ``questions.jsonl`` as `benchmarks.quality` reads them. Labelled questions
come without conversations, so these are made by machine: a pair is two questions with evidence in
one document that share a name; the first is asked as it stands, the second with that name taken out
by `follow_up`: replaced by "its" or "their", "there", "it", "they" or "them", whichever its place
calls for; persons are not told from things.
Such follow-ups are easier than people's in that each leans on a name which the question before it
holds, and harder in that the question before is often about something else on the page. The words
of the pronouns are known to the rules that are measured, since English has no others. Questions of
the data that are left as they are although another one went before tell how often a rewrite is
wrongly made.

Intervals are 95 % percentile bootstrap over conversations (10,000 resamples, seed 0).
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
from rag_core.text.grammar import AUXILIARIES, tokens
from rag_core.text.noun_phrases import Phrase, find_names
from rag_core.types import Message

DEPTH = 50
_IN = re.compile(r"\b(?:in|at)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two labelled questions, and the second one as a follow-up of the first."""

    first: Row
    second: Row
    follow_up: str


def _without_article(name: Phrase) -> str:
    return name.text.removeprefix("the ")


def _is_plural(name: Phrase) -> bool:
    last = _without_article(name).split()[-1].lower()
    return (last.endswith("s") and not last.endswith(("ss", "us", "is"))) or " and " in name.text


def follow_up(question: str, name: Phrase) -> str:
    """The question with a name taken out and a pronoun in its place; empty where a pronoun cannot stand there.

    That is where the name is one of a row ("Syria and Egypt") or the first part of a longer phrase
    ("Ohio territory"), which is taken to begin wherever a lower-case content word follows a name that
    is not the subject after an auxiliary.
    """
    before, rest = question[: name.start], question[name.end :]
    last = tokens(before)[-1].word if tokens(before) else ""
    following = tokens(rest)[0] if tokens(rest) else None
    genitive = re.match(r"['’]s?(?!\w)", rest)
    if last in ("and", "or") or (following and following.word in ("and", "or") and not genitive):
        return ""
    if genitive:
        return before + ("their" if _is_plural(name) else "its") + rest[genitive.end() :]
    subject = last in AUXILIARIES
    if following and not following.is_function and rest.strip()[0] not in ",;?" and not subject:
        return ""
    if last in ("in", "at"):
        return _IN.sub("", before) + "there" + rest
    plural = "they" if subject or not before.strip() else "them"
    return before + (plural if _is_plural(name) else "it") + rest


def pairs(rows: Sequence[Row]) -> Iterator[Pair]:
    """Each question after one that shares a name with it, over the same document, and page where there is one."""
    labelled = [row for row in rows if row["evidence"]]
    for second in labelled:
        near = sorted(
            (row for row in labelled if row is not second and row["document"] == second["document"]),
            key=lambda row: row["evidence"][0]["page_index"] != second["evidence"][0]["page_index"],
        )
        for first in near:
            shared = {_without_article(one).lower() for one in find_names(first["question"])}
            found = [one for one in find_names(second["question"]) if _without_article(one).lower() in shared]
            made = follow_up(second["question"], found[0]) if found else ""
            if made:
                yield Pair(first, second, made)
                break


def ranks(engine: Engine, asked: Sequence[tuple[str, Row]]) -> list[float]:
    """The rank of the evidence page, question by question."""
    found = []
    for question, row in asked:
        passages = engine.search(question, top_k=DEPTH).passages
        found.append(page_rank(row, pages_of(passages, "named")))
    return found


def report(engine: Engine, rows: Sequence[Row], show: int) -> None:
    """Print the figures, and some of the conversations."""
    made = list(pairs(rows))
    rewritten = [complete(one.follow_up, [Message("", "user", one.first["question"], now())]) for one in made]
    for one, question in list(zip(made, rewritten, strict=True))[:show]:
        print(f"  {one.first['question']}\n    {one.second['question']}\n    {one.follow_up}\n    {question}")
    same = sum(one.first["evidence"][0] == one.second["evidence"][0] for one in made)
    print(f"{len(made)} conversations, {same} of them over one page")
    rows_asked = [one.second for one in made]
    for label, questions in (
        ("full question", [one.second["question"] for one in made]),
        ("follow-up alone", [one.follow_up for one in made]),
        ("rewritten", rewritten),
    ):
        found = ranks(engine, list(zip(questions, rows_asked, strict=True)))
        cells = [f"recall@{k} {interval([rank <= k for rank in found])}" for k in (1, 5)]
        print(f"{label:16} page {cells[0]}  {cells[1]}", flush=True)
    changed = [asked != question for asked, question in zip((one.follow_up for one in made), rewritten, strict=True)]
    print(f"follow-ups told  {interval(changed)}")
    kept = [
        complete(one["question"], [Message("", "user", other["question"], now())]) == one["question"]
        for other, one in _neighbours(rows)
    ]
    print(f"left as they are {interval(kept)} of {len(kept)} questions that stand alone")


def _neighbours(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Each question with the one before it in the file."""
    return list(pairwise(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--show", type=int, default=0, help="print so many of the conversations")
    arguments = parser.parse_args()
    rows = read_questions(arguments.data)
    with tempfile.TemporaryDirectory() as folder, Engine(load_settings(data_dir=Path(folder) / "data")) as engine:
        index_pdfs(engine, arguments.data)
        report(engine, rows, arguments.show)


if __name__ == "__main__":
    main()
