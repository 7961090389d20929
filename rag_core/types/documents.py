"""Documents, their pages, and the positions of words on pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Literal, NamedTuple

import numpy as np

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.tables import Table

# The id of a document and the index of one of its pages.
PageKey = tuple[str, int]
# Struck words in the text of a page, between marks; the parser leaves no other tildes that look like a mark.
STRUCK = re.compile(r"~~([^\n\f]+?)~~")
# Sign before the text of a watermark, which follows all other text of a page.
WATERMARK = "\v"

# What happens to a document if a file with the same name but different content is added: the file becomes a new version
# of the document, or the document is kept and the file becomes a second document.
SameName = Literal["replace", "keep"]
# The collection of documents that were added without the name of a collection.
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

    ``partial`` means that some pages failed or have no text; the reason of the document says which pages. ``rejected``
    means that the file cannot be used, for example because it is encrypted, empty, too large or of an unknown format.
    ``failed`` means that an error of this program prevented indexing.
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
    """The positions of words in the text of a page, and on the displayed page.

    Attributes
    ----------
    starts, ends : IntArray, shape (n,)
        Character offsets of each word in the text of the page, in ascending order. ``ends`` are exclusive.
    rects : FloatArray, shape (n, 4)
        The rectangle ``x0, y0, x1, y1`` of each word, measured from the top-left corner of the displayed page. The
        values are fractions of the page's width and height, so that they are valid at every size of the image.
    """

    starts: IntArray
    ends: IntArray
    rects: FloatArray

    @classmethod
    def empty(cls) -> WordBoxes:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 4), np.float32))

    def find_overlapping(self, start: int, end: int) -> FloatArray:
        """Return the rectangles of the words that overlap the span ``[start, end)``, in text order, shape (m, 4)."""
        return self.rects[(self.starts < end) & (self.ends > start)]


class Heading(NamedTuple):
    """A heading of a page: its span in the text of the page, and its path.

    The path consists of the titles of the enclosing headings and its own title. The span is empty for a bookmark of the
    file whose title is not on its page.
    """

    start: int
    end: int
    path: str

    @property
    def level(self) -> int:
        """0 for a heading that no other one contains."""
        return self.path.count(HEADING_SEPARATOR)

    @property
    def title(self) -> str:
        return self.path.rpartition(HEADING_SEPARATOR)[2]

    def shift(self, places: int) -> Heading:
        return Heading(self.start + places, self.end + places, self.path)


@dataclass(frozen=True, slots=True)
class Page:
    """One extracted page: its text, the extraction method, and the positions of its words.

    ``width`` and ``height`` are the size of the displayed page in points (1/72 inch). ``heading`` is the section in
    which the page starts, or a heading line on the page; ``headings`` are all headings of the page in order, and `None`
    if an earlier release read the page. ``confidence`` is the mean of the confidences from 0 to 1 that
    OCR reports for its words; it is ``None`` if OCR did not run. ``skip`` contains the spans ``(start, end)`` of page
    headers and footers, and of headings of the next page, in ``text``; they do not become part of chunks. ``hidden`` is
    text that a reader cannot see, for example because it is white on white, outside the page or too small; it is not
    part of ``text``. ``tables`` are in
    the order of the text. ``boxes`` and ``tables`` are empty if a page is read from the database without them.
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
    tables: tuple[Table, ...] = ()
    headings: tuple[Heading, ...] | None = ()


def insert_text(page: Page, at: int, text: str) -> Page:
    """Insert a text that has no word boxes into a page at offset ``at``; no word, header or footer may end there."""

    def shift(place: int) -> int:
        return place + len(text) * (place >= at)

    boxes = page.boxes
    starts, ends = (places + len(text) * (places >= at).astype(np.int32) for places in (boxes.starts, boxes.ends))
    return replace(
        page,
        text=f"{page.text[:at]}{text}{page.text[at:]}",
        boxes=WordBoxes(starts, ends, boxes.rects),
        skip=tuple((shift(start), shift(end)) for start, end in page.skip),
        tables=tuple(table.map_offsets(shift) for table in page.tables),
        headings=tuple(Heading(shift(one.start), shift(one.end), one.path) for one in page.headings or ()),
    )


def blank_spans(text: str, spans: Iterable[Sequence[int]]) -> str:
    """Return a text of the same length with blanks in the spans."""
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


