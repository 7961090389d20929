"""Retrieval configurations and results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import PAGE_BREAK, SparseVector
from rag_core.types.documents import PageKey, PageReference
from rag_core.types.figures import FigureDescription
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
        A vector of unit length for each token, without special tokens.
    offsets : IntArray, shape (n, 2)
        Character span of each token in ``text``.
    sparse : SparseVector, optional
        The vector of the learned sparse encoder; ``None`` if it was not computed.
    """

    text: str
    dense: FloatArray
    tokens: FloatArray
    offsets: IntArray
    sparse: SparseVector | None = None


def build_unembedded_question(text: str, sparse: SparseVector | None = None) -> Question:
    """Return a question without dense vectors, which are not needed for word search and learned sparse retrieval."""
    return Question(text, np.empty(0, np.float32), np.empty((0, 0), np.float32), np.empty((0, 2), np.int32), sparse)


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of the answerability model for a question and a text, which it reads together.

    Attributes
    ----------
    probability : float
        Probability that the text answers the question.
    start, end : int
        Character span of the most probable answer in the text.
    span_score : float
        Log-odds of this span against "no answer".
    """

    probability: float
    start: int
    end: int
    span_score: float


def to_log_odds(probability: float, bound: float) -> float:
    """Return the log-odds of a probability, which is first limited to at least ``bound`` and at most 1 - ``bound``."""
    bounded = min(max(probability, bound), 1 - bound)
    return math.log(bounded / (1 - bounded))


# Argument: pairs of a question and a text. Starts to read them and returns an iterator over their readings.
ReadTexts = Callable[[Sequence[tuple[str, str]]], Iterator[Reading]]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with the score that a retriever or reranker gave it."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Excluding:
    """All versions except the given ones. Use it if only a few versions must be excluded."""

    versions: Sequence[str]


class CountedAlone(list[str]):
    """Versions to search as if there were no others: their words are counted in them alone.

    Parameters
    ----------
    versions : iterable of str
    load_chunk_ids : callable
        Returns the ids of all their chunks.
    """

    def __init__(self, versions: Iterable[str], load_chunk_ids: Callable[[Sequence[str]], Sequence[int]]) -> None:
        super().__init__(versions)
        self.load_chunk_ids = load_chunk_ids


# The versions of documents to search: either a list of versions, or all versions except a few.
VersionFilter = Sequence[str] | Excluding


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk returned for a question.

    Attributes
    ----------
    start, end : int
        ``start`` is an offset in the text of the page ``page_index``, ``end`` in that of the page ``page_index_end``.
    scores : mapping of str to float or None
        The scores by name, such as ``dense``, ``bm25``, ``sparse``, ``rrf``, ``rerank``, ``answerable`` and
        ``cross_encoder``. The value is ``None``, or the name is missing, if the score was not computed.
    instructions : bool
        Whether the text of the passage, or the hidden text of its page, reads like instructions to a language model.
    unmet : tuple of str
        Assumptions of the question that the passage does not support, in words.
    lacks_name : bool
        Whether the question names something that the document does not contain, or a year that it is not about.
    duplicates : tuple of PageReference
        Pages of chunks that the result omits, because they are near duplicates of this passage.
    hidden : str
        Text of the page that a reader cannot see; it is not part of ``text``.
    document_label : str
        Name and title of the document; empty in answers that earlier releases stored.
    descriptions : tuple of FigureDescription
        What a model wrote about the figures of a whole page or chunk for a prompt; they are no part of ``text``.
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
    lacks_name: bool = False
    duplicates: tuple[PageReference, ...] = ()
    hidden: str = ""
    document_label: str = ""
    descriptions: tuple[FigureDescription, ...] = ()

    @property
    def full_title(self) -> str:
        """The file name of the document, its label, and the heading, which the label does not repeat."""
        return f"{self.document} {self.document_label} {self.heading}".rstrip()

    @property
    def page_key(self) -> PageKey:
        """The version and the index of the first page of the passage."""
        return self.version_id, self.page_index

    @property
    def page_indices(self) -> range:
        """The ``page_index`` of each page that the passage is on, ascending."""
        return range(self.page_index, self.page_index_end + 1)

    @property
    def first_page_text(self) -> str:
        """The part of the text that is on the first page of the passage, ``page_index``."""
        return self.text.partition(PAGE_BREAK)[0]


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate's decision whether to answer, with the score and the threshold that were compared.

    ``overruled`` means that the question is answered whatever the score, because the answer was found in another way
    than by the passages with this score, such as a computed figure.
    """

    score_name: str
    score: float
    threshold: float
    answerable: bool
    overruled: bool = False

    def overrule(self) -> Gate:
        """Return the decision to answer whatever the score."""
        return replace(self, answerable=True, overruled=True)

    @property
    def decimals(self) -> int:
        """Number of decimals with which to display the score and the threshold."""
        return count_decimals(self.threshold)


