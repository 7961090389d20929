"""Interfaces of components that packages receive from others, such as encoders, stores and embedders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import ChunkRow, ChunkVectors, Embedding, SparseVector
from rag_core.types.marginalization import TokenDistribution
from rag_core.types.retrieval import Passage, Question


class TermEncoder(Protocol):
    """A learned sparse encoder, which computes a weight for each term of its vocabulary."""

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        """Return the sparse vector of each text."""
        ...

    def encode_question(self, question: str) -> SparseVector:
        """Return the sparse vector of a question."""
        ...


class PairScores(Protocol):
    """A cross-encoder, which computes a score for a question and a text that it reads together."""

    def __call__(self, question: str, texts: Sequence[str]) -> FloatArray:
        """Return the score of each text for the question, shape (len(texts),); higher is better."""
        ...


class InverseDocumentFrequency(Protocol):
    """A function that looks up the inverse document frequency of words in the index."""

    def __call__(self, words: Sequence[str]) -> Mapping[str, float]:
        """Return the inverse document frequency of each word."""
        ...


class TextEncoder(Protocol):
    """A function that computes the token vectors of a text."""

    def __call__(self, text: str) -> tuple[FloatArray, IntArray]:
        """Return the token vectors, shape (n, dimension), and the character spans of the tokens, shape (n, 2).

        The vectors have unit length.
        """
        ...


class ChunkStore(Protocol):
    """A store of the rows of chunks."""

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the rows of the chunks that searches may find at present, by chunk id."""
        ...


class TokenVectorStore(Protocol):
    """A store of the token vectors of chunks."""

    def read_tokens(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
        """Return the token vectors of the chunks by chunk id. Chunks without stored vectors are left out."""
        ...


class ModelIdentity(Protocol):
    """What identifies an embedder: its name, the hash of its weights, and the projection of its token vectors."""

    @property
    def name(self) -> str: ...

    @property
    def weights(self) -> str: ...

    @property
    def projection(self) -> str: ...


class QuestionEmbedder(Protocol):
    """An embedder as searches use it; see `rag_core.embedding.embedder.Embedder`."""

    @property
    def identity(self) -> ModelIdentity: ...

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        """Return the character spans of the tokens of each text, shape (n, 2), without special tokens."""
        ...

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        """Return the embedding of each text. If ``background`` is false, do not wait for texts of earlier calls."""
        ...

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        """Return the question with its vectors.

        If ``low_priority`` is true, the embedder may be slower and less precise, so that other questions do not wait.
        """
        ...


class QuestionAdapter(Protocol):
    """A trained mapping of the vectors of questions; see `rag_core.embedding.query_adapter.QueryAdapter`."""

    def find_problems(self, identity: ModelIdentity) -> list[str]:
        """Return the reasons why the adapter cannot map the vectors of an embedder; empty if it can."""
        ...

    def apply(self, question: Question) -> Question:
        """Return the question with mapped vectors."""
        ...


class LookupPlan(Protocol):
    """An additional search for a question in certain sections, for example for rows of a financial statement.

    Attributes
    ----------
    text : str
        The query of the additional search.
    sections : tuple of str
        The kinds of sections to search, such as balance sheets. The chunks of each kind are ranked separately.
    max_chunks : int
        Maximum number of chunks for each kind of section.
    has_rows : bool
        Whether the question names rows of a table; otherwise, it names only a kind of section.
    """

    @property
    def text(self) -> str: ...

    @property
    def sections(self) -> tuple[str, ...]: ...

    @property
    def max_chunks(self) -> int: ...

    @property
    def has_rows(self) -> bool: ...

    def is_in_section(self, section: str, head: str) -> bool:
        """Return whether a chunk that begins with ``head`` is in ``section``, which is one of ``sections``."""
        ...

    def is_relevant(self, passage: Passage, title: str, document: str | None) -> bool:
        """Return whether a passage of the sections is about the subject and the period of the question.

        ``title`` is the prefix of the chunk. ``document`` is the label of the document, or ``None`` if only one
        document is searched.
        """
        ...


class CausalModel(Protocol):
    """A causal language model, which predicts the next token of a sequence."""

    @property
    def end_tokens(self) -> frozenset[int]:
        """The tokens that end an answer."""
        ...

    def predict(self, contexts: Sequence[Sequence[int]]) -> Sequence[TokenDistribution]:
        """Return the distribution of the next token after each context, which is a non-empty sequence of tokens."""
        ...
