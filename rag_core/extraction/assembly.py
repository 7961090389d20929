"""Pages as workers read them, one by one, to pages that know their neighbours."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from rag_core.extraction.furniture import Edges, edges_of, running_spans
from rag_core.extraction.headings import Sections
from rag_core.extraction.protocol import ReadPage
from rag_core.extraction.vocabulary import Vocabulary, without_line_end_hyphens
from rag_core.types import Page, PageState

_AHEAD, _BEHIND = 4, 8


class Assembler:
    """Finds running headers and footers and each page's section, and joins the words that line ends divide.

    A page is held back until four more have been read, since only they show what repeats. Pages that went
    through OCR are let go at once: four of them take most of a minute, and their headers hardly ever read the
    same twice.
    """

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._vocabulary = Vocabulary()
        self._held: deque[tuple[ReadPage, Edges]] = deque()
        self._past: deque[Edges] = deque(maxlen=_BEHIND)

    def add(self, read: ReadPage) -> Iterator[Page]:
        """Take the next page; gives those that are ready."""
        read = without_line_end_hyphens(read, self._vocabulary)
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
        neighbours = [*self._past, *(ahead for _, ahead in self._held)]
        skip = running_spans(edges, neighbours)
        if not _rest(read.page.text, skip):
            skip = ()  # slides and forms may say nothing but the same: better twice than not at all
        self._past.append(edges)
        heading = self._sections.heading(read.page.page_index, read.page.text, read.headings, skip)
        return replace(read.page, skip=skip, heading=heading)


def _rest(text: str, skip: tuple[tuple[int, int], ...]) -> bool:
    """Whether a page says anything besides its furniture."""
    cursor = 0
    for start, end in (*skip, (len(text), len(text))):
        if text[cursor:start].strip():
            return True
        cursor = end
    return False
