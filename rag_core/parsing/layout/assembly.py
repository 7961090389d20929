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
from rag_core.text.sections import remove_spans
from rag_core.text.struck import remove_struck
from rag_core.types.documents import WATERMARK, Heading, Page, PageState, ParsedPage, insert_text

# Numbers of pages after and before a page whose lines are compared with the headers and footers of the page.
_AHEAD = 4
_BEHIND = 8


class PageAssembler:
    """Find headers, footers and the section of each page, and join words and tables that line or page ends divide.

    Call `add` for each page in order, and then `flush`.

    Headings at the foot of a page belong to the text of the next page, so they are repeated there and left out of the
    chunks of their own page. Repeated headers, footers and watermarks are left out of chunks as well, except for their
    first occurrence. Page numbers, and headers and footers with only words of ``name``, are left out at their first
    occurrence, too; see `HeaderHistory.find_lines_to_skip`.

    A page is completed after the next four pages are read, because these pages show which lines are repeated. A page
    read only by OCR is completed at once, because OCR is slow and seldom reads the same header twice in the same way.

    Parameters
    ----------
    outline : sequence of (page_index, path)
        Outline of the file.
    name : str
        Name of the document.
    has_running_lines : bool
        Whether pages may have headers, footers and headings at their foot.
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
        # The headings at the foot of the page before. Their offsets are in ``_foot``, the text of these headings.
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
            return self._add_headings(parsed)
        page = parsed.page
        edges = find_edges(page.page_index, page.text)
        running = find_headers_footers(edges, [*self._previous_edges, *(following for _, following in self._pending)])
        watermark = [(len(page.text.partition(WATERMARK)[0]), len(page.text))] if WATERMARK in page.text else []
        others = remove_spans((0, len(page.text)), (*running.spans, *watermark))
        if not any(page.text[slice(*span)].strip() for span in others):
            running = HeadersFooters()  # keep the repeated lines of slides and forms that contain nothing else
        self._previous_edges.append(edges)
        # A table continues across all headers and footers, including those that are kept in the text.
        bare = replace(page, skip=(*running.spans, *watermark))
        text = remove_struck(page.text)
        heading_spans = tuple((line.start, line.end) for line in parsed.headings)
        foot = self._find_foot(bare, heading_spans)
        heading = self._sections.find_heading(page.page_index, text, heading_spans, running.spans, foot)
        heading = self._prefer_mail_heading(heading, text)
        skip = [*self._history.find_lines_to_skip(page.page_index, running).spans]
        skip += [span for span in watermark if page.text[slice(*span)] in self._watermarks]
        self._watermarks.update(page.text[slice(*span)] for span in watermark)
        tables = continue_tables(self._previous, bare) if self._previous else page.tables
        self._previous = replace(bare, tables=tables)
        above = {line.literal for line in self._previous_edges[-2].top} if len(self._previous_edges) > 1 else set()
        # "Chapter 3" on page 3 looks like a header with a page number.
        titled = {
            (line.start, line.end) for line in running.top if line.is_numbered_title and line.literal not in above
        }
        searched = replace(page, text=text, skip=tuple(span for span in skip if span not in titled), tables=tables)
        headings = self._paths.find(searched, parsed.headings)
        at_foot = [heading for heading in headings if foot and foot[0] <= heading.start < heading.end]
        complete = replace(
            page,
            skip=tuple(sorted([*skip, *([foot] if foot else [])])),
            heading=heading,
            tables=tables,
            headings=tuple(heading for heading in headings if heading not in at_foot),
        )
        repeated, moved = self._foot, self._at_foot
        self._foot = page.text[slice(*foot)] if foot else ""
        self._at_foot = [heading.move(-foot[0]) for heading in at_foot] if foot else []
        if not repeated:
            return complete
        top = max((line.end for line in running.top), default=0)
        place = len(page.text) - len(page.text[top:].lstrip())
        complete = insert_text(complete, place, f"{repeated}\n\n")
        all_headings = [*(heading.move(place) for heading in moved), *(complete.headings or ())]
        return replace(complete, headings=tuple(sorted(all_headings)))

    def _add_headings(self, parsed: ParsedPage) -> Page:
        """Return a page without headers and footers, completed by its section and its headings."""
        page, text = parsed.page, remove_struck(parsed.page.text)
        heading_spans = tuple((line.start, line.end) for line in parsed.headings)
        section = self._sections.find_heading(page.page_index, text, heading_spans, (), None)
        headings = self._paths.find(replace(page, text=text), parsed.headings)
        return replace(page, heading=self._prefer_mail_heading(section, text), headings=headings)

    def _prefer_mail_heading(self, heading: str, text: str) -> str:
        """Return the heading of the mail that continues from the page before, or ``heading`` if there is no such mail.

        A mail ends where a new section begins.
        """
        mail = self._mail if heading in ("", self._section) else ""
        mails = find_mails(text)
        self._section, self._mail = heading, mails[-1].heading if mails else mail
        return mail or heading

    def _find_foot(self, page: Page, headings: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
        """Return the span of the headings at the foot of a page that belong to the text of the next page, if any."""
        if page.width > page.height or not self._pending:  # each slide is complete
            return None
        following = self._pending[0][0]
        text = following.page.text.lstrip()
        if not text or text[0].islower():
            return None
        foot = find_foot_headings(page, headings)
        begin = len(following.page.text) - len(text)
        if foot and any(line.start <= begin < line.end for line in following.headings):
            # Above another heading, a bold line without a number is more often a signature.
            return foot if any(map(str.isdigit, page.text[slice(*foot)])) else None
        return foot
