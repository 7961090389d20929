"""Places of documents that questions name, such as a page or a section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rag_core.types.tables import Span

PlaceKind = Literal["page", "section", "article", "chapter", "part", "annex", "item", "note", "table", "figure"]


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """The words of a question that name a place.

    Attributes
    ----------
    kind : PlaceKind
    labels : tuple of str
        The numbers of the places, as in ``("3", "4")`` for "pages 3 and 4"; empty if there is a ``position``.
    position : int or None
        0 for the first page, 1 for the second, and -1 for the last.
    noun : str
        The noun as written.
    start, end : int
        Character span in the question.
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
        The page, as in "page 6", or the heading of the section.
    document, document_id, version_id : str
    spans : mapping of int to Span
        Where the text of each page belongs to the place, by the index of the page, in order.
    page_labels : mapping of int to str
        The printed numbers of the pages of the document.
    """

    name: str
    document: str
    document_id: str
    version_id: str
    spans: Mapping[int, Span]
    page_labels: Mapping[int, str]

    @property
    def title(self) -> str:
        """The name with the document and the pages."""
        if len(self.page_labels) == 1:
            return f"{self.document}, {self.name}"
        labels = [self.page_labels[page] for page in self.spans]
        pages = f"page {labels[0]}" if len(labels) == 1 else f"pages {labels[0]} to {labels[-1]}"
        return f"{self.document}, “{self.name}” ({pages})"

    def overlaps(self, version_id: str, page_index: int, start: int, end: int) -> bool:
        """Return whether a span of a page has text in common with the place."""
        first, last = self.spans.get(page_index, (0, 0)) if version_id == self.version_id else (0, 0)
        return start < last and first < end


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """The places that a question names; ``is_whole`` is true if it asks only for their text."""

    places: tuple[Place, ...]
    is_whole: bool