@dataclass(frozen=True, slots=True)
class SearchStage:
    """A stage whose time is measured, with its labels.

    ``running`` stands in the progress of a plain search, ``ended`` in the times of an answer, and ``short`` in the
    times in the Lab. Where its label is empty, the stage is not listed.
    """

    name: str
    running: str = ""
    ended: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class PassageScore:
    """A score of a passage; ``label`` says what it compares. ``is_bounded`` says whether it is from 0 to 1."""

    name: str
    label: str = ""
    is_bounded: bool = True


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """Parameters of retrieval.

    For ``candidates`` and ``rrf_k``, ``None`` stands for a constant; otherwise, for the value of the settings or of the
    Settings page.

    ``rank_by`` names the score that determines the order of the passages, one of `rag_core.stages.RANKINGS`. Retrievers
    that do not contribute to this score do not run. The reranker always runs, because the gate and the extractive
    reader need its score. ``strategy`` names the search strategy. If ``sparse`` is false, retrievers that are optional,
    such as learned sparse retrieval, do not run. ``adapter`` says whether the trained query adapter is applied. If
    ``counts_alone`` is true, how rare a word is depends only on the documents that are searched.
    """

    rank_by: str | None = None
    candidates: int | None = None
    rrf_k: int | None = None
    threshold: float | None = None
    top_k: int | None = None
    strategy: str = "plain"
    sparse: bool = True
    adapter: bool | None = None
    counts_alone: bool = False

    @property
    def label(self) -> str:
        """Name for display: ``rank_by`` and the other parameters that are set, such as ``rrf, candidates 50``."""
        changed = [(name, getattr(self, name)) for name in ("candidates", "rrf_k", "threshold", "top_k")]
        strategy = [] if self.strategy == "plain" else [f"strategy {self.strategy}"]
        without = [] if self.sparse else ["without sparse"]
        if self.adapter is not None:
            strategy.append("with adapter" if self.adapter else "without adapter")
        values = [f"{name} {value:g}" for name, value in changed if value is not None]
        return ", ".join([self.rank_by or "as set", *strategy, *without, *values])


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages for a question, best first, with the gate's decision and the timings.

    ``steps`` describes the steps of the search strategy in order. ``usage`` is the total usage of the language model by
    the search strategy. ``as_of`` describes the snapshots that were searched; it is empty for the present. A
    `SearchResult` is also an event of `Engine.ask`; there, it contains the passages from which the answer will be
    written.
    """

    question: str
    passages: tuple[Passage, ...]
    gate: Gate
    timings_ms: Mapping[str, float]
    notices: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The final order of the chunks, and the scores of all stages.

    ``order`` contains chunk ids, best first. ``scores`` maps the name of each score to a mapping of chunk id to value.
    """

    order: tuple[int, ...]
    scores: dict[str, dict[int, float]]


@dataclass(slots=True)
class Timer:
    """Measures how many milliseconds each stage takes; ``ms`` maps the names of stages to their times."""

    ms: dict[str, float] = field(default_factory=dict)
    # Opens the span of a stage while the application is traced.
    open_span: ClassVar[Callable[[str], AbstractContextManager[object]]] = nullcontext

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with Timer.open_span(name):
                yield
        finally:
            self.ms[name] = self.ms.get(name, 0.0) + 1000 * (time.perf_counter() - started)
