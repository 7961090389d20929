"""Find headers and footers: lines at the top or bottom of a page that neighbouring pages repeat."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.text.words import ALPHANUMERIC
from rag_core.types.documents import WATERMARK

# Number of lines at the top and at the bottom of a page that may be headers or footers, and their maximum length.
_EDGE_LINES = 4
_MAX_CHARACTERS = 120
_MAX_WORDS = 16
# Characters before a line end after which a sentence is complete; empty at the page edge.
_SENTENCE_ENDS = frozenset(["", "\n", *".!?:;"])
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxl]{1,7}")
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?[-–—\[(|]*\s*(?:[a-z]{1,2}-)?(?:\d{1,4}|[ivxl]{1,7})\s*[-–—\])|]*"
    r"(?:\s*(?:of|/|von|sur|de)\s*\d{1,4})?$"
)
_NUMBERED_PAGE = re.compile(r"(?:\b(?:page|seite|p[áa]gina)|[|/–—-])\s*\d+\W*$")
# Addresses and times that browsers add to printed pages, page counts, and links to the table of contents.
_ADDED = re.compile(
    r"(?:https?|file)://\S+|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},?\s+\d{1,2}:\d{2}(?:\s*[ap]m)?"
    r"|\d+\s*(?:/|of)\s*\d+|^(?:table of )?contents$"
)


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """A line near the top or bottom of a page.

    Attributes
    ----------
    start, end : int
        Span in the text of the page.
    literal : str
        The line in lower case.
    shape : str
        ``literal`` with "#" in place of each number.
    numbers : tuple of int
        The first six numbers in the line, without those of ten digits or more.
    is_page_number : bool
        Whether the line is only a page number.
    is_roman : bool
        Whether the line is a page number with letters of Roman numbers.
    is_candidate : bool
        Whether the line may be a header or footer.
    continues_sentence : bool
        Whether the line continues the sentence of the line above.
    """

    start: int
    end: int
    literal: str
    shape: str
    numbers: tuple[int, ...]
    is_page_number: bool
    is_roman: bool
    is_candidate: bool
    continues_sentence: bool

    @property
    def is_numbered_title(self) -> bool:
        """Whether the line has a number that is not a page number, as in "Chapter 3"."""
        return bool(self.numbers) and not self.is_page_number and not _NUMBERED_PAGE.search(self.literal)


@dataclass(frozen=True, slots=True)
class Edges:
    """The first lines of a page from the top down, and its last lines from the bottom up."""

    page_index: int
    top: tuple[EdgeLine, ...]
    bottom: tuple[EdgeLine, ...]


def find_edges(page_index: int, text: str) -> Edges:
    """Return at most four first and four last lines of a page, which may be headers or footers, without a watermark."""
    lines = [match for match in re.finditer(r"[^\n]+", text.partition(WATERMARK)[0]) if match[0].strip()]
    half = (len(lines) + 1) // 2
    first = lines[: min(_EDGE_LINES, half)]
    last = lines[max(half, len(lines) - _EDGE_LINES) :]
    return Edges(
        page_index,
        tuple(_parse_edge_line(match) for match in first),
        tuple(_parse_edge_line(match) for match in reversed(last)),
    )


def _parse_edge_line(match: re.Match[str]) -> EdgeLine:
    literal = " ".join(match[0].casefold().split())
    shape = _DIGITS.sub("#", literal)
    numbers = tuple(int(number) for number in _DIGITS.findall(literal)[:6] if len(number) < 10)
    is_page_number = _PAGE_NUMBER.match(literal) is not None
    is_short = len(literal) <= _MAX_CHARACTERS and len(literal.split()) <= _MAX_WORDS
    above = match.string[: match.start()]
    return EdgeLine(
        match.start(),
        match.end(),
        literal,
        shape,
        numbers,
        is_page_number,
        is_roman=is_page_number and _ROMAN.search(literal) is not None,
        # Exclude other lines with few letters, because the headers of many tables are years or figures.
        is_candidate=is_short and (is_page_number or sum(char.isalpha() for char in shape) >= 3),
        continues_sentence=match[0][:1].islower() and above[-2:-1] not in _SENTENCE_ENDS,
    )


@dataclass(frozen=True, slots=True)
class HeadersFooters:
    """The header lines and the footer lines of a page, both in order from the page edge inwards."""

    top: tuple[EdgeLine, ...] = ()
    bottom: tuple[EdgeLine, ...] = ()

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Spans of the lines in the page text, ascending."""
        return tuple(sorted({(line.start, line.end) for line in self.top + self.bottom}))


