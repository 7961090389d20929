"""Documents, their pages, and where things stand on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Literal, NamedTuple

import numpy as np

from rag_core.types.arrays import FloatArray, IntArray

# A document's id and a page's index.
PageKey = tuple[str, int]

# What becomes of a document if a file of its name with other content is added.
SameName = Literal["replace", "keep"]
# The collection of documents that were put into no other.
DEFAULT_COLLECTION = "default"


class PageState(str, Enum):
    """How the text of a page was obtained."""

    TEXT = "text"
    OCR = "ocr"
    MIXED = "mixed"
    EMPTY = "no text"
    FAILED = "failed"


class DocumentStatus(str, Enum):
    """What became of a file.

    ``partial`` means that some pages failed or hold no text, which the reason says; ``rejected`` is
    the file's fault (not a PDF, encrypted, too large, empty); ``failed`` is ours.
    """

    QUEUED = "queued"
    INDEXING = "indexing"
    INDEXED = "indexed"
    PARTIAL = "partial"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class WordBoxes:
    """Where the words of a page's text stand on the page.

    Attributes
    ----------
    starts, ends : IntArray, shape (n,)
        Character offsets of each word in the page's text, ascending, ``ends`` exclusive.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` as fractions of the displayed page's width and height, from its top-left
        corner, so that they hold at any zoom and rotation.
    """

    starts: IntArray
    ends: IntArray
    rects: FloatArray

    @classmethod
    def empty(cls) -> WordBoxes:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 4), np.float32))

    def within(self, start: int, end: int) -> FloatArray:
        """Rectangles of the words that overlap ``[start, end)``, in text order, shape (m, 4)."""
        return self.rects[(self.starts < end) & (self.ends > start)]


@dataclass(frozen=True, slots=True)
class Page:
    """One page as extracted: its text, how it was read, and where its words stand.

    ``width`` and ``height`` are in points (1/72 inch) as displayed. ``heading`` is the section the
    page begins in, or its own heading line; ``confidence`` is the OCR's mean word confidence in
    0..1 where OCR ran. ``skip`` lists ``(start, end)`` offsets that belong to running headers and
    footers: kept in the text, left out of chunks. ``hidden`` is what the page holds and does not show
    (white on white, outside the page, too small to read), which is not part of ``text``.
    """

    page_index: int
    page_label: str
    text: str
    state: PageState
    width: float = 0.0
    height: float = 0.0
    heading: str = ""
    reason: str = ""
    confidence: float | None = None
    boxes: WordBoxes = field(default_factory=WordBoxes.empty)
    skip: tuple[tuple[int, int], ...] = ()
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class PageReference:
    """A page of a document, with the names that both are shown by."""

    document_id: str
    document: str
    page_index: int
    page_label: str

    @property
    def key(self) -> PageKey:
        """What names the page, whatever it is called."""
        return self.document_id, self.page_index


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A row of the library. ``size`` is in bytes; ``chunks`` counts the active version's."""

    document_id: str
    version_id: str
    name: str
    collection: str
    status: DocumentStatus
    reason: str
    pages: int
    pages_text: int
    pages_ocr: int
    pages_empty: int
    pages_failed: int
    chunks: int
    size: int
    added_at: datetime
    embedder: str
    needs_password: bool


@dataclass(frozen=True, slots=True)
class DeleteReceipt:
    """What a delete removed, and what each store still holds of it, counted afterwards."""

    document_id: str
    document: str
    chunks_removed: int
    remaining: Mapping[str, int]

    @property
    def chunks_remaining(self) -> int:
        return sum(self.remaining.values())


@dataclass(frozen=True, slots=True)
class PageImage:
    """A rendered page with highlights drawn in: PNG bytes, pixel size, and how many words are marked."""

    png: bytes
    width: int
    height: int
    highlighted: int


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page as a worker read it, before the pages around it are known.

    ``headings`` holds ``(start, end)`` of the lines of ``page.text`` that look like headings, ``divided`` of each
    word that a line end divides where its hyphen stands and the halves before and after it, ascending. ``words``
    are those that no line end divides, each once.
    """

    page: Page
    headings: tuple[tuple[int, int], ...] = ()
    divided: tuple[tuple[int, str, str], ...] = ()
    words: tuple[str, ...] = ()


class VersionRow(NamedTuple):
    """A stored version of a document, with the document's name, collection and active version.

    ``generation_id`` is ``None`` as long as the version waits; ``state`` is ``building``, ``words``, ``full``,
    ``ended`` or ``removing``.
    """

    id: str
    document_id: str
    generation_id: int | None
    sha256: str
    size: int
    state: str
    status: str
    reason: str
    pages: int
    pages_text: int
    pages_ocr: int
    pages_empty: int
    pages_failed: int
    chunks: int
    needs_password: bool
    extractor: str
    added_at: datetime
    name: str
    collection: str
    active_version: str | None
