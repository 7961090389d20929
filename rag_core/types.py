"""The values that pass between the parts of the product: plain, frozen, and free of any library.

Vocabulary: a *document* is an uploaded file, in versions; a *chunk* is a stored span of a document;
a *passage* is a chunk returned for a question, with rank and scores. Every score is
higher-is-better and named by what made it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
Int8Array = npt.NDArray[np.int8]
Int64Array = npt.NDArray[np.int64]

# A document's id and a page's index.
PageKey = tuple[str, int]
# Stands between the pages in the text of a chunk that lies on two; extraction leaves none in a page.
PAGE_BREAK = "\f"
REFUSAL = "I don't know: the documents don't say."
# Said of a statement that no passage it cites bears out.
NOT_FOUND = "not found in the source"


class PageState(str, Enum):
    """How the text of a page was obtained."""

    TEXT = "text"
    OCR = "ocr"
    MIXED = "mixed"
    EMPTY = "no text"
    FAILED = "failed"


class DocumentStatus(str, Enum):
    """What became of a file.

    ``partial`` means that some pages failed or hold no text, which the reason says; ``rejected`` is
    the file's fault (not a PDF, encrypted, too large, empty); ``failed`` is ours.
    """

    QUEUED = "queued"
    INDEXING = "indexing"
    INDEXED = "indexed"
    PARTIAL = "partial"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobState(str, Enum):
    """Where a piece of background work stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class AnswerState(str, Enum):
    """Whether the documents answered; not answering is a state, never an error."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class WordBoxes:
    """Where the words of a page's text stand on the page.

    Attributes
    ----------
    starts, ends : IntArray, shape (n,)
        Character offsets of each word in the page's text, ascending, ``ends`` exclusive.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` as fractions of the displayed page's width and height, from its top-left
        corner, so that they hold at any zoom and rotation.
    """

    starts: IntArray
    ends: IntArray
    rects: FloatArray

    @classmethod
    def empty(cls) -> WordBoxes:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 4), np.float32))

    def within(self, start: int, end: int) -> FloatArray:
        """Rectangles of the words that overlap ``[start, end)``, in text order, shape (m, 4)."""
        return self.rects[(self.starts < end) & (self.ends > start)]


@dataclass(frozen=True, slots=True)
class Page:
    """One page as extracted: its text, how it was read, and where its words stand.

    ``width`` and ``height`` are in points (1/72 inch) as displayed. ``heading`` is the section the
    page begins in, or its own heading line; ``confidence`` is the OCR's mean word confidence in
    0..1 where OCR ran. ``skip`` lists ``(start, end)`` offsets that belong to running headers and
    footers: kept in the text, left out of chunks. ``hidden`` is what the page holds and does not show
    (white on white, outside the page, too small to read), which is not part of ``text``.
    """

    page_index: int
    page_label: str
    text: str
    state: PageState
    width: float = 0.0
    height: float = 0.0
    heading: str = ""
    reason: str = ""
    confidence: float | None = None
    boxes: WordBoxes = field(default_factory=WordBoxes.empty)
    skip: tuple[tuple[int, int], ...] = ()
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A span of a document before it is stored.

    ``text`` is ``page[start:end]``; a chunk whose last sentence goes on on the next page has that
    sentence's rest, which ends at ``end`` of ``page_index_end``, behind a `PAGE_BREAK`. ``prefix``
    (document name and heading) is embedded and word-indexed, never shown. ``tokens`` counts prefix
    and text, special tokens included, with the embedder's tokenizer.
    ``sentences`` holds the index of each sentence's first token, ascending, special tokens not
    counted; what stands before the first belongs to the prefix.
    """

    ordinal: int
    page_index: int
    start: int
    page_index_end: int
    end: int
    text: str
    prefix: str
    heading: str
    tokens: int
    sentences: tuple[int, ...]


def embedded_text(prefix: str, text: str) -> str:
    """What of a chunk is put before the embedder: at indexing, and again wherever its tokens are counted."""
    return f"{prefix}\n{text}"


