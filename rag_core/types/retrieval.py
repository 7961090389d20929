"""Questions, passages, and the configuration and results of retrieval."""

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

# Name of the score of chunks whose document the question names.
NAMED_SCORE = "named"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its embeddings.

    Attributes
    ----------
    text : str
    dense : FloatArray, shape (dimension,)
        The vector of the whole question, of unit length.
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
    """Return a question without the vectors of the embedder, for retrievers that do not need them."""
    return Question(text, np.empty(0, np.float32), np.empty((0, 0), np.float32), np.empty((0, 2), np.int32), sparse)


@dataclass(frozen=True, slots=True)
class Reading:
    """The prediction of the answerability model for a question and a text.

    Attributes
    ----------
    probability : float
        Probability that the text answers the question.
    start, end : int
        Character span of the most probable answer in the text.
    span_score : float
        Log-odds that this span is the answer, against "no answer".
    """

    probability: float
    start: int
    end: int
    span_score: float


def to_log_odds(probability: float, bound: float) -> float:
    """Return the log-odds of a probability after clipping it to the range from ``bound`` to ``1 - bound``."""
    bounded = min(max(probability, bound), 1 - bound)
    return math.log(bounded / (1 - bounded))


# A function that starts the answerability model on pairs of a question and a text, and returns an iterator over the
# readings in the order of the pairs.
ReadTexts = Callable[[Sequence[tuple[str, str]]], Iterator[Reading]]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with its score by a retriever or reranker."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Excluding:
    """A filter for all versions except the given ones."""

    versions: Sequence[str]


class CountedAlone(list[str]):
    """A filter for versions within which word frequencies are counted, as if the library contained no others.

    Parameters
    ----------
    versions : iterable of str
    load_chunk_ids : callable
        Function that returns the ids of all chunks of versions.
    """

    def __init__(self, versions: Iterable[str], load_chunk_ids: Callable[[Sequence[str]], Sequence[int]]) -> None:
        super().__init__(versions)
        self.load_chunk_ids = load_chunk_ids


