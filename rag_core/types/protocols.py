"""The interfaces between the packages: encoders, stores, embedders and look-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import ChunkRow, ChunkVectors, Embedding, SparseVector
from rag_core.types.marginalization import TokenDistribution
from rag_core.types.retrieval import Passage, Question


class TermEncoder(Protocol):
    """A model that gives the terms of its vocabulary weights for a text."""

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        """Return the vector of each text."""
        ...

    def encode_question(self, question: str) -> SparseVector:
        """Return the vector of a question."""
        ...


class PairScores(Protocol):
    """A model that reads a question and a text together, and computes one score for the pair."""

    def __call__(self, question: str, texts: Sequence[str]) -> FloatArray:
        """Return a score for each text, shape (len(texts),). A text that answers the question better scores higher."""
        ...


class InverseDocumentFrequency(Protocol):
    """A function that returns the inverse document frequency of each given word in the index."""

    def __call__(self, words: Sequence[str]) -> Mapping[str, float]: ...


class TextEncoder(Protocol):
    """A function that returns the token vectors of a text, and the character spans of the tokens in the text.

    The vectors have unit length and shape (n, dimension); the spans have shape (n, 2).
    """

    def __call__(self, text: str) -> tuple[FloatArray, IntArray]: ...


class ChunkStore(Protocol):
    """A store of the rows of chunks."""

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the rows of the chunks by chunk id, without chunks that searches must not find at present."""
        ...


class TokenVectorStore(Protocol):
    """A store of the token vectors of chunks."""

    def read_tokens(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
        """Return the token vectors of the chunks by chunk id, without chunks that have no stored vectors."""
        ...


class ModelIdentity(Protocol):
    """The properties that identify an embedding model: its name, the hash of its weights, and its projection."""

    @property
    def name(self) -> str: ...

    @property
    def weights(self) -> str: ...

    @property
    def projection(self) -> str: ...


class QuestionEmbedder(Protocol):
    """The methods of an embedder that searches use; see `rag_core.embedding.embedder.Embedder`."""

    @property
    def identity(self) -> ModelIdentity: ...

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        """Return, for each text, the character spans of its tokens, shape (n, 2)."""
        ...

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        """Return the embedding of each text."""
        ...

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        """Return the question with its vectors."""
        ...


class QuestionAdapter(Protocol):
    """Maps the vectors of questions; see `rag_core.embedding.query_adapter.QueryAdapter`."""

    def find_problems(self, identity: ModelIdentity) -> list[str]:
        """Return why the adapter cannot map vectors of this embedder; empty if it can."""
        ...

    def apply(self, question: Question) -> Question:
        """Return the question with mapped vectors."""
        ...


class LookupPlan(Protocol):
    """A look-up that runs in addition to the search for a question, for example for rows of a financial statement.

    Attributes
    ----------
    text : str
        The query of the look-up.
    sections : tuple of str
        The kinds of section to search, such as balance sheets. The chunks of each kind are ranked separately.
    max_chunks : int
        Maximum number of chunks for each kind of section.
    asks_for_rows : bool
        Whether the question names rows of a table, and not only a kind of section.
    """

    @property
    def text(self) -> str: ...

    @property
    def sections(self) -> tuple[str, ...]: ...

    @property
    def max_chunks(self) -> int: ...

    @property
    def asks_for_rows(self) -> bool: ...

    def is_section(self, section: str, head: str) -> bool:
        """Return whether a chunk belongs to a kind of section; ``head`` contains the first characters of the chunk."""
        ...

    def is_relevant(self, passage: Passage, title: str, document: str | None) -> bool:
        """Return whether a passage from one of the sections is about the subject and the period of the question.

        ``title`` is the prefix of the chunk. ``document`` is the label of the document; it is ``None`` if only one
        document is searched.
        """
        ...


class CausalModel(Protocol):
    """A model that predicts the next token of a sequence of tokens."""

    @property
    def end_tokens(self) -> frozenset[int]:
        """The tokens that end an answer."""
        ...

    def predict(self, contexts: Sequence[Sequence[int]]) -> Sequence[TokenDistribution]:
        """Return the distribution of the next token after each context; a context is a non-empty sequence of tokens."""
        ...
