"""The input, the intermediate results and the outcome of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag_core.types.answers import Citation
from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import ChunkRow, ChunkVectors
from rag_core.types.dates import NO_DATES, AskedDates
from rag_core.types.places import NamedPlaces
from rag_core.types.protocols import LookupPlan, QuestionAdapter, QuestionEmbedder
from rag_core.types.retrieval import Passage, Question, Ranking, RetrievalConfig, SearchResult
from rag_core.types.snapshots import AsOf

# The plain strategy, with every other parameter as in the settings or on the Settings page.
DEFAULT_CONFIGURATION = RetrievalConfig()
# Of a longer text, the embedder reads only the beginning.
MAX_QUESTION_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes an answer, and how.

    Attributes
    ----------
    model : str, optional
        Name of the language model; ``None`` stands for the model in use, and an empty name for quotes only.
    instructions : str
        The user's instructions about language, length and tone.
    """

    model: str | None = None
    instructions: str = ""


# The model in use, without instructions.
DEFAULT_WRITER = Writer()


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """The tokens of a passage.

    Attributes
    ----------
    vectors : ChunkVectors
        Vectors of all tokens; the tokens of the prefix come first.
    offsets : IntArray, shape (n, 2)
        Character span of each token in the text of the passage. The offsets of tokens of the prefix are negative,
        because the prefix precedes the text.
    """

    vectors: ChunkVectors
    offsets: IntArray


@dataclass(frozen=True, slots=True)
class EmbeddedLookup:
    """A `LookupPlan` with its query: the embedded query, and the weight of each of its tokens, shape (m,)."""

    plan: LookupPlan
    question: Question
    token_weights: FloatArray


@dataclass(frozen=True, slots=True)
class RankedChunks:
    """Chunks ranked for a question.

    Attributes
    ----------
    question : Question
        The question with the vectors of the embedder, which the gate and the extractive reader use.
    mapped_question : Question
        The question with the vectors that rankings use: those that the query adapter maps, or the same object as
        ``question`` if none is applied.
    token_weights : FloatArray, shape (m,)
        Weights of the question's tokens; they sum to 1.
    ranking : Ranking
        The ranking of all chunks that at least one stage found.
    rows : mapping of int to ChunkRow
        Rows by chunk id. Chunks that were removed during the search have no row.
    vectors : mapping of int to ChunkVectors
        Token vectors by chunk id. Chunks that are not embedded yet have none.
    embedder : QuestionEmbedder
        The embedder of the index that was searched.
    lookup : EmbeddedLookup or None
        The domain look-up that ran in addition to the search for the question; ``None`` if none ran.
    is_lookup_in_one_document : bool
        Whether a look-up ran and only one document was searched.
    problems : tuple of str
        For each retriever that failed: what was not searched, and why.
    forms : mapping of str to sequence of str
        The other forms of the abbreviations in the question, by the form in the question.
    chosen_forms : mapping of int to (Question, FloatArray)
        The question with the form that a chunk contains, and the weights of its tokens, by chunk id; only of chunks
        that lack the form in the question.
    dates : AskedDates
        The dates in the question.
    """

    question: Question
    mapped_question: Question
    token_weights: FloatArray
    ranking: Ranking
    rows: Mapping[int, ChunkRow]
    vectors: Mapping[int, ChunkVectors]
    embedder: QuestionEmbedder
    lookup: EmbeddedLookup | None = None
    is_lookup_in_one_document: bool = False
    problems: tuple[str, ...] = ()
    dates: AskedDates = NO_DATES
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    chosen_forms: Mapping[int, tuple[Question, FloatArray]] = field(default_factory=dict)

    def get_question(self, chunk_id: int) -> tuple[Question, FloatArray]:
        """Return the question with the form of its abbreviations that a chunk contains, and its token weights."""
        return self.chosen_forms.get(chunk_id, (self.question, self.token_weights))


@dataclass(frozen=True, slots=True)
class Query:
    """A question with the scope and parameters of its search.

    ``documents`` contains the ids of the documents to search; ``None`` means all documents. ``top_k`` is the number of
    passages in the result. For ranking metrics, the outcome contains ``depth`` passages if ``depth`` is larger. If
    ``strict`` is true, an error of the language model's endpoint is raised. Otherwise, such an error has the effect
    that a plain search replaces the search strategy, or that quotes replace the answer. If ``gated`` is false, the
    passages are ranked, but the scores that only the gate needs are not computed. ``writer`` contains all instructions,
    those for every conversation first. If ``text`` is only a part of the question, ``asked`` is the whole question,
    which may define the figure that it asks for. ``adapter`` maps the vectors of the question; without it, they are
    those of the embedder. ``as_of`` names the snapshots to search instead of the present documents. ``notices`` has a
    sentence about each word of the question that was replaced. ``places`` are the pages or sections that the question
    names; nothing else is searched.
    """

    text: str
    documents: tuple[str, ...] | None
    top_k: int
    configuration: RetrievalConfig
    strict: bool = False
    depth: int = 0
    gated: bool = True
    writer: Writer = DEFAULT_WRITER
    asked: str = ""
    adapter: QuestionAdapter | None = None
    as_of: AsOf | None = None
    notices: tuple[str, ...] = ()
    places: NamedPlaces | None = None

    @property
    def as_of_label(self) -> str:
        """The snapshots in words; empty for the present."""
        return self.as_of.label if self.as_of else ""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of a search, with further data for answers, explanations and evaluations.

    ``passages`` contains the passages of the result, and after them passages with lower ranks. ``tokens`` maps chunk
    ids to the tokens of the highest-ranked passages, which the gate and the extractive reader use. ``computed`` is the
    text of the values that were computed for the question, in pieces, each with the citations of its operands.
    ``places`` are those of the query.
    """

    result: SearchResult
    ranked: RankedChunks
    passages: tuple[Passage, ...]
    tokens: Mapping[int, PassageTokens]
    computed: tuple[tuple[str, tuple[Citation, ...]], ...] = ()
    places: NamedPlaces | None = None
