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
        """Name of its score."""
        ...

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """Return at most ``k`` chunks, best first, each once.

        ``versions`` limits the search: an empty list finds nothing, ``None`` searches all versions.
        """
        ...


class PairScores(Protocol):
    """A model that reads a question and a text together."""

    def __call__(self, question: str, texts: Sequence[str]) -> FloatArray:
        """Return a score for each text, higher if it answers the question better, shape (len(texts),)."""
        ...


class InverseDocumentFrequency(Protocol):
    """Returns the inverse document frequency of each word in the index."""

    def __call__(self, words: Sequence[str]) -> Mapping[str, float]: ...


class TextEncoder(Protocol):
    """Returns a text's token vectors, unit length, shape (n, dimension), and their spans in it, shape (n, 2)."""

    def __call__(self, text: str) -> tuple[FloatArray, IntArray]: ...


class ChunkStore(Protocol):
    """Stores the rows of chunks."""

    def visible_chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return rows by id for those of the chunks that are currently visible to searches."""
        ...


class TokenVectorStore(Protocol):
    """Stores the token vectors of chunks."""

    def read_tokens(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
        """Return token vectors by chunk id for those of the chunks that have stored vectors."""
        ...


class ModelIdentity(Protocol):
    """Name, weights and projection of an embedding model."""

    @property
    def name(self) -> str: ...

    @property
    def weights(self) -> str: ...

    @property
    def projection(self) -> str: ...


class QuestionEmbedder(Protocol):
    """The part of an embedder that searches use."""

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
    """A look-up in addition to the question's search, such as for table rows of a financial statement.

    Attributes
    ----------
    text : str
        The query of the look-up.
    sections : tuple of str
        The kinds of section to search, such as balance sheets; each gets a separate ranking.
    max_chunks : int
        Maximum number of chunks per section.
    asks_for_rows : bool
        Whether the question names table rows, not only a section.
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
        """Return whether a chunk whose text starts with ``head`` belongs to a section."""
        ...

    def is_relevant(self, passage: Passage, title: str, document: str | None) -> bool:
        """Return whether a passage of such a section is about the subject and period of the question.

        ``title`` is the chunk's prefix; ``document`` is the document's label, or ``None`` if only one is searched.
        """
        ...

    def quote(self, passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
        """Return the table rows with their citations; an empty text if there are none."""
        ...


class DomainLookup(Protocol):
    """Plans look-ups for questions of a domain."""

    def plan(self, question: str, names: Sequence[str]) -> LookupPlan | None:
        """Return what to look up, or ``None`` if the question does not belong to the domain.

        ``names`` are the names in the question, such as the company's.
        """
        ...
