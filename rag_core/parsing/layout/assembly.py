"""Pages as workers read them, one by one, to pages that know their neighbours."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from rag_core.parsing.layout.headers_footers import Edges, HeaderHistory, HeadersFooters, edges_of, find_headers_footers
from rag_core.parsing.layout.headings import Sections
from rag_core.parsing.layout.hyphenation import Vocabulary, join_hyphenated
from rag_core.types import Page, PageState
from rag_core.types.documents import ParsedPage

_AHEAD, _BEHIND = 4, 8


class PageAssembler:
    """Finds running headers and footers and each page's section, and joins the words that line ends divide.

    Headers and footers are left out where they repeat: of what they say, the first page keeps what the document's
    ``name`` does not.

    A page is held back until four more have been read, since only they show what repeats. Pages that went
    through OCR are let go at once: four of them take most of a minute, and their headers hardly ever read the
    same twice.
    """

    def __init__(self, sections: Sections, name: str = "") -> None:
        self._sections = sections
        self._told = HeaderHistory(name)
        self._vocabulary = Vocabulary()
        self._held: deque[tuple[ParsedPage, Edges]] = deque()
        self._past: deque[Edges] = deque(maxlen=_BEHIND)

    def add(self, read: ParsedPage) -> Iterator[Page]:
        """Take the next page; gives those that are ready."""
        read = join_hyphenated(read, self._vocabulary)
        self._held.append((read, edges_of(read.page.page_index, read.page.text)))
        ahead = 0 if read.page.state in (PageState.OCR, PageState.MIXED) else _AHEAD
        while len(self._held) > ahead:
            yield self._release()

    def flush(self) -> Iterator[Page]:
        """Gives the pages still held; no other follows."""
        while self._held:
            yield self._release()

    def _release(self) -> Page:
        read, edges = self._held.popleft()
        page = read.page
        running = find_headers_footers(edges, [*self._past, *(ahead for _, ahead in self._held)])
        if not _rest(page.text, running.spans):
            running = HeadersFooters()  # slides and forms may say nothing but the same: better twice than not at all
        self._past.append(edges)
        heading = self._sections.heading(page.page_index, page.text, read.headings, running.spans)
        skip = self._told.left_out(page.page_index, running).spans
        return replace(page, skip=skip, heading=heading)


def _rest(text: str, skip: tuple[tuple[int, int], ...]) -> bool:
    """Whether a page says anything besides its furniture."""
    cursor = 0
    for start, end in (*skip, (len(text), len(text))):
        if text[cursor:start].strip():
            return True
        cursor = end
    return False
