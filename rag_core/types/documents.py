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

# The id of a document or version, and the index of one of its pages.
PageKey = tuple[str, int]
# Struck-out words in the text of a page. The parser writes ``~~`` around them and removes other double tildes.
STRUCK = re.compile(r"~~([^\n\f]+?)~~")
# Character before the text of a watermark, which is at the end of the text of a page.
WATERMARK = "\v"

# What to do with a file that has the name of a document but other content. ``replace``: add it as a new version of the
# document. ``keep``: add it as a second document.
SameName = Literal["replace", "keep"]
# The collection of documents that are added without the name of a collection.
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

    - ``partial``: some pages failed or have no text; the document's reason says which pages.
    - ``rejected``: the file cannot be used, for example because it is encrypted, empty, too large or of an unknown
      format.
    - ``failed``: an error of this program prevented indexing.
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
        The rectangle ``x0, y0, x1, y1`` of each word, from the top-left corner of the displayed page, in fractions of
        the page's width and height.
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

    The path joins the titles of the enclosing headings and of the heading itself with `HEADING_SEPARATOR`. The span is
    empty if the heading is a PDF bookmark whose title is not on the page.
    """

    start: int
    end: int
    path: str

    @property
    def level(self) -> int:
        """Number of enclosing headings."""
        return self.path.count(HEADING_SEPARATOR)

    @property
    def title(self) -> str:
        return self.path.rpartition(HEADING_SEPARATOR)[2]

    def move(self, distance: int) -> Heading:
        """Return the heading with offsets that are increased by a distance."""
        return Heading(self.start + distance, self.end + distance, self.path)


@dataclass(frozen=True, slots=True)
class Page:
    """The extracted content of a page.

    Attributes
    ----------
    page_index : int
        Position of the page in the document, from 0.
    page_label : str
        Page number as printed, such as "iv".
    text : str
    state : PageState
    width, height : float
        Size of the displayed page in points (1/72 inch).
    heading : str
        Path of the section in which the page starts, or of a heading on the page; may be empty.
    reason : str
        Explains the state, for example why the page failed; may be empty.
    confidence : float or None
        Mean of the confidences from 0 to 1 that OCR reports for words; ``None`` if OCR did not run.
    boxes : WordBoxes
        Empty if the page was read from the database without them.
    skip : tuple of (int, int)
        Spans in ``text`` that do not become part of chunks: page headers and footers, and headings of the next page.
    hidden : str
        Text that a reader cannot see, for example because it is white on white, outside the page or too small. It is
        not part of ``text``.
    tables : tuple of Table
        In the order of the text; empty if the page was read from the database without them.
    headings : tuple of Heading or None
        In the order of the text; ``None`` if an earlier release, which did not store them, read the page.
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
    """Return a page with a text inserted at offset ``at``, where no word, header or footer may end.

    The inserted text has no word boxes.
    """

    def shift(offset: int) -> int:
        return offset + len(text) * (offset >= at)

    boxes = page.boxes
    starts, ends = (offsets + len(text) * (offsets >= at).astype(np.int32) for offsets in (boxes.starts, boxes.ends))
    return replace(
        page,
        text=f"{page.text[:at]}{text}{page.text[at:]}",
        boxes=WordBoxes(starts, ends, boxes.rects),
        skip=tuple((shift(start), shift(end)) for start, end in page.skip),
        tables=tuple(table.map_offsets(shift) for table in page.tables),
        headings=tuple(Heading(shift(one.start), shift(one.end), one.path) for one in page.headings or ()),
    )


def blank_spans(text: str, spans: Iterable[Sequence[int]]) -> str:
    """Return a text with each character of the spans replaced by a blank."""
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


