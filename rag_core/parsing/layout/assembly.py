"""Complete pages with information from other pages: headers, footers, sections, divided words and tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.parsing.layout.headers_footers import (
    Edges,
    HeaderHistory,
    HeadersFooters,
    find_edges,
    find_headers_footers,
)
from rag_core.parsing.layout.heading_paths import HeadingPaths
from rag_core.parsing.layout.headings import Sections, find_foot_headings
from rag_core.parsing.layout.hyphenation import Vocabulary, join_hyphenated
from rag_core.parsing.tables.continuation import continue_tables
from rag_core.text.mails import find_mails
from rag_core.text.struck import remove_struck
from rag_core.types.documents import WATERMARK, Heading, Page, PageState, ParsedPage, insert_text

_AHEAD, _BEHIND = 4, 8


class PageAssembler:
    """Find headers, footers and the section of each page, and join the words and tables that line and page ends divide.

    Headings at the foot of a page are left out of its chunks, and repeated in the text of the next page, because they
    are the heading of its text. Repeated headers, footers and watermarks are left out of chunks as well. The first
    occurrence of a header, footer or watermark is kept, unless the document's ``name`` contains it.

    A page is completed after the next four pages are read, because these pages show which lines are repeated. A page
    read only by OCR is completed at once, because OCR is slow and seldom reads the same header twice in the same way.

    Without ``has_running_lines``, pages have no headers and footers, and are complete.
    """

    def __init__(self, outline: Sequence[tuple[int, str]] = (), name: str = "", has_running_lines: bool = True) -> None:
        self._sections, self._paths = Sections(outline), HeadingPaths(outline)
        self._has_running_lines = has_running_lines
        self._history = HeaderHistory(name)
        self._vocabulary = Vocabulary()
        self._pending: deque[tuple[ParsedPage, Edges]] = deque()
        self._previous_edges: deque[Edges] = deque(maxlen=_BEHIND)
        self._previous: Page | None = None
        self._section = self._mail = self._foot = ""
        self._at_foot: list[Heading] = []
        self._watermarks: set[str] = set()

    def add(self, parsed: ParsedPage) -> Iterator[Page]:
        """Take the next page, and yield the pages that can now be completed."""
        self._vocabulary.add(parsed.words)
        self._pending.append((parsed, find_edges(parsed.page.page_index, parsed.page.text)))
        is_complete = parsed.page.state is PageState.OCR or not self._has_running_lines
        ahead = 0 if is_complete else _AHEAD
        while len(self._pending) > ahead:
            yield self._complete_next()

    def flush(self) -> Iterator[Page]:
        """Yield the remaining pages; call it once, after the last page."""
        while self._pending:
            yield self._complete_next()

    def _complete_next(self) -> Page:
        # Join the words late, because the next pages may contain them inside a line.
        parsed = join_hyphenated(self._pending.popleft()[0], self._vocabulary)
        if not self._has_running_lines:
            return self._find_section(parsed)
        page = parsed.page
        edges = find_edges(page.page_index, page.text)
        running = find_headers_footers(edges, [*self._previous_edges, *(following for _, following in self._pending)])
        watermark = [(len(page.text.partition(WATERMARK)[0]), len(page.text))] if WATERMARK in page.text else []
        if not _has_other_text(page.text, (*running.spans, *watermark)):
            running = HeadersFooters()  # keep the repeated lines of slides and forms that contain nothing else
        self._previous_edges.append(edges)
        # A table goes on across all headers and footers, including those that are kept in the text.
        bare = replace(page, skip=(*running.spans, *watermark))
        text = remove_struck(page.text)
        looks = tuple((one.start, one.end) for one in parsed.headings)
        foot = self._find_foot(bare, looks)
        heading = self._sections.heading(page.page_index, text, looks, running.spans, foot)
        heading = self._add_mail(heading, text)
        skip = [*self._history.lines_to_skip(page.page_index, running).spans]
        skip += [span for span in watermark if page.text[slice(*span)] in self._watermarks]
        self._watermarks.update(page.text[slice(*span)] for span in watermark)
        tables = continue_tables(self._previous, bare) if self._previous else page.tables
        self._previous = replace(bare, tables=tables)
        above = {line.literal for line in self._previous_edges[-2].top} if len(self._previous_edges) > 1 else set()
        # "Chapter 3" on page 3 looks like a header with a page number.
        titled = {
            (line.start, line.end) for line in running.top if line.is_numbered_title and line.literal not in above
        }
        outside = replace(page, text=text, skip=tuple(one for one in skip if one not in titled), tables=tables)
        headings = self._paths.find(outside, parsed.headings)
        at_foot = [one for one in headings if foot and foot[0] <= one.start < one.end]
        done = replace(
            page,
            skip=tuple(sorted([*skip, *([foot] if foot else [])])),
            heading=heading,
            tables=tables,
            headings=tuple(one for one in headings if one not in at_foot),
        )
        repeated, moved = self._foot, self._at_foot
        self._foot = page.text[slice(*foot)] if foot else ""
        self._at_foot = [one.move(-foot[0]) for one in at_foot] if foot else []
        if not repeated:
            return done
        top = max((line.end for line in running.top), default=0)
        at = len(page.text) - len(page.text[top:].lstrip())
        done = insert_text(done, at, f"{repeated}\n\n")
        return replace(done, headings=tuple(sorted([*(one.move(at) for one in moved), *(done.headings or ())])))

    def _find_section(self, parsed: ParsedPage) -> Page:
        """Return a page that is complete but for its section and headings."""
        page, text = parsed.page, remove_struck(parsed.page.text)
        looks = tuple((one.start, one.end) for one in parsed.headings)
        heading = self._add_mail(self._sections.heading(page.page_index, text, looks, (), None), text)
        headings = self._paths.find(replace(page, text=text), parsed.headings)
        return replace(page, heading=heading, headings=headings)

    def _add_mail(self, heading: str, text: str) -> str:
        """Return the heading of a page, which is that of the mail of the page before unless a section begins."""
        mail = self._mail if heading in ("", self._section) else ""
        mails = find_mails(text)
        self._section, self._mail = heading, mails[-1].heading if mails else mail
        return mail or heading

    def _find_foot(self, page: Page, headings: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
        """Return the span of the headings at the foot of a page to which the text of the next page may belong."""
        if page.width > page.height or not self._pending:  # each slide is complete
            return None
        following = self._pending[0][0]
        text = following.page.text.lstrip()
        if not text or text[0].islower():
            return None
        foot = find_foot_headings(page, headings)
        begin = len(following.page.text) - len(text)
        if foot and any(one.start <= begin < one.end for one in following.headings):
            # Above another heading, a bold line without a number is more often a signature.
            return foot if any(map(str.isdigit, page.text[slice(*foot)])) else None
        return foot


def _has_other_text(text: str, skip: tuple[tuple[int, int], ...]) -> bool:
    """Return whether a page has text besides its headers and footers."""
    cursor = 0
    for start, end in (*skip, (len(text), len(text))):
        if text[cursor:start].strip():
            return True
        cursor = end
    return False
