"""A search on its way: the query, the chunks that were ranked for it, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import ChunkRow, ChunkVectors
from rag_core.types.protocols import LookupPlan, QuestionEmbedder
from rag_core.types.retrieval import Passage, Question, Ranking, RetrievalConfig, SearchResult

# Every value as the settings or Admin have it.
DEFAULT_CONFIGURATION = RetrievalConfig()


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """The tokens of a passage.

    Attributes
    ----------
    vectors : ChunkVectors
        Of all tokens, those of the prefix first.
    offsets : IntArray, shape (n, 2)
        Character spans in the passage's text; tokens of the prefix have negative ones.
    """

    vectors: ChunkVectors
    offsets: IntArray


@dataclass(frozen=True, slots=True)
class EmbeddedLookup:
    """A plan of what to look up, with its query embedded; see `LookupPlan`.

    ``weights`` says how much each token of the query counts, shape (m,).
    """

    plan: LookupPlan
    question: Question
    weights: FloatArray


@dataclass(frozen=True, slots=True)
class RankedChunks:
    """Chunks in their order for a question.

    Attributes
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        How much each token of the question counts; they sum to 1.
    ranking : Ranking
        Every chunk that a stage found.
    rows : mapping of int to ChunkRow
        Those of them that may be seen.
    vectors : mapping of int to ChunkVectors
        Token vectors of those that have any.
    embedder : QuestionEmbedder
        The embedder of the index that was searched.
    lookup : EmbeddedLookup or None
        What was looked up beside the question.
    one_document : bool
        Whether a single document was searched for the lookup.
    """

    question: Question
    weights: FloatArray
    ranking: Ranking
    rows: Mapping[int, ChunkRow]
    vectors: Mapping[int, ChunkVectors]
    embedder: QuestionEmbedder
    lookup: EmbeddedLookup | None = None
    one_document: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, where, and how.

    ``documents`` holds ids, ``None`` for all; ``top_k`` is how many passages are wanted; the outcome keeps ``depth``
    of them in their order, for a ranking to be judged by. With ``strict`` the error of an endpoint is raised;
    otherwise a plain search takes the strategy's place, or quotes the answer's. Unless ``gated``, passages are
    ranked and not judged: nothing would be answered.
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
    """A search's result with what an answer, an explanation or an evaluation needs beyond it.

    ``passages`` begins with the result's and goes on with those below them; ``tokens`` has, by chunk id, those of
    the first passages, which gate and reader read.
    """

    result: SearchResult
    ranked: RankedChunks
    passages: tuple[Passage, ...]
    tokens: Mapping[int, PassageTokens]
