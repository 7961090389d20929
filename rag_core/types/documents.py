"""Documents, their pages, and the positions of words on pages."""

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

# What to do with a document if a file with the same name and other content is added.
SameName = Literal["replace", "keep"]
# The collection of documents without another collection.
DEFAULT_COLLECTION = "default"


class PageState(str, Enum):
    """How the text of a page was obtained."""

    TEXT = "text"
    OCR = "ocr"
    MIXED = "mixed"
    EMPTY = "no text"
    FAILED = "failed"


class DocumentStatus(str, Enum):
    """The state of an added file.

    ``partial``: some pages failed or have no text, and the reason says which. ``rejected``: the file cannot be
    used (not a PDF, encrypted, too large, empty). ``failed``: an error of this program.
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
    """The positions of the words of a page's text on the page.

    Attributes
    ----------
    starts, ends : IntArray, shape (n,)
        Character offsets of each word in the page's text, ascending, ``ends`` exclusive.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` as fractions of the displayed page's width and height, from its top-left
        corner, so that they are valid at any zoom and rotation.
    """

    starts: IntArray
    ends: IntArray
    rects: FloatArray

    @classmethod
    def empty(cls) -> WordBoxes:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 4), np.float32))

    def find_overlapping(self, start: int, end: int) -> FloatArray:
        """Return the rectangles of the words that overlap ``[start, end)``, in text order, shape (m, 4)."""
        return self.rects[(self.starts < end) & (self.ends > start)]


@dataclass(frozen=True, slots=True)
class Page:
    """One extracted page: its text, the extraction method, and the positions of its words.

    ``width`` and ``height`` are in points (1/72 inch) as displayed. ``heading`` is the section in which the page
    starts, or a heading line on the page. ``confidence`` is the mean word confidence of OCR in 0..1, if OCR ran.
    ``skip`` lists ``(start, end)`` offsets of headers and footers, which are part of the text but not of chunks.
    ``hidden`` is invisible text (white on white, outside the page, too small to read); it is not part of ``text``.
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
    """A page of a document, with the document's name and the page's label."""

    document_id: str
    document: str
    page_index: int
    page_label: str

    @property
    def key(self) -> PageKey:
        """Key of the page, independent of the document's name."""
        return self.document_id, self.page_index


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document of the library. ``size`` is in bytes; ``chunks`` counts the active version's chunks."""

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
    """The number of deleted chunks, and the number that each store still contains afterwards."""

    document_id: str
    document: str
    chunks_removed: int
    remaining: Mapping[str, int]

    @property
    def chunks_remaining(self) -> int:
        return sum(self.remaining.values())


@dataclass(frozen=True, slots=True)
class PageImage:
    """A rendered page with highlights: PNG bytes, size in pixels, and the number of highlighted words."""

    png: bytes
    width: int
    height: int
    highlighted: int


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page as a worker parsed it, without knowledge of the pages around it.

    ``headings`` contains ``(start, end)`` of the lines of ``page.text`` that look like headings. ``divided`` contains
    ``(hyphen offset, first half, second half)`` for each word that is hyphenated at a line end, ascending. ``words``
    contains every other word once.
    """

    page: Page
    headings: tuple[tuple[int, int], ...] = ()
    divided: tuple[tuple[int, str, str], ...] = ()
    words: tuple[str, ...] = ()


class VersionRow(NamedTuple):
    """A stored version of a document, with the document's name, collection, active version and source folder.

    ``generation_id`` is ``None`` while the version is in the queue; ``state`` is ``building``, ``words``, ``full``,
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
    folder: str | None
