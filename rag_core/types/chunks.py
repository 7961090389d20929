"""Chunks of documents, their embeddings, and the fingerprint of an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rag_core.types.arrays import FloatArray, Int8Array, IntArray

# Separates the texts of the pages in a chunk that spans two pages. The parser removes this character from page texts.
PAGE_BREAK = "\f"

# Separates the document's label and the headings in the prefix of a chunk, and the headings in a path of headings.
HEADING_SEPARATOR = " › "

# Separates the versions in `Fingerprint.extractor`. No version contains this separator.
PARSER_SEPARATOR = "; "


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A chunk that is not stored yet and therefore has no id.

    Attributes
    ----------
    ordinal : int
        Position of the chunk in the document, from 0.
    page_index, page_index_end : int
        The first and the last page of the chunk; they differ if its last sentence continues on the next page.
    start, end : int
        Offset of the chunk's start in the text of the first page, and of its end in the text of the last page.
    text : str
        The text from ``start`` to ``end``, with a `PAGE_BREAK` between two pages. Struck words are replaced by blanks
        of the same length.
    prefix : str
        A line with the document's label and the headings. If the chunk starts inside a table, the head of the table
        follows. The prefix is embedded and added to the word index, but it is not shown.
    heading : str
        The path of headings at the start of the chunk.
    tokens : int
        Number of tokens of prefix and text together, including special tokens, by the tokenizer of the embedder.
    sentences : tuple of int
        Index of the first token of each sentence, ascending. Special tokens are not counted. The tokens before the
        first sentence belong to the prefix.
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
    """A stored chunk; see `ChunkSpan`. The last four fields belong to its document and its first page.

    ``sentences`` contains the indices of `ChunkSpan.sentences` as little-endian uint16. ``hidden`` is ``None`` if the
    page has no hidden text.
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
    def page_indices(self) -> range:
        """The indices of the pages that the chunk is on, ascending."""
        return range(self.page_index, self.page_index_end + 1)

    @property
    def embedded_text(self) -> str:
        """The input of the embedder: the prefix, then the text of the chunk."""
        return build_embedded_text(self.prefix, self.text)

    @property
    def prefix_text(self) -> str:
        """The part of `embedded_text` before the text of the chunk, including the line break."""
        return build_embedded_text(self.prefix, "")

    @property
    def document_label(self) -> str:
        """Name and title of the document, which are the first part of the prefix."""
        return extract_document_label(self.prefix)


def build_embedded_text(prefix: str, text: str) -> str:
    """Return the text of a chunk that is embedded. The spans of its tokens are offsets in this text."""
    return f"{prefix}\n{text}"


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors that an embedder computes for one text.

    Attributes
    ----------
    dense : FloatArray, shape (dimension,)
        The vector of the whole text, of unit length.
    tokens : Int8Array, shape (n, token_dimension)
        The quantized vectors of the tokens; empty if the embedder computes no token vectors.
    scales : FloatArray, shape (n,)
        A factor for each row of ``tokens``. A row times its factor is a vector of about unit length.
    """

    dense: FloatArray
    tokens: Int8Array
    scales: FloatArray


@dataclass(frozen=True, slots=True)
class SparseVector:
    """The weights that a learned sparse encoder gives the terms of its vocabulary for one text.

    Attributes
    ----------
    terms : IntArray, shape (n,)
        Ids of the terms whose weight is above 0, ascending.
    weights : FloatArray, shape (n,)
        The weight of each term.
    """

    terms: IntArray
    weights: FloatArray


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """The token vectors of a chunk, for reranking by late interaction.

    Attributes
    ----------
    tokens : Int8Array, shape (n, token_dimension)
        See `Embedding`.
    scales : FloatArray, shape (n,)
        See `Embedding`.
    sentences : IntArray, shape (s,)
        Index of the first token of each sentence, ascending.
    """

    tokens: Int8Array
    scales: FloatArray
    sentences: IntArray

    def to_float(self) -> FloatArray:
        """Return the token vectors as floats of about unit length, shape (n, token_dimension)."""
        vectors: FloatArray = self.tokens.astype(np.float32) * self.scales[:, None]
        return vectors


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The models and parameters with which an index is built.

    Attributes
    ----------
    embedder, weights : str
        Name of the embedder, and the hash of its weights.
    dimension, token_dimension : int
        Dimensions of the dense vectors and of the token vectors.
    projection : str
        Identifies the projection of the token vectors.
    chunk_tokens : int
        Maximum number of tokens of a chunk, without its prefix.
    chunk_overlap : float
        Share of a chunk that the next chunk repeats.
    extractor : str
        The versions of the parsers of all file formats.
    prefix : str
        Version of the rule by which prefixes of chunks are built.
    sparse, sparse_weights : str
        Name of the learned sparse encoder, and the hash of its weights; empty if the index does not use one.
    """

    embedder: str
    weights: str
    dimension: int
    token_dimension: int
    projection: str
    chunk_tokens: int
    chunk_overlap: float
    extractor: str
    prefix: str
    sparse: str = ""
    sparse_weights: str = ""

    @property
    def parser_versions(self) -> tuple[str, ...]:
        """The version of the parser of each file format."""
        return tuple(self.extractor.split(PARSER_SEPARATOR))

    def differences(self, other: Fingerprint) -> dict[str, tuple[Any, Any]]:
        """Return the fields that differ, as ``name: (value in self, value in other)``.

        Additional parser versions in ``other`` are ignored. They belong to formats that were added after this index
        was built, so that it contains no files of them.
        """
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__slots__}
        if set(self.parser_versions) <= set(other.parser_versions):
            del pairs["extractor"]
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def extract_document_label(prefix: str) -> str:
    """Return the name and title of the document from the prefix of a chunk."""
    return prefix.split("\n", 1)[0].split(HEADING_SEPARATOR, 1)[0]
