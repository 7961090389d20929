"""The stages of a search: the query, the ranked chunks and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import ChunkRow, ChunkVectors
from rag_core.types.protocols import LookupPlan, QuestionEmbedder
from rag_core.types.retrieval import Passage, Question, Ranking, RetrievalConfig, SearchResult

# All values from the settings or the Admin page.
DEFAULT_CONFIGURATION = RetrievalConfig()


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """The tokens of a passage.

    Attributes
    ----------
    vectors : ChunkVectors
        Vectors of all tokens, those of the prefix first.
    offsets : IntArray, shape (n, 2)
        Character spans in the passage's text; negative for tokens of the prefix.
    """

    vectors: ChunkVectors
    offsets: IntArray


@dataclass(frozen=True, slots=True)
class EmbeddedLookup:
    """A `LookupPlan` with its embedded query and the weight of each query token, shape (m,)."""

    plan: LookupPlan
    question: Question
    token_weights: FloatArray


@dataclass(frozen=True, slots=True)
class RankedChunks:
    """Chunks ranked for a question.

    Attributes
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        Weights of the question's tokens; they sum to 1.
    ranking : Ranking
        All chunks that any stage found.
    rows : mapping of int to ChunkRow
        Rows by chunk id of the chunks that are visible to searches.
    vectors : mapping of int to ChunkVectors
        Token vectors by chunk id, of the chunks that have any.
    embedder : QuestionEmbedder
        The embedder of the index that was searched.
    lookup : EmbeddedLookup or None
        The domain look-up that ran in addition to the question's search.
    one_document : bool
        Whether a look-up ran and the search covered a single document.
    problem : str
        Why only words were searched; empty if the vectors were searched too.
    """

    question: Question
    token_weights: FloatArray
    ranking: Ranking
    rows: Mapping[int, ChunkRow]
    vectors: Mapping[int, ChunkVectors]
    embedder: QuestionEmbedder
    lookup: EmbeddedLookup | None = None
    one_document: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A question with the scope and parameters of its search.

    ``documents`` contains ids, ``None`` for all. ``top_k`` is the number of passages in the result; the outcome
    contains ``depth`` passages if that is more, for ranking metrics. With ``strict``, an endpoint's error is raised;
    otherwise a plain search replaces the strategy, or quotes replace the answer. Without ``gated``, passages are
    ranked but not scored for the gate.
    """

    text: str
    documents: tuple[str, ...] | None
    top_k: int
    configuration: RetrievalConfig
    strict: bool = False
    depth: int = 0
    gated: bool = True


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """A search's result with further data for answers, explanations and evaluations.

    ``passages`` starts with the result's passages and continues with lower ranks. ``tokens`` contains, by chunk id,
    the tokens of the first passages, which the gate and the reader use.
    """

    result: SearchResult
    ranked: RankedChunks
    passages: tuple[Passage, ...]
    tokens: Mapping[int, PassageTokens]
