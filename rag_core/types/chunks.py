"""Chunks of documents, their embeddings, and the fingerprint of an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rag_core.types.arrays import FloatArray, Int8Array, IntArray

# Separates the pages in the text of a chunk that spans two; the extractor removes it from page texts.
PAGE_BREAK = "\f"

# Separates the document's name and the headings in a chunk's prefix.
HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A span of a document before it is stored.

    Attributes
    ----------
    text : str
        ``page[start:end]``. If the last sentence continues on the next page, a `PAGE_BREAK` and the rest of the
        sentence, up to ``end`` on page ``page_index_end``, follow.
    prefix : str
        One line with document name and heading, one with the header row of the table in which the chunk starts. It
        is embedded and word-indexed, but not shown.
    tokens : int
        Tokens of prefix and text by the embedder's tokenizer, including special tokens.
    sentences : tuple of int
        Index of each sentence's first token, ascending, without special tokens; earlier tokens are the prefix.
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


class ChunkRow(NamedTuple):
    """A stored chunk with its document's id and name, its page's label and its page's hidden text.

    ``sentences`` is stored as little-endian uint16; ``hidden`` is ``None`` if the page has no hidden text.
    """

    id: int
    version_id: str
    ordinal: int
    page_index: int
    start: int
    page_index_end: int
    end: int
    text: str
    prefix: str
    heading: str
    tokens: int
    sentences: bytes
    document_id: str
    document: str
    page_label: str
    hidden: str | None

    @property
    def embedded_text(self) -> str:
        """The embedder's input: the prefix, then the chunk's text."""
        return embedded_text(self.prefix, self.text)

    @property
    def prefix_text(self) -> str:
        """The prefix part of the embedder's input: document, headings and a table's header row."""
        return embedded_text(self.prefix, "")

    @property
    def document_label(self) -> str:
        """Name and title of the document."""
        return document_label(self.prefix)


def embedded_text(prefix: str, text: str) -> str:
    """Return the embedder's input for a chunk; token offsets are only valid for this exact text."""
    return f"{prefix}\n{text}"


@dataclass(frozen=True, slots=True)
class Embedding:
    """The result of one forward pass for one text.

    Attributes
    ----------
    dense : FloatArray, shape (dimension,)
        Unit length.
    tokens : Int8Array, shape (n, token_dimension)
        Token vectors, each divided by its entry in ``scales``; empty if the embedder has none.
    scales : FloatArray, shape (n,)
        Factors that restore the rows of ``tokens`` to about unit length.
    """

    dense: FloatArray
    tokens: Int8Array
    scales: FloatArray


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """A chunk's token vectors for late-interaction reranking.

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

    def to_float(self) -> FloatArray:
        """Return the token vectors as floats, shape (n, token_dimension), of about unit length."""
        vectors: FloatArray = self.tokens.astype(np.float32) * self.scales[:, None]
        return vectors


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The models and parameters that built an index. Indexes are compatible only if all fields are equal."""

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
        """Return the fields that differ, as ``name: (self's value, other's value)``."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__slots__}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def document_label(prefix: str) -> str:
    """Return the document's name and title from a chunk's prefix."""
    return prefix.split("\n", 1)[0].split(HEADING_SEPARATOR, 1)[0]