# The versions of documents to search: the versions of a list, or all versions except a few.
VersionFilter = Sequence[str] | Excluding


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk returned for a question.

    Attributes
    ----------
    rank : int
        Position of the passage in the result, from 1.
    document : str
        Name of the document.
    page_index, page_index_end : int
        The first and the last page of the passage.
    page_label : str
        Printed number of the first page.
    start, end : int
        Offset of the passage's start in the text of its first page, and of its end in the text of its last page.
    heading : str
        The path of headings at the start of the passage.
    scores : mapping of str to float or None
        The scores by name, such as ``dense``, ``bm25``, ``sparse``, ``rrf``, ``rerank``, ``answerable`` and
        ``cross_encoder``. A score that was not computed is ``None`` or missing.
    instructions : bool
        Whether the text of the passage, or the hidden text of its page, reads like instructions to a language model.
    unmet : tuple of str
        Assumptions of the question that the passage does not support, in words.
    lacks_name : bool
        Whether the document does not contain a name in the question, or is not about a year in the question.
    duplicates : tuple of PageReference
        Pages of near duplicates of this passage, which the result leaves out.
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
        """The name of the document, its label, and the heading."""
        return f"{self.document} {self.document_label} {self.heading}".rstrip()

    @property
    def page_key(self) -> PageKey:
        """The version id and the index of the first page of the passage."""
        return self.version_id, self.page_index

    @property
    def page_name(self) -> str:
        """The document and its first page, such as "report.pdf, page 6"."""
        return f"{self.document}, page {self.page_label}"

    @property
    def page_indices(self) -> range:
        """The indices of the pages that the passage is on, ascending."""
        return range(self.page_index, self.page_index_end + 1)

    @property
    def first_page_text(self) -> str:
        """The part of the text that is on the first page of the passage."""
        return self.text.partition(PAGE_BREAK)[0]


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate's decision whether to answer, with the score and the threshold that it compared.

    ``overruled`` is true if the question is answered regardless of the score, because the answer does not depend on the
    scored passages. A computed figure is an example.
    """

    score_name: str
    score: float
    threshold: float
    answerable: bool
    overruled: bool = False

    def overrule(self) -> Gate:
        """Return the decision to answer regardless of the score."""
        return replace(self, answerable=True, overruled=True)

    @property
    def decimals(self) -> int:
        """Number of decimals with which to display the score and the threshold."""
        return count_decimals(self.threshold)


@dataclass(frozen=True, slots=True)
class SearchStage:
    """A timed stage of a search, with its labels in three places. A place does not show a stage whose label is empty.

    Attributes
    ----------
    name : str
    running : str
        Label in the progress of a plain search.
    ended : str
        Label in the times of an answer.
    short : str
        Label in the times in the Lab.
    """

    name: str
    running: str = ""
    ended: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class PassageScore:
    """A kind of passage score. ``label`` says what is compared, and ``is_bounded`` whether values are from 0 to 1."""

    name: str
    label: str = ""
    is_bounded: bool = True


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """Parameters of retrieval.

    Attributes
    ----------
    rank_by : str or None
        Name of the score that orders the passages, one of `rag_core.stages.RANKINGS`. Only retrievers that contribute
        to this score run. The reranker always runs, because the gate and the extractive reader need its score.
    candidates : int or None
        Number of chunks that each retriever returns; by default a constant.
    rrf_k : int or None
        Parameter ``k`` of reciprocal rank fusion; by default a constant.
    threshold : float or None
        Threshold of the gate.
    top_k : int or None
        Number of passages in the result.
    strategy : str
        Name of the search strategy.
    sparse : bool
        Whether optional retrievers run, such as learned sparse retrieval.
    adapter : bool or None
        Whether the trained query adapter is applied.
    counts_alone : bool
        Whether word frequencies are counted only in the searched documents.

    Where nothing else is said, ``None`` stands for the value of the settings or of the Settings page.
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
        """Name for display, made of ``rank_by`` and the changed parameters, such as ``rrf, candidates 50``."""
        parts = [self.rank_by or "as set"]
        if self.strategy != "plain":
            parts.append(f"strategy {self.strategy}")
        if self.adapter is not None:
            parts.append("with adapter" if self.adapter else "without adapter")
        if not self.sparse:
            parts.append("without sparse")
        numbers = ((name, getattr(self, name)) for name in ("candidates", "rrf_k", "threshold", "top_k"))
        return ", ".join([*parts, *(f"{name} {value:g}" for name, value in numbers if value is not None)])


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages for a question, best first, with the gate's decision.

    As an event of `Engine.ask`, it contains the passages from which the answer will be written.

    Attributes
    ----------
    timings_ms : mapping of str to float
        Duration of each stage in milliseconds.
    notices : tuple of str
        Messages to the user about problems.
    steps : tuple of str
        The steps of the search strategy, in words.
    usage : Usage
        Total usage of language models by the search strategy.
    as_of : str
        Description of the snapshots that were searched; empty if the present documents were searched.
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
    """Chunk ids in their final order, best first, and the scores of all stages.

    ``scores`` maps the name of each score to its values by chunk id.
    """

    order: tuple[int, ...]
    scores: dict[str, dict[int, float]]


@dataclass(slots=True)
class Timer:
    """A stopwatch for the stages of a search; ``ms`` maps the names of stages to their durations in milliseconds."""

    ms: dict[str, float] = field(default_factory=dict)
    # Opens a span for a stage; tracing (OpenTelemetry) replaces this function.
    open_span: ClassVar[Callable[[str], AbstractContextManager[object]]] = nullcontext

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the duration of the ``with`` block to the time of a stage."""
        started = time.perf_counter()
        try:
            with Timer.open_span(name):
                yield
        finally:
            self.ms[name] = self.ms.get(name, 0.0) + 1000 * (time.perf_counter() - started)