class PageHeading(NamedTuple):
    """The index, the label and the headings of a page; see `Page`."""

    page_index: int
    page_label: str
    heading: str
    headings: tuple[Heading, ...] | None = None


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A section in the outline of a document.

    ``level`` is 0 for the outermost sections. The section begins on the page ``page_index``, whose label is
    ``page_label``, and ends on the page ``page_index_end``.
    """

    level: int
    title: str
    page_index: int
    page_label: str
    page_index_end: int


@dataclass(frozen=True, slots=True)
class PageReference:
    """A page of a document, with the name of the document and the label of the page for display."""

    document_id: str
    document: str
    page_index: int
    page_label: str

    @property
    def key(self) -> PageKey:
        """The id of the document and the index of the page."""
        return self.document_id, self.page_index


class DocumentAttributes(NamedTuple):
    """Attributes of a financial filing, recognized in its name and on its first page.

    ``company`` is the company that the filing is about, ``year`` the year of the date on its cover, and ``kind`` the
    form, such as ``10-K``. Other documents have at most a ``year``, which is in their file name.
    """

    company: str = ""
    year: int | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document of the library.

    Attributes
    ----------
    version_id : str
        The active version of the document.
    reason : str
        Explains a status other than ``indexed``.
    pages, pages_text, pages_ocr, pages_empty, pages_failed : int
        Number of pages: all, with a text layer, read by OCR, without text, and failed.
    chunks : int
        Number of chunks that searches can find; 0 until the document is searchable.
    size : int
        Size of the file in bytes.
    needs_password : bool
    aliases : tuple of str
        Other names under which the same file was added.
    tags : tuple of str
        Words with which users have tagged the document.
    company, year, kind
        See `DocumentAttributes`.
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
    """A version of a document: the file that was added at ``added_at``.

    ``size`` is in bytes. ``is_replaced`` is true if a later version replaced this one. ``snapshots`` contains the names
    of the snapshots that contain the version. A replaced version is searchable only through a snapshot.
    """

    version_id: str
    added_at: datetime
    size: int
    is_replaced: bool
    snapshots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteReceipt:
    """The result of deleting a document.

    ``remaining`` maps the name of each store to the number of entries of the document that the store still contains; 0
    is expected. If the document has several names, only one name is removed; ``kept_as`` is then its other name, and
    otherwise empty.
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
    """A page as a PNG image, with its size in pixels and the number of highlighted words."""

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
        What laid the page out; "" if the file has pages.
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
    """A line that looks like a heading: its span in the text of the page, its font size in points, and its weight."""

    start: int
    end: int
    size: float = 0.0
    bold: bool = False


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page as a parser process reads it, without the information that follows from other pages.

    Attributes
    ----------
    page : Page
    headings : tuple of HeadingLine
        Lines of the page that look like headings.
    divided : tuple of (int, str, str)
        Hyphen offset, first half and second half of each word that is hyphenated at a line end, in ascending order.
    words : tuple of str
        The distinct words that are not hyphenated at a line end.
    paper_clips : tuple of (int, str, int)
        Number, file name and size in bytes of each file that is attached to the page as an annotation.
    """

    page: Page
    headings: tuple[HeadingLine, ...] = ()
    divided: tuple[tuple[int, str, str], ...] = ()
    words: tuple[str, ...] = ()
    paper_clips: tuple[tuple[int, str, int], ...] = ()


class VersionRow(NamedTuple):
    """A stored version of a document. The last four fields belong to the document.

    ``generation_id`` is the index generation that contains the version; it is ``None`` while the version is queued.
    ``folder`` is the folder or archive from which the file was added; it is empty for an upload in the browser, and
    ``None`` if an earlier release added the file. ``state`` is one of:

    - ``building``: the version is queued or being indexed, and no search finds it.
    - ``words``: word search finds the version, but its embeddings are not complete.
    - ``full``: indexing is complete. Searches find the version if it is the active one, or if they search a snapshot
      that contains its content.
    - ``ended``: indexing ended before the version could become searchable.
    - ``replaced``: another version replaced it. Only its file is stored.
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
