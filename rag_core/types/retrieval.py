"""Retrieval configurations and results."""

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
from rag_core.types.formatting import count_decimals
from rag_core.types.usage import Usage

NAMED_SCORE = "named"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its embeddings.

    Attributes
    ----------
    text : str
    dense : FloatArray, shape (dimension,)
    tokens : FloatArray, shape (n, token_dimension)
        Unit vectors, without special tokens.
    offsets : IntArray, shape (n, 2)
        Character span of each token in ``text``.
    """

    text: str
    dense: FloatArray
    tokens: FloatArray
    offsets: IntArray


def build_unembedded_question(text: str) -> Question:
    """Return a question without vectors, for word search."""
    return Question(text, np.empty(0, np.float32), np.empty((0, 0), np.float32), np.empty((0, 2), np.int32))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with the score that a retriever or reranker gave it."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Excluding:
    """All versions except the given ones, which are few."""

    versions: Sequence[str]


# Versions of documents to search.
VersionFilter = Sequence[str] | Excluding


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk returned for a question.

    Attributes
    ----------
    start, end : int
        Offsets into the texts of the pages ``page_index`` and ``page_index_end``.
    scores : mapping of str to float or None
        ``dense``, ``bm25``, ``rrf``, ``rerank``, ``sentence``, ``topic``, ``answerable`` and, if one is set,
        ``cross_encoder``; ``None`` if the score was not computed.
    instructions : bool
        Whether the text, or the page's hidden text, reads like instructions to a model.
    unmet : tuple of str
        Assumptions of the question that the passage does not support, in words.
    duplicates : tuple of PageReference
        Pages of near-duplicate chunks that the result omits.
    hidden : str
        Invisible text of the page; not part of ``text``.
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
        """The part of the text on the page ``page_index``, which begins at ``start``."""
        return self.text.partition(PAGE_BREAK)[0]


@dataclass(frozen=True, slots=True)
class Gate:
    """The score that decides whether to answer, and the threshold it is compared with."""

    score_name: str
    score: float
    threshold: float
    answerable: bool

    @property
    def decimals(self) -> int:
        """Number of decimals for displaying score and threshold."""
        return count_decimals(self.threshold)


# Search strategies, see `rag_core.answering.strategies`; all but the first need a language model.
Strategy = Literal["plain", "queries", "hyde", "iterative", "compare", "summary"]
# The stages whose score can order the passages, in execution order.
RankBy = Literal["dense", "bm25", "rrf", "rerank", "financials", "named", "cross_encoder"]


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """Parameters of retrieval; ``None`` means the value of the settings or of the Admin page.

    ``rank_by`` names the score that orders the passages; retrievers that this score does not need do not run. The
    reranker always runs, since the gate and the extractive reader need its score. ``strategy`` says how a question
    is turned into searches.
    """

    rank_by: RankBy | None = None
    candidates: int | None = None
    rrf_k: int | None = None
    threshold: float | None = None
    top_k: int | None = None
    strategy: Strategy = "plain"

    @property
    def label(self) -> str:
        """``rank_by`` and the other values that are given, such as ``rrf, candidates 50``."""
        changed = [(name, getattr(self, name)) for name in ("candidates", "rrf_k", "threshold", "top_k")]
        strategy = [] if self.strategy == "plain" else [f"strategy {self.strategy}"]
        values = [f"{name} {value:g}" for name, value in changed if value is not None]
        return ", ".join([self.rank_by or "as set", *strategy, *values])


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages for a question, best first, with the gate's decision and the timings.

    ``steps`` describe the steps of a strategy in order; ``usage`` sums its calls to a model. As an event of
    `Engine.ask` it contains the passages from which the answer is written.
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
    """The chunks of all stages.

    ``order`` contains chunk ids in the final order, best first; ``scores`` maps score names to values by chunk id.
    """

    order: tuple[int, ...]
    scores: dict[str, dict[int, float]]


@dataclass(slots=True)
class Timer:
    """Milliseconds by name of stage, in execution order."""

    ms: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.ms[name] = self.ms.get(name, 0.0) + 1000 * (time.perf_counter() - started)
