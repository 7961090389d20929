"""The interfaces between the packages: retrievers, stores, embedders and lookups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rag_core.types import (
    ChunkRow,
    ChunkVectors,
    Citation,
    Embedding,
    FloatArray,
    Hit,
    IntArray,
    Passage,
    Question,
    VersionFilter,
)


class Retriever(Protocol):
    """Finds chunks for a question."""

    @property
    def name(self) -> str:
        """What its scores are called."""
        ...

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """At most ``k`` chunks, best first, each once; only of these versions, or of all but these, if given.

        An empty list of versions finds nothing; ``None`` searches all that is stored.
        """
        ...


class PairScores(Protocol):
    """A model that reads a question and a text together."""

    def __call__(self, question: str, texts: Sequence[str]) -> FloatArray:
        """How well each text answers the question, higher is better, shape (len(texts),)."""
        ...


class InverseDocumentFrequency(Protocol):
    """How rare words are in what is searched."""

    def __call__(self, words: Sequence[str]) -> Mapping[str, float]: ...


class TextEncoder(Protocol):
    """Gives a text's token vectors, unit length, shape (n, dimension), and their spans in it, (n, 2)."""

    def __call__(self, text: str) -> tuple[FloatArray, IntArray]: ...


class ChunkStore(Protocol):
    """Stores the rows of chunks."""

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the rows, by id, of those of these chunks that a search may see now."""
        ...


class TokenVectorStore(Protocol):
    """Stores the token vectors of chunks."""

    def tokens(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
        """Return token vectors by chunk id, of those that are stored."""
        ...


class ModelIdentity(Protocol):
    """Name and weights of an embedding model."""

    @property
    def name(self) -> str: ...

    @property
    def weights(self) -> str: ...

    @property
    def projection(self) -> str: ...


class QuestionEmbedder(Protocol):
    """The part of an embedder that a question needs."""

    @property
    def identity(self) -> ModelIdentity: ...

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        """Return the character spans of each text's tokens, shape (n, 2) each."""
        ...

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        """Return the embeddings of texts."""
        ...

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        """Return a question with its vectors."""
        ...


class LookupPlan(Protocol):
    """What to look up beside a question, such as the lines of a financial statement.

    Attributes
    ----------
    text : str
        The query for it.
    sections : tuple of str
        The kinds of section, such as balance sheets, that it is looked up in; each has a ranking of its own.
    most : int
        Chunks of each section that count.
    asks_for_lines : bool
        Whether it names lines, and not a section alone.
    """

    @property
    def text(self) -> str: ...

    @property
    def sections(self) -> tuple[str, ...]: ...

    @property
    def most(self) -> int: ...

    @property
    def asks_for_lines(self) -> bool: ...

    def is_section(self, section: str, head: str) -> bool:
        """Return whether a chunk whose text begins with ``head`` belongs to a section."""
        ...

    def is_relevant(self, passage: Passage, title: str, document: str | None) -> bool:
        """Return whether a passage of such a section is about the subject and period of the question.

        ``title`` is the chunk's prefix; ``document`` is the document's label, or ``None`` if only one is searched.
        """
        ...

    def quote(self, passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
        """Return the looked-up lines with their citations; an empty text if there are none."""
        ...


class DomainLookup(Protocol):
    """Knows where the answers to some questions of a domain stand."""

    def plan(self, question: str, names: Sequence[str]) -> LookupPlan | None:
        """Return what to look up, or ``None`` if the question does not belong to the domain.

        ``names`` are the names in the question, such as the company's.
        """
        ...
