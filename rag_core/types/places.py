"""Places in documents that questions name, such as a page or a section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rag_core.types.tables import Span

PlaceKind = Literal["page", "section", "article", "chapter", "part", "annex", "item", "note", "table", "figure"]


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """The words of a question that name one or more places of a kind.

    Attributes
    ----------
    kind : PlaceKind
    labels : tuple of str
        The numbers of the places, such as ``("3", "4")`` for "pages 3 to 4"; empty for a place that the question names
        by an ordinal or by its title.
    position : int or None
        For "the first page" 0, for "the second page" 1, for "the last page" -1; ``None`` without an ordinal.
    noun : str
        The noun as it is written, such as "pages"; with an ordinal, the ``kind``.
    start, end : int
        Character span of the words in the question.
    """

    kind: PlaceKind
    labels: tuple[str, ...]
    position: int | None
    noun: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a document.

    Attributes
    ----------
    name : str
        The heading of a section, or the name of a page, such as "page 6".
    document, document_id, version_id : str
    spans : mapping of int to Span
        The part of each page's text that belongs to the place, by page index, ascending.
    page_labels : mapping of int to str
        The printed numbers of all pages of the document, by page index.
    """

    name: str
    document: str
    document_id: str
    version_id: str
    spans: Mapping[int, Span]
    page_labels: Mapping[int, str]

    @property
    def title(self) -> str:
        """The name of the place with its document and pages."""
        if len(self.page_labels) == 1:
            return f"{self.document}, {self.name}"
        labels = [self.page_labels[page] for page in self.spans]
        pages = f"page {labels[0]}" if len(labels) == 1 else f"pages {labels[0]} to {labels[-1]}"
        return f"{self.document}, “{self.name}” ({pages})"

    def overlaps(self, version_id: str, page_index: int, start: int, end: int) -> bool:
        """Return whether a span of a page's text overlaps the place."""
        first, last = self.spans.get(page_index, (0, 0)) if version_id == self.version_id else (0, 0)
        return start < last and first < end


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """The places that a question names; ``is_whole`` is true if the question asks for their whole text."""

    places: tuple[Place, ...]
    is_whole: bool
