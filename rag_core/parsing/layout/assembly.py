"""Complete pages with information from other pages: headers, footers, sections, divided words and tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from rag_core.parsing.layout.headers_footers import (
    Edges,
    HeaderHistory,
    HeadersFooters,
    find_edges,
    find_headers_footers,
)
from rag_core.parsing.layout.headings import Sections
from rag_core.parsing.layout.hyphenation import Vocabulary, join_hyphenated
from rag_core.parsing.tables.continuation import continue_tables
from rag_core.text.struck import remove_struck
from rag_core.types.documents import Page, PageState, ParsedPage

_AHEAD, _BEHIND = 4, 8


class PageAssembler:
    """Find headers, footers and the section of each page, and join the words and tables that line and page ends divide.

    Repeated headers and footers are left out of chunks. The first occurrence of a header or footer is kept, unless the
    document's ``name`` contains it.

    A page is completed after the next four pages are read, because these pages show which lines are repeated. A page
    read by OCR is completed at once, because OCR is slow and seldom reads the same header twice in the same way.
    """

    def __init__(self, sections: Sections, name: str = "") -> None:
        self._sections = sections
        self._history = HeaderHistory(name)
        self._vocabulary = Vocabulary()
        self._pending: deque[tuple[ParsedPage, Edges]] = deque()
        self._previous_edges: deque[Edges] = deque(maxlen=_BEHIND)
        self._previous: Page | None = None

    def add(self, parsed: ParsedPage) -> Iterator[Page]:
        """Take the next page, and yield the pages that can now be completed."""
        parsed = join_hyphenated(parsed, self._vocabulary)
        self._pending.append((parsed, find_edges(parsed.page.page_index, parsed.page.text)))
        ahead = 0 if parsed.page.state in (PageState.OCR, PageState.MIXED) else _AHEAD
        while len(self._pending) > ahead:
            yield self._complete_next()

    def flush(self) -> Iterator[Page]:
        """Yield the remaining pages; call it once, after the last page."""
        while self._pending:
            yield self._complete_next()

    def _complete_next(self) -> Page:
        parsed, edges = self._pending.popleft()
        page = parsed.page
        running = find_headers_footers(edges, [*self._previous_edges, *(following for _, following in self._pending)])
        if not _has_other_text(page.text, running.spans):
            running = HeadersFooters()  # keep the repeated lines of slides and forms that contain nothing else
        self._previous_edges.append(edges)
        heading = self._sections.heading(page.page_index, remove_struck(page.text), parsed.headings, running.spans)
        skip = self._history.lines_to_skip(page.page_index, running).spans
        # A table goes on across all headers and footers, including those that are kept in the text.
        bare = replace(page, skip=running.spans)
        tables = continue_tables(self._previous, bare) if self._previous else page.tables
        self._previous = replace(bare, tables=tables)
        return replace(page, skip=skip, heading=heading, tables=tables)


def _has_other_text(text: str, skip: tuple[tuple[int, int], ...]) -> bool:
    """Return whether a page has text besides its headers and footers."""
    cursor = 0
    for start, end in (*skip, (len(text), len(text))):
        if text[cursor:start].strip():
            return True
        cursor = end
    return False
