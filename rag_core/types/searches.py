"""The input, the intermediate results and the outcome of a search for passages."""

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

# The plain strategy, with all other parameters from the settings or the Settings page.
DEFAULT_CONFIGURATION = RetrievalConfig()
# Maximum length of a question. The embedder reads only the beginning of a longer text.
MAX_QUESTION_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Writer:
    """The language model that writes an answer, and the user's instructions to it.

    Attributes
    ----------
    model : str, optional
        Name of the language model; ``None`` stands for the configured model, and an empty name for excerpts without a
        model.
    instructions : str
        Instructions about language, length and tone. Those for all conversations come first.
    """

    model: str | None = None
    instructions: str = ""


# The configured model, without instructions.
DEFAULT_WRITER = Writer()


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """The tokens of a passage.

    Attributes
    ----------
    vectors : ChunkVectors
        Vectors of all tokens, first those of the prefix.
    offsets : IntArray, shape (n, 2)
        Character span of each token in the text of the passage. Tokens of the prefix, which precedes the text, have
        negative offsets.
    """

    vectors: ChunkVectors
    offsets: IntArray


@dataclass(frozen=True, slots=True)
class EmbeddedLookup:
    """A `LookupPlan` with its embedded query, and the weights of the query's tokens, shape (m,)."""

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
        The question with the vectors of the query adapter, which rankings use; the same object as ``question`` without
        an adapter.
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
        The additional search in certain sections; ``None`` if none ran.
    is_lookup_in_one_document : bool
        Whether ``lookup`` ran and only one document was searched.
    problems : tuple of str
        For each retriever that failed: what was not searched, and why.
    dates : AskedDates
        The dates in the question.
    forms : mapping of str to sequence of str
        For each abbreviation or full name in the question, the other forms of the same name in the documents.
    chosen_forms : mapping of int to (Question, FloatArray)
        For chunks that contain another form than the question: the question with this form, and its token weights, by
        chunk id.
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
        """Return the question in the form for a chunk (see ``chosen_forms``), and its token weights."""
        return self.chosen_forms.get(chunk_id, (self.question, self.token_weights))


@dataclass(frozen=True, slots=True)
class Query:
    """A question with the scope and parameters of its search.

    Attributes
    ----------
    text : str
        The question, or a part of the question.
    documents : tuple of str or None
        Ids of the documents to search; ``None`` stands for all documents.
    top_k : int
        Number of passages in the result.
    configuration : RetrievalConfig
    strict : bool
        Whether an error of the language model's endpoint is raised. Otherwise, after such an error, the plain search
        replaces the search strategy, or excerpts replace the answer.
    depth : int
        Minimum number of passages in the outcome, for metrics of rankings.
    gated : bool
        Whether to compute the scores that only the gate needs.
    writer : Writer
    asked : str
        If ``text`` is a part of the question, the whole question, which may define a figure that the part asks for.
    adapter : QuestionAdapter or None
        Maps the vectors of the question; ``None`` if no adapter is applied.
    as_of : AsOf or None
        The snapshots to search; ``None`` stands for the present documents.
    notices : tuple of str
        A sentence about each word of the question that was corrected.
    places : NamedPlaces or None
        The pages or sections that the question names. If there are any, only these are searched.
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
        """Description of the snapshots; empty for the present documents."""
        return self.as_of.label if self.as_of else ""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of a search, with further data for answers, explanations and evaluations.

    Attributes
    ----------
    result : SearchResult
    ranked : RankedChunks
    passages : tuple of Passage
        The passages of the result, and after them passages with lower ranks.
    tokens : mapping of int to PassageTokens
        Tokens of the highest-ranked passages, by chunk id, for the gate and the extractive reader.
    computed : tuple of (str, tuple of Citation)
        A text about the values that were computed for the question, in pieces with the citations of their operands.
    places : NamedPlaces or None
        The places of the query.
    """

    result: SearchResult
    ranked: RankedChunks
    passages: tuple[Passage, ...]
    tokens: Mapping[int, PassageTokens]
    computed: tuple[tuple[str, tuple[Citation, ...]], ...] = ()
    places: NamedPlaces | None = None
