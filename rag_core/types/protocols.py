"""What a retriever and a reranker are, whatever is behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rag_core.types import ChunkVectors, FloatArray, Hit, IntArray, Question, Versions


class Retriever(Protocol):
    """Finds chunks for a question."""

    @property
    def name(self) -> str:
        """What its scores are called."""
        ...

    def retrieve(self, question: Question, k: int, versions: Versions | None = None) -> list[Hit]:
        """At most ``k`` chunks, best first, each once; only of these versions, or of all but these, if given.

        An empty list of versions finds nothing; ``None`` searches all that is stored.
        """
        ...


class Reranker(Protocol):
    """Scores chosen chunks against a question."""

    @property
    def name(self) -> str:
        """What its scores are called."""
        ...

    def rerank(self, question: Question, chunk_ids: Sequence[int]) -> list[Hit]:
        """The chunks that could be scored, best first; equal scores keep the given order."""
        ...


class TokenVectorSource(Protocol):
    """Where a late-interaction reranker finds the token vectors of chunks."""

    def __call__(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
        """Token vectors by chunk, of those that are stored."""
        ...


class PairScores(Protocol):
    """A model that reads a question and a text together."""

    def __call__(self, question: str, texts: Sequence[str]) -> FloatArray:
        """How well each text answers the question, higher is better, shape (len(texts),)."""
        ...


class Texts(Protocol):
    """Where a cross-encoder finds the words of chunks."""

    def __call__(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        """Texts by chunk, of those that may be seen."""
        ...


class InverseDocumentFrequency(Protocol):
    """How rare words are in what is searched."""

    def __call__(self, words: Sequence[str]) -> Mapping[str, float]: ...


class TextEncoder(Protocol):
    """Gives a text's token vectors, unit length, shape (n, dimension), and their spans in it, (n, 2)."""

    def __call__(self, text: str) -> tuple[FloatArray, IntArray]: ...
