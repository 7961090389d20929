"""How passages are looked for, and what is found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import PAGE_BREAK
from rag_core.types.documents import PageReference
from rag_core.types.usage import Usage

NAMED = "named"


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the embedder's space.

    Attributes
    ----------
    text : str
    dense : FloatArray, shape (dimension,)
    tokens : FloatArray, shape (n, token_dimension)
        Unit vectors, special tokens left out.
    offsets : IntArray, shape (n, 2)
        Character span of each token in ``text``.
    """

    text: str
    dense: FloatArray
    tokens: FloatArray
    offsets: IntArray


def unembedded(text: str) -> Question:
    """A question as words see it, without any vector."""
    return Question(text, np.empty(0, np.float32), np.empty((0, 0), np.float32), np.empty((0, 2), np.int32))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a retriever found, with that retriever's score."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Excluding:
    """Every version save these few: far fewer to name than all others."""

    versions: Sequence[str]


# Versions of documents to search.
VersionFilter = Sequence[str] | Excluding


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk returned for a question.

    ``scores`` maps ``dense``, ``bm25``, ``rrf``, ``rerank``, ``sentence``, ``topic``, ``answerable`` and, where one
    is set, ``cross_encoder`` to a value, or ``None`` where that score was not computed. ``start`` and ``end`` are
    offsets into the text of ``page_index`` and ``page_index_end``. ``instructions`` is true where the text, or
    what its page hides, reads like instructions to a model; ``unmet`` says in words what the question takes
    for granted and the passage does not bear out. ``hidden`` is text that its page holds and does not show;
    it is not part of ``text``. ``duplicates`` are the places of other chunks that say the same in nearly the
    same words, and were left out for it.
    """

    rank: int
    chunk_id: str
    document_id: str
    version_id: str
    document: str
    page_index: int
    page_label: str
    page_index_end: int
    start: int
    end: int
    text: str
    heading: str
    scores: Mapping[str, float | None]
    instructions: bool = False
    unmet: tuple[str, ...] = ()
    duplicates: tuple[PageReference, ...] = ()
    hidden: str = ""

    @property
    def first_page_text(self) -> str:
        """What of the text stands on ``page_index``: there, offsets count from ``start``."""
        return self.text.partition(PAGE_BREAK)[0]


@dataclass(frozen=True, slots=True)
class Gate:
    """The one score that decides whether to answer, and what it was held against."""

    score_name: str
    score: float
    threshold: float
    answerable: bool

    @property
    def decimals(self) -> int:
        """With how many decimals both are told."""
        return decimals(self.threshold)


def decimals(threshold: float) -> int:
    """With how many decimals a threshold is told, and the scores held against it: those that it has, 2 to 4."""
    return max(2, len(f"{threshold:.4f}".rstrip("0").partition(".")[2]))


# How passages are looked for; all but the first need a language model. `rag_core.answering.strategies` has them.
Strategy = Literal["plain", "queries", "hyde", "iterative", "compare", "summary"]
# The stages whose score passages can be ordered by, in the order in which they run.
RankBy = Literal["dense", "bm25", "rrf", "rerank", "financials", "named", "cross_encoder"]


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """One way to retrieve, so that two can be compared on the same questions.

    ``rank_by`` names the score that orders the passages; retrievers that it does not rest on are not
    run. The reranker always runs: gate and extractive reader need its score, which takes milliseconds
    and changes no order but its own. ``None`` leaves a value as the settings or Admin have it.
    ``strategy`` says how a question is turned into searches.
    """

    rank_by: RankBy | None = None
    candidates: int | None = None
    rrf_k: int | None = None
    threshold: float | None = None
    top_k: int | None = None
    strategy: Strategy = "plain"

    @property
    def label(self) -> str:
        """``rerank``, or with what else is not as set: ``rrf, candidates 50``."""
        changed = [(name, getattr(self, name)) for name in ("candidates", "rrf_k", "threshold", "top_k")]
        strategy = [] if self.strategy == "plain" else [f"strategy {self.strategy}"]
        values = [f"{name} {value:g}" for name, value in changed if value is not None]
        return ", ".join([self.rank_by or "as set", *strategy, *values])


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages for a question, best first, with the gate's verdict and where the time went.

    ``steps`` say in words what a strategy did, in order; ``usage`` is what its calls to a model took.
    As an event of `Engine.ask` it tells what the answer is written from.
    """

    question: str
    passages: tuple[Passage, ...]
    gate: Gate
    timings_ms: Mapping[str, float]
    notices: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the stages found.

    ``order`` is the final one, best first; ``scores`` maps a score's name to each chunk's value.
    """

    order: tuple[int, ...]
    scores: dict[str, dict[int, float]]


@dataclass(slots=True)
class Timer:
    """Milliseconds a stage took, by name, in the order in which they ran."""

    ms: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.ms[name] = self.ms.get(name, 0.0) + 1000 * (time.perf_counter() - started)