def find_headers_footers(page: Edges, neighbours: list[Edges]) -> HeadersFooters:
    """Return the headers and footers of a page: the repeated lines from the page edge to the first other line.

    Parameters
    ----------
    page : Edges
    neighbours : list of Edges
        Edges of the pages before and after ``page``.
    """
    top = [(edges.page_index - page.page_index, edges.top) for edges in neighbours]
    bottom = [(edges.page_index - page.page_index, edges.bottom) for edges in neighbours]
    footer = _find_repeated_lines(page.bottom, bottom)
    while footer and footer[-1].continues_sentence:
        footer = footer[:-1]
    return HeadersFooters(_find_repeated_lines(page.top, top), footer)


class HeaderHistory:
    """Track the headers and footers of a document, to find those that an earlier page contains.

    Parameters
    ----------
    known : str
        A text, such as the document's name. Lines that contain only words of this text are left out on every page.
    """

    def __init__(self, known: str) -> None:
        self._known = known.casefold()
        self._lines: dict[str, list[tuple[int, EdgeLine]]] = {}

    def find_lines_to_skip(self, page_index: int, running: HeadersFooters) -> HeadersFooters:
        """Return the headers and footers to leave out: the lines between the page edge and the first new line.

        A line is new if no earlier page contains it. Page numbers, and lines that have only words of ``known``, are
        never new. Call this method for every page in order, because it also remembers the other headers and footers.
        """
        return HeadersFooters(
            self._take_until_new(page_index, running.top), self._take_until_new(page_index, running.bottom)
        )

    def _take_until_new(self, page_index: int, lines: tuple[EdgeLine, ...]) -> tuple[EdgeLine, ...]:
        """Return the lines before the first new line, and remember the others."""
        new = (number for number, line in enumerate(lines) if self._is_new(page_index, line))
        first = next(new, len(lines))
        for line in lines[first:]:
            self._lines.setdefault(line.shape, []).append((page_index, line))
        return lines[:first]

    def _is_new(self, page_index: int, line: EdgeLine) -> bool:
        words = ALPHANUMERIC.findall(_ADDED.sub("", line.literal))
        if line.is_page_number or all(word in self._known for word in words if word != str(page_index + 1)):
            return False
        earlier = self._lines.get(line.shape, ())
        return not any(_is_repeated(line, (other,), index - page_index) for index, other in earlier)


def _find_repeated_lines(
    lines: tuple[EdgeLine, ...], neighbours: list[tuple[int, tuple[EdgeLine, ...]]]
) -> tuple[EdgeLine, ...]:
    """Return the lines before the first line that too few neighbouring pages repeat.

    ``neighbours`` contains for each of these pages its distance in pages, which is negative for a page before, and its
    lines.
    """
    for number, line in enumerate(lines):
        repeats = sum(_is_repeated(line, others, distance) for distance, others in neighbours)
        if repeats < _choose_least_repeats(line, len(neighbours)):
            return lines[:number]
    return lines


def _choose_least_repeats(line: EdgeLine, page_count: int) -> int:
    """Return on how many of the neighbouring pages a header or footer must be repeated."""
    if page_count == 0:
        # On the only page of a document, the page number 1 needs no repetition.
        return int(not line.is_page_number or line.numbers != (1,))
    if page_count <= 2:
        return page_count
    # The title of a table that continues for three pages is not a header. A number that increases by one on each page
    # is almost always a page number.
    return 2 if line.is_page_number else min(4, page_count - 1)


def _is_repeated(line: EdgeLine, others: tuple[EdgeLine, ...], distance: int) -> bool:
    """Return whether the lines ``others`` of a page contain the same line, except for the page number.

    The page is ``distance`` pages after the page of the line.
    """
    if not line.is_candidate:
        return False
    if line.is_roman and not line.numbers:
        return any(other.is_roman for other in others)
    return any(
        other.shape == line.shape
        and len(other.numbers) == len(line.numbers)
        and all(there - here in (0, distance) for here, there in zip(line.numbers, other.numbers, strict=True))
        for other in others
    )