class PageHeading(NamedTuple):
    """The index, the printed number, the heading and all headings of a page; see `Page`."""

    page_index: int
    page_label: str
    heading: str
    headings: tuple[Heading, ...] | None = None


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A section in the outline of a document.

    ``level`` is 0 for the outermost sections. The section begins on the page ``page_index`` and ends on the page
    ``page_index_end``.
    """

    level: int
    title: str
    page_index: int
    page_label: str
    page_index_end: int


@dataclass(frozen=True, slots=True)
class PageReference:
    """A page of a document, with the document's name and the page's label."""

    document_id: str
    document: str
    page_index: int
    page_label: str

    @property
    def key(self) -> PageKey:
        """The document's id and the page's index, which identify the page even if the document is renamed."""
        return self.document_id, self.page_index


class DocumentAttributes(NamedTuple):
    """What the first page and the name of a document say about it, as far as they are recognized.

    ``company`` is the company that a filing is about, ``year`` the year that it covers, and ``kind`` its form, such as
    ``10-K``.
    """

    company: str = ""
    year: int | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document of the library.

    ``size`` is in bytes. ``chunks`` is the number of chunks that searches can find; it is 0 until the document is
    searchable. ``aliases`` contains further names: the same file was added from other paths. ``tags`` are the words
    that users have given the document. `DocumentAttributes` describes ``company``, ``year`` and ``kind``.
    """

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
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    company: str = ""
    year: int | None = None
    kind: str = ""

    @property
    def all_names(self) -> str:
        """The name, followed by the aliases in brackets."""
        return f"{self.name} (also {', '.join(self.aliases)})" if self.aliases else self.name


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The content of a document's file at one time.

    ``size`` is in bytes. ``is_replaced`` is true if a later file replaced the version. ``snapshots`` contains the
    names of the snapshots that contain the version. The index contains a replaced version only if a snapshot does.
    """

    version_id: str
    added_at: datetime
    size: int
    is_replaced: bool
    snapshots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteReceipt:
    """The result of a deletion: the number of deleted chunks, and what is left of the document.

    ``remaining`` maps the name of each store to the number of entries that the store still contains; 0 is expected.
    ``kept_as`` is empty, or the other name under which the document stays in the library, because only one of its
    names was removed.
    """

    document_id: str
    document: str
    chunks_removed: int
    remaining: Mapping[str, int]
    kept_as: str = ""

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
class PageView:
    """Pictures of a page for a reader.

    Attributes
    ----------
    images : tuple of PageImage
        The page; if LibreOffice drew it, the pages of its PDF that contain the highlighted words or the page.
    drawn_by : {"", "footnote", "libreoffice"}
        What laid the page out; "" if the file has pages of its own.
    reason : str
        Why LibreOffice did not draw the page; "" if it did, or if it is not used.
    is_pending : bool
        Whether LibreOffice is still converting the document.
    """

    images: tuple[PageImage, ...]
    drawn_by: Literal["", "footnote", "libreoffice"] = ""
    reason: str = ""
    is_pending: bool = False

    @property
    def highlighted(self) -> int:
        return sum(one.highlighted for one in self.images)


class HeadingLine(NamedTuple):
    """The span of a line that looks like a heading, its size in points, and whether it is bold."""

    start: int
    end: int
    size: float = 0.0
    bold: bool = False


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page that a parser process has read, before information from other pages completes it.

    ``headings`` contains the lines of ``page.text`` that look like headings. ``divided`` contains ``(hyphen offset,
    first half, second half)`` for each word that a line end divides at a hyphen, in ascending order. ``words`` contains
    each word of the page that no line end divides, once. ``paper_clips`` contains ``(number, file name, size in
    bytes)`` of each annotation that contains a file.
    """

    page: Page
    headings: tuple[HeadingLine, ...] = ()
    divided: tuple[tuple[int, str, str], ...] = ()
    words: tuple[str, ...] = ()
    paper_clips: tuple[tuple[int, str, int], ...] = ()


class VersionRow(NamedTuple):
    """A stored version of a document, with the document's name, collection, active version and source folder.

    ``generation_id`` is the index generation that contains the version; it is ``None`` while the version is in the
    queue. ``state`` is one of:

    - ``building``: the version is queued or being indexed, and no search finds it.
    - ``words``: word search finds the version, but its embeddings are not complete.
    - ``full``: indexing is complete. Searches find the version if it is active, or as of a snapshot that contains its
      content.
    - ``ended``: indexing ended before the version could become searchable.
    - ``replaced``: a version with other content replaced it. Only its file is stored.
    - ``removing``: the document is being deleted.
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
