"""Measure how many unsupported statements the verifier flags, and how many supported ones it flags by mistake.

    python -m benchmarks.citations DATA [--without-vectors] [--show]

DATA contains ``pdfs/`` and ``questions.jsonl`` with ``question``, ``document``, ``evidence``
(``[{"document", "page_index"}]``), ``answers`` and ``passage``. Each passage is located in the text that the app
extracts from the PDF. True statements are the sentences of a passage, paraphrases of these sentences (see
`benchmarks.statements`), and statements formed from a question and its answer. A broken statement differs from a true
one in one number, date, name or negation, or it cites another passage. Intervals are 95 % percentile bootstrap
intervals over passages (2,000 resamples, seed 0).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz

from benchmarks.statements import BREAKS, from_question, sentences, true_statements
from rag_core.parsing import PdfParser
from rag_core.text.normalize import normalize_with_offsets
from rag_core.types import Page, Passage
from rag_core.types.protocols import TextEncoder
from rag_core.verification.verifier import verify_answer

LEAST_SCORE = 80.0
SEED = 0


@dataclass(frozen=True)
class Case:
    """A statement that cites a passage; ``group`` is the number of the passage that the statement was made from."""

    kind: str
    broken: bool
    text: str
    passage: Passage
    group: int


def page_texts(folder: Path) -> dict[tuple[str, int], str]:
    """Return a dictionary that maps document name and page index to the text of the page."""
    with closing(PdfParser(ocr="off")) as extractor:
        return {
            (file.name, page.page_index): page.text
            for file in sorted(folder.glob("*.pdf"))
            for page in extractor.parse(file)
            if isinstance(page, Page)
        }


def locate_passage(row: dict[str, Any], pages: dict[tuple[str, int], str], rank: int) -> Passage | None:
    """Return the passage as it is in the PDF, with line breaks; ``None`` if it is not complete on its page."""
    evidence = row["evidence"][0]
    text = pages[evidence["document"], evidence["page_index"]]
    page, offsets = normalize_with_offsets(text)
    alignment = fuzz.partial_ratio_alignment(normalize_with_offsets(row["passage"])[0], page, score_cutoff=LEAST_SCORE)
    if alignment is None or alignment.dest_end - alignment.dest_start < 0.95 * len(row["passage"]):
        return None
    start, end = offsets[alignment.dest_start], offsets[alignment.dest_end - 1] + 1
    index = evidence["page_index"]
    return Passage(
        1, str(rank), row["document"], "v", row["document"], index, str(index + 1), index, start, end, text[start:end],
        "", {},
    )  # fmt: skip


def cases(rows: Sequence[dict[str, Any]], pages: dict[tuple[str, int], str]) -> Iterator[Case]:
    """Yield true statements, and broken statements of every kind that can be made from the true ones."""
    chance = random.Random(SEED)
    by_text = {row["passage"]: row for row in rows}
    placed = [
        (row, passage_on_page)
        for n, row in enumerate(by_text.values())
        if (passage_on_page := locate_passage(row, pages, n))
    ]
    print(f"{len(placed)} of {len(by_text)} passages are complete on their page")
    questions = defaultdict(list)
    for row in rows:
        questions[row["passage"]].append(row)
    for group, (row, passage) in enumerate(placed):
        same_document = [one for other, one in placed if one is not passage and other["document"] == row["document"]]
        other_documents = [one for other, one in placed if other["document"] != row["document"]]
        texts = [one.text for one in same_document]
        statements = [statement for sentence in sentences(row["passage"]) for statement in true_statements(sentence)]
        answered = (from_question(one["question"], one["answers"][0]) for one in questions[row["passage"]])
        statements += [("from question", one) for one in answered if one]
        for kind, text in statements:
            yield Case(kind, False, text, passage, group)
            for name, make in BREAKS.items():
                wrong = make(text, row["passage"], texts, chance)
                if wrong is not None and wrong != text:
                    yield Case(name, True, wrong, passage, group)
            if same_document:
                yield Case("passage of the document", True, text, chance.choice(same_document), group)
            yield Case("passage of another", True, text, chance.choice(other_documents), group)


def get_reason(case: Case, vectors: TextEncoder | None) -> str:
    """Return the reason why the verifier flags the statement; an empty string if the verifier does not flag it."""
    verified = verify_answer(f"{case.text} [1]", [case.passage], vectors)
    return next((one.reason for one in verified.statements if not one.supported), "")


def interval(outcomes: Sequence[tuple[int, bool]]) -> str:
    """Format the share of positive outcomes, with its bootstrap interval over passages."""
    groups = np.array([group for group, _ in outcomes])
    _, inverse = np.unique(groups, return_inverse=True)
    hits = np.bincount(inverse, weights=[hit for _, hit in outcomes])
    sizes = np.bincount(inverse)
    picks = np.random.default_rng(SEED).integers(0, len(sizes), (2_000, len(sizes)))
    low, high = np.percentile(hits[picks].sum(axis=1) / sizes[picks].sum(axis=1), [2.5, 97.5])
    return f"{hits.sum() / sizes.sum():.3f} ({low:.3f}–{high:.3f})  n={len(outcomes)}"


def bundled_vectors() -> TextEncoder:
    """Return a function that computes token vectors with the bundled embedder."""
    from rag_core.embedding import load_embedder
    from rag_core.settings import BUNDLED_EMBEDDER

    embedder = load_embedder(BUNDLED_EMBEDDER)

    def vectors(text: str) -> Any:
        question = embedder.embed_question(text)
        return question.tokens, question.offsets

    return vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--without-vectors", action="store_true")
    parser.add_argument("--show", action="store_true", help="print each statement that was judged wrongly")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in (arguments.data / "questions.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if row.get("passage")]
    vectors = None if arguments.without_vectors else bundled_vectors()
    outcomes: dict[tuple[bool, str], list[tuple[int, bool]]] = defaultdict(list)
    for case in cases(rows, page_texts(arguments.data / "pdfs")):
        reason = get_reason(case, vectors)
        for kind in (case.kind, "all"):
            outcomes[case.broken, kind].append((case.group, bool(reason)))
        if arguments.show and bool(reason) != case.broken:
            print(f"{case.kind}\n  {case.text}\n  {reason or 'not flagged'}")
    for broken, title in ((False, "true statements flagged"), (True, "broken statements flagged")):
        print(title)
        for (was_broken, kind), results in sorted(outcomes.items()):
            if was_broken == broken:
                print(f"  {kind:24} {interval(results)}", flush=True)


if __name__ == "__main__":
    main()