@dataclass(frozen=True, slots=True)
class Embedding:
    """What one forward pass gives for one text.

    Attributes
    ----------
    dense : FloatArray, shape (dimension,)
        Unit length.
    tokens : Int8Array, shape (n, token_dimension)
        Token vectors, each divided by its ``scales`` entry; empty when the embedder has none.
    scales : FloatArray, shape (n,)
        Multiply a row of ``tokens`` by it to get a vector of about unit length back.
    """

    dense: FloatArray
    tokens: Int8Array
    scales: FloatArray


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """A chunk's token vectors, as a late-interaction reranker needs them.

    Attributes
    ----------
    tokens : Int8Array, shape (n, token_dimension)
    scales : FloatArray, shape (n,)
    sentences : IntArray, shape (s,)
        Index of each sentence's first token, ascending.
    """

    tokens: Int8Array
    scales: FloatArray
    sentences: IntArray


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


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a retriever found, with that retriever's score."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Place:
    """A page of a document, with the names that both are shown by."""

    document_id: str
    document: str
    page_index: int
    page_label: str

    @property
    def key(self) -> PageKey:
        """What names the page, whatever it is called."""
        return self.document_id, self.page_index


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
    duplicates: tuple[Place, ...] = ()
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


@dataclass(frozen=True, slots=True)
class Citation:
    """A span of a page that supports a statement of an answer.

    ``quote`` is ``page text[start:end]``; after white-space folding it stands character for
    character in that page's text. ``marker`` is the number in ``[1]`` in the answer's text.
    """

    marker: int
    passage_rank: int
    document_id: str
    version_id: str
    document: str
    chunk_id: str
    page_index: int
    page_label: str
    quote: str
    start: int
    end: int

    @classmethod
    def of(cls, passage: Passage, start: int, end: int) -> Citation:
        """Cite ``passage.text[start:end]``, which must lie on the passage's first page."""
        return cls(
            marker=passage.rank,
            passage_rank=passage.rank,
            document_id=passage.document_id,
            version_id=passage.version_id,
            document=passage.document,
            chunk_id=passage.chunk_id,
            page_index=passage.page_index,
            page_label=passage.page_label,
            quote=passage.text[start:end],
            start=passage.start + start,
            end=passage.start + end,
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer, or the part of one that a group of markers stands behind, and its check.

    ``answer.text[start:end]`` is the statement without the markers after it. ``supported`` is true
    where a passage that it cites says it; ``reason`` says in words why not, and is empty otherwise.
    """

    start: int
    end: int
    supported: bool
    reason: str = ""


# How passages are looked for; all but the first need a language model. `rag_core.services.strategies` has them.
Strategy = Literal["plain", "queries", "hyde", "iterative", "compare", "summary"]
# The stages whose score passages can be ordered by, in the order in which they run.
RankBy = Literal["dense", "bm25", "rrf", "rerank", "cross_encoder"]


@dataclass(frozen=True, slots=True)
class Configuration:
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
class Usage:
    """What calls to a language model took; ``a + b`` is the sum, ``Usage()`` that of no call.

    ``estimated`` is true where the tokens of at least one call were counted here, because the
    endpoint did not tell them. ``cost`` is in ``currency``, and ``None`` where no price was set.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cost: float | None = None
    currency: str = ""

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            estimated=self.estimated or other.estimated,
            cost=sum(costs) if costs else None,
            currency=self.currency or other.currency,
        )

    @property
    def label(self) -> str:
        """``1,204 tokens in, 88 out, 0.0031 USD (estimated)``; the calls too, where there were several."""
        several = self.calls > 1
        label = f"{self.calls:,} calls, " if several else ""
        label += f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        if self.cost is not None:
            # Two decimals, or as many as it takes to show two digits of a small cost.
            decimals = 2 if not self.cost or self.cost >= 0.1 else 1 - math.floor(math.log10(self.cost))
            label += f", {self.cost:,.{decimals}f} {self.currency}"
        if self.estimated:
            label += " (some of it estimated)" if several else " (estimated)"
        return label


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What one generator took. ``usage.estimated``: some of it was."""

    generator: str
    usage: Usage


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
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class StageRanking:
    """The chunks that one stage ranked, best first; ``name`` is that of its score."""

    name: str
    hits: tuple[Hit, ...]

    @property
    def ranks(self) -> dict[int, int]:
        """Each chunk's rank, counted from 1."""
        return {hit.chunk_id: rank for rank, hit in enumerate(self.hits, 1)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that each stage of a search found, for people who want to see why.

    ``passages`` holds every chunk of any stage in the final order; ``stages`` are in the order in
    which they ran, without those that did not. ``added_at`` is by document id.
    """

    question: str
    passages: tuple[Passage, ...]
    stages: tuple[StageRanking, ...]
    gate: Gate
    timings_ms: Mapping[str, float]
    notices: tuple[str, ...]
    added_at: Mapping[str, datetime]


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """A token of a question, and the token of a chunk that is most like it.

    ``start`` and ``end`` are offsets into the question, ``chunk_start`` and ``chunk_end`` into
    `TokenMatches.text`. ``weight`` is the token's share of all weights, ``similarity`` a cosine.
    """

    start: int
    end: int
    weight: float
    similarity: float
    chunk_start: int
    chunk_end: int


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """How the reranker's score of a chunk came about.

    ``text`` is what was embedded: document name and heading, then from ``text_start`` on the chunk's
    own text. ``matches`` has an entry for each token of the question; their sum of weight times
    similarity is ``whole``. ``score`` also counts the best sentence alone.
    """

    question: str
    text: str
    text_start: int
    matches: tuple[TokenMatch, ...]
    whole: float
    score: float


@dataclass(frozen=True, slots=True)
class Weighting:
    """How a reader weighs passages: a softmax at a temperature over the ``k`` highest scores.

    Before that, ``decay`` times its freshness (0..1) is added to each score, and Gaussian noise with
    the standard deviation ``noise``, drawn from ``seed``.
    """

    k: int = 5
    temperature: float = 0.05
    decay: float = 0.0
    noise: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage to be weighed: its score, and how long ago its document was added, in days."""

    chunk_id: str
    score: float
    age_days: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate with its rank by adjusted score, counted from 1, and its weight in 0..1."""

    candidate: Candidate
    freshness: float
    adjusted: float
    rank: int
    weight: float


class EvidenceCase(str, Enum):
    """What becomes of the right passage on its way into an answer."""

    ABSENT = "absent"
    TOO_LOW = "too low"
    IGNORED = "ignored"
    STALE = "stale"
    LEADS = "leads"


@dataclass(frozen=True, slots=True)
class EvidenceMass:
    """Whether the right passage is among the ``k`` that are weighed, and its share of the weights.

    ``rank`` is ``None`` where no stage found it; ``rival`` is the chunk that outweighs it, if any.
    """

    case: EvidenceCase
    rank: int | None
    covered: bool
    mass: float
    rival: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a test of the model looked at.

    ``passed`` is ``None`` where it could not be told; ``words`` says what was found and, where it did
    not pass, what to do.
    """

    name: str
    passed: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as shown and stored, self-contained: it outlives the documents it cites.

    ``notices`` say in words what was degraded (an endpoint that failed, a document still being
    indexed). ``statements`` are what was checked against the sources, in the order of the text; there
    are none in a refusal, in a stopped answer, and in one stored before they were kept.
    ``generator`` is ``extractive`` or ``openai:MODEL``. ``stopped`` is true when the
    reader stopped it half-way. ``rewritten`` is what was searched for in place of a question that
    leans on earlier ones, empty where the question stands alone; ``follow_ups`` are questions that
    the documents answer as well. ``usage`` sums all calls to a language model that it took.
    ``strategy`` is how passages were looked for, and ``steps`` say in words what that came to.
    ``short`` is the date, share or count that was asked for, as it stands in a quote; empty where that
    is not clear, and where a language model wrote the answer.
    """

    question: str
    state: AnswerState
    text: str
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    gate: Gate
    generator: str
    timings_ms: Mapping[str, float]
    notices: tuple[str, ...] = ()
    stopped: bool = False
    statements: tuple[Statement, ...] = ()
    rewritten: str = ""
    follow_ups: tuple[str, ...] = ()
    usage: Usage = Usage()
    strategy: Strategy = "plain"
    steps: tuple[str, ...] = ()
    short: str = ""

    @property
    def short_marker(self) -> int | None:
        """Number of the first source whose quote holds ``short``; ``None`` where there is none."""
        quotes = ((one.marker, " ".join(one.quote.split())) for one in self.citations)
        return next((marker for marker, quote in quotes if self.short and self.short in quote), None)

    @property
    def told_text(self) -> str:
        """The text with what was not found in the sources said in words, for where no marks show."""
        text = self.text
        for one in reversed(self.statements):
            if not one.supported:
                text = f"{text[: one.end]} ({NOT_FOUND}){text[one.end :]}"
        return text


@dataclass(frozen=True, slots=True)
class Stage:
    """An event of `Engine.ask`: a stage began (``done`` false) or ended, in words for the reader."""

    name: str
    label: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """An event of `Engine.ask`: the next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """An event of `Engine.ask`: forget the deltas so far, for the reason given; others follow."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An event of `Engine.ask`: this is searched for in place of a question that leans on earlier ones."""

    text: str


AskEvent = Stage | Rewritten | SearchResult | Delta | Restart | Answer


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A row of the library. ``size`` is in bytes; ``chunks`` counts the active version's."""

    document_id: str
    version_id: str
    name: str
    collection: str
    status: DocumentStatus
    reason: str
    pages: int
    pages_text: int
    pages_ocr: int
    pages_empty: int
    pages_failed: int
    chunks: int
    size: int
    added_at: datetime
    embedder: str
    needs_password: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of background work. ``done`` of ``total`` pages or chunks of the current stage.

    ``seconds`` is the time since it started (or took); ``remaining_s`` an estimate, ``None`` until
    there is ground for one. ``kind`` is ``index`` or ``reindex``.
    """

    job_id: str
    kind: str
    name: str
    document_id: str | None
    state: JobState
    stage: str
    done: int
    total: int
    result: DocumentStatus | None
    reason: str
    seconds: float
    remaining_s: float | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Watch:
    """A folder or fsspec URL that the library is kept in step with. ``problem`` is empty when all is well."""

    watch_id: str
    url: str
    collection: str
    files: int
    checked_at: datetime | None
    problem: str


@dataclass(frozen=True, slots=True)
class Sync:
    """What one look at a watched folder found, as paths in it."""

    watch_id: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    problem: str


@dataclass(frozen=True, slots=True)
class DeleteReceipt:
    """What a delete removed, and what each store still holds of it, counted afterwards."""

    document_id: str
    document: str
    chunks_removed: int
    remaining: Mapping[str, int]

    @property
    def chunks_remaining(self) -> int:
        return sum(self.remaining.values())


@dataclass(frozen=True, slots=True)
class PageImage:
    """A rendered page with highlights drawn in: PNG bytes, pixel size, and how many words are marked.

    ``first_mark`` is where the first mark begins, as a fraction of the height from the top, if there
    is any.
    """

    png: bytes
    width: int
    height: int
    highlighted: int
    first_mark: float | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. ``answer`` is set on the assistant's turns."""

    message_id: str
    role: str
    text: str
    created_at: datetime
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored conversation, without its messages. ``documents`` is its scope; empty means all."""

    conversation_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    pinned: bool
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an index was built with. Two indexes may be mixed only if all of it is equal."""

    embedder: str
    weights: str
    dimension: int
    token_dimension: int
    projection: str
    chunk_tokens: int
    chunk_overlap: float
    extractor: str
    prefix: str

    def differences(self, other: Fingerprint) -> dict[str, tuple[Any, Any]]:
        """Fields that differ, as ``name: (self's, other's)``."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__slots__}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@dataclass(frozen=True, slots=True)
class Warmth:
    """How far the models are: ``ready``, or ``label`` says what is warming up, or ``error`` why not."""

    ready: bool
    label: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the whole installation, for Admin and ``status``.

    ``counts`` holds documents, versions, pages, chunks, and the same chunks counted in each store
    under ``stores``; ``problems`` is empty when healthy, else one plain sentence each. ``usage`` is
    that of language models since the data folder was made.
    """

    healthy: bool
    problems: Sequence[str]
    counts: Mapping[str, int]
    stores: Mapping[str, int]
    reachable: Mapping[str, bool]
    built_with: Fingerprint | None
    configured: Fingerprint | None
    disk_bytes: Mapping[str, int]
    data_dir: str
    threshold: float
    generator: str
    versions: Mapping[str, str]
    usage: Sequence[UsageTotal] = ()


class LabelKind(str, Enum):
    """Whether the documents answer a labelled question: every kind but the first says that they do not.

    ``off-corpus`` lies outside what the documents are about, ``adversarial`` within it.
    """

    ANSWERABLE = "answerable"
    NO_ANSWER = "no answer"
    OFF_CORPUS = "off-corpus"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A page that answers a question: by its index, as it is printed, or by words that stand on it."""

    document: str
    page_index: int | None = None
    page: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A question with what is known of its answer. ``where`` says in words where the label stands."""

    label_id: str
    question: str
    kind: LabelKind
    evidence: tuple[Evidence, ...] = ()
    answers: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a reader thought of an answer."""

    good: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A textbook ranker to compare a `Configuration` with; it ranks pages and answers nothing.

    ``k`` and ``b`` are BM25's.
    """

    name: Literal["tf-idf", "bm25"]
    k: float = 1.2
    b: float = 0.75

    @property
    def label(self) -> str:
        """``tf-idf baseline``, ``bm25 baseline, k 1.2, b 0.75``."""
        return f"{self.name} baseline" + (f", k {self.k:g}, b {self.b:g}" if self.name == "bm25" else "")


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric's value over ``n`` questions, or citations' questions, with its interval."""

    metric: str
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one labelled question.

    ``values`` maps those metrics that apply to the question to its own value. ``gate_score`` is
    ``None`` where nothing answers at any threshold, and where answers were not asked for. ``wrong``
    says whether answering it is, or would be, wrong; ``answered`` whether the threshold let it be
    answered. ``problem`` says in words what went wrong, and is empty when nothing did.
    """

    label_id: str
    question: str
    kind: LabelKind
    evidence: tuple[str, ...]
    first_rank: int | None
    values: Mapping[str, float]
    text: str = ""
    gate_score: float | None = None
    answered: bool = False
    wrong: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """At a threshold, the share of questions answered, and the share of those answered wrongly."""

    threshold: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """The lowest threshold at which at most the share ``most`` of unanswerable questions is answered.

    The last two are the shares answered at it of questions without and with an answer.
    """

    threshold: float
    most: float
    unanswerable_answered: float
    answerable_answered: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One configuration's figures on a set of labelled questions.

    ``precision_recall`` is interpolated precision at recall 0.0, 0.1, … 1.0; empty where no question
    names a page. ``threshold`` is the one that was in use.
    """

    evaluation_id: str
    name: str
    configuration: str
    generator: str
    threshold: float
    created_at: datetime
    seconds: float
    figures: tuple[Figure, ...]
    outcomes: tuple[Outcome, ...]
    precision_recall: tuple[float, ...]
    risk_coverage: tuple[RiskPoint, ...]


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """An event of `Engine.evaluate`: so many of the questions are done."""

    done: int
    total: int


EvaluationEvent = EvaluationProgress | Evaluation


@dataclass(frozen=True, slots=True)
class EvaluationState:
    """The evaluation in the background: how far it is, or how it ended.

    ``problem`` says why it ended without a result; ``evaluation_ids`` are those that are complete.
    """

    name: str
    done: int
    total: int
    running: bool
    problem: str = ""
    evaluation_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much higher the second of two evaluations is, on the ``n`` questions that both asked.

    ``p_value`` is two-sided, from the paired bootstrap.
    """

    metric: str
    difference: Interval
    p_value: float
    n: int
