"""Chunks of documents, what is stored of them, and what an index was built with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rag_core.types.arrays import FloatArray, Int8Array, IntArray

# Stands between the pages in the text of a chunk that lies on two; extraction leaves none in a page.
PAGE_BREAK = "\f"

# Between the document and the headings of a chunk.
HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A span of a document before it is stored.

    ``text`` is ``page[start:end]``; a chunk whose last sentence goes on on the next page has that
    sentence's rest, which ends at ``end`` of ``page_index_end``, behind a `PAGE_BREAK`. ``prefix``
    (document name and heading, then the head of the table that the chunk begins in, a line each) is
    embedded and word-indexed, never shown. ``tokens`` counts prefix and text, special tokens
    included, with the embedder's tokenizer. ``sentences`` holds the index of each sentence's first
    token, ascending, special tokens not counted; what stands before the first belongs to the prefix.
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
    """A stored chunk with its document's id and name, its page's label and what its page hides.

    ``sentences`` is stored as little-endian uint16; ``hidden`` is ``None`` if the page hides nothing.
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
        """The text that the embedder reads: the prefix, then the chunk's own text."""
        return embedded_text(self.prefix, self.text)

    @property
    def title(self) -> str:
        """The prefix as the embedder reads it: document, headings and the head of a table."""
        return embedded_text(self.prefix, "")

    @property
    def document_label(self) -> str:
        """Name and title of the document."""
        return document_label(self.prefix)


def embedded_text(prefix: str, text: str) -> str:
    """What of a chunk is put before the embedder: at indexing, and again wherever its tokens are counted."""
    return f"{prefix}\n{text}"


@dataclass(frozen=True, slots=True)
class Embedding:
    """What one forward pass gives for one text.

    Attributes
    ----------
    dense : FloatArray, shape (dimension,)
        Unit length.
    tokens : Int8Array, shape (n, token_dimension)
        Token vectors, each divided by its ``scales`` entry; empty when the embedder has none.
    scales : FloatArray, shape (n,)
        Multiply a row of ``tokens`` by it to get a vector of about unit length back.
    """

    dense: FloatArray
    tokens: Int8Array
    scales: FloatArray


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """A chunk's token vectors, as a late-interaction reranker needs them.

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
    """What an index was built with. Two indexes may be mixed only if all of it is equal."""

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
        """Fields that differ, as ``name: (self's, other's)``."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__slots__}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def document_label(prefix: str) -> str:
    """Name and title of the document, from a chunk's prefix."""
    return prefix.split("\n", 1)[0].split(HEADING_SEPARATOR, 1)[0]
