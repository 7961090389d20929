"""Ask questions with the retrieval method that an evaluation measures."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rag_core.answering.ask import Answerer
from rag_core.answering.search import Searcher
from rag_core.answering.steps import run_to_end
from rag_core.answering.strategies.registry import Strategies
from rag_core.evaluation.costs import measure_search_ms
from rag_core.evaluation.ranking_metrics import list_found_pages, list_ranked_pages
from rag_core.gate.calibration import apply_threshold
from rag_core.store.documents import DocumentStore
from rag_core.types.answers import Answer
from rag_core.types.chunks import build_embedded_text
from rag_core.types.conversations import Scope
from rag_core.types.documents import PageKey
from rag_core.types.evaluation import Baseline
from rag_core.types.retrieval import Hit, Passage, RetrievalConfig, Timer
from rag_core.types.searches import SearchOutcome

# Number of passages in a ranking that is measured. The pages of further passages count as not found.
DEPTH = 100


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The pages that a method ranks for a question, and the answer that the method gives.

    Attributes
    ----------
    pages : list of PageKey
        The ranked pages, best first.
    search_ms : float
        Milliseconds that the ranking took.
    answer : Answer, optional
        ``None`` if only rankings are measured.
    passages : tuple of Passage
        The passages from which the answer was made; empty if only rankings are measured.
    outcome : SearchOutcome, optional
        The outcome of the search; ``None`` for a baseline.
    """

    pages: list[PageKey]
    search_ms: float
    answer: Answer | None = None
    passages: tuple[Passage, ...] = ()
    outcome: SearchOutcome | None = None


# A function that asks a question with a method. Its arguments are the question and the pages that answer the question;
# see `list_found_pages` for the use of the pages.
AskFunction = Callable[[str, Collection[PageKey]], MethodResult]


class TextRanker(Protocol):
    """Ranks texts by their match with a question; ``size_bytes`` is the size of the index of the texts."""

    @property
    def size_bytes(self) -> int: ...

    def rank(self, query: str) -> list[Hit]:
        """Return the texts that match, best first; the ``chunk_id`` of a hit is the position of its text."""


# A function that returns the ranker of a baseline for texts.
BuildRanker = Callable[[Baseline, Sequence[str]], TextRanker]


def build_search_ask(
    searcher: Searcher,
    strategies: Strategies,
    answerer: Answerer,
    configuration: RetrievalConfig,
    rank_by: str,
    *,
    answers: bool,
) -> AskFunction:
    """Return a function that asks a question with a retrieval configuration.

    ``rank_by`` is the score by which the configuration orders passages. If ``answers`` is false, the function only
    ranks pages.
    """

    def ask(question: str, relevant: Collection[PageKey]) -> MethodResult:
        query = searcher.build_query(question, Scope(), None, configuration)
        # A strict query has no fallback to a plain search or to quotes, which would measure something else. The gate
        # takes longer than the search, so it runs only for answers and for strategies that may use it.
        gated = answers or configuration.strategy != "plain"
        query = replace(query, depth=DEPTH, strict=True, gated=gated)
        started = time.perf_counter()
        outcome = run_to_end(strategies.search(query, Timer()))
        search_ms = measure_search_ms(outcome.result, 1000 * (time.perf_counter() - started), rank_by)
        pages = list_found_pages(outcome.passages, relevant)
        if not answers:
            return MethodResult(pages, search_ms, outcome=outcome)
        answer = answerer.answer(query, _lift_threshold(outcome))
        return MethodResult(pages, search_ms, answer, outcome.result.passages, outcome)

    return ask


def build_baseline_ask(
    library: DocumentStore, baseline: Baseline, build_ranker: BuildRanker
) -> tuple[AskFunction, int]:
    """Return a function that ranks the pages of the library with a baseline, and the size of the index in bytes.

    The baseline ranks chunks; the text of a chunk includes its prefix.
    """
    rows = [row for version in library.visible_versions() for row in library.chunk_rows(version)]
    ranker = build_ranker(baseline, [build_embedded_text(row.prefix, row.text) for row in rows])

    def ask(question: str, _relevant: Collection[PageKey]) -> MethodResult:
        started = time.perf_counter()
        hits = ranker.rank(question)[:DEPTH]
        search_ms = 1000 * (time.perf_counter() - started)
        ranked_rows = [rows[hit.chunk_id] for hit in hits]
        spans = ((row.document_id, row.page_index, row.page_index_end) for row in ranked_rows)
        return MethodResult(list_ranked_pages(spans), search_ms)

    return ask, ranker.size_bytes


def _lift_threshold(outcome: SearchOutcome) -> SearchOutcome:
    """Return the outcome with a gate that lets every question pass, so that any threshold can be applied to answers."""
    gate = outcome.result.gate
    lifted = apply_threshold(outcome.passages, -math.inf, gate.score_name)
    return replace(outcome, result=replace(outcome.result, gate=replace(lifted, score=gate.score)))
