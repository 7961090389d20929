"""Find headers and footers: lines at the top or bottom of a page that neighbouring pages repeat."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.text.words import ALPHANUMERIC
from rag_core.types.documents import WATERMARK

_EDGE_LINES = 4
_MAX_CHARS = 120
_MAX_WORDS = 16
# A line that ends in one of these characters, or is followed by a blank line, ends a sentence; so does the page edge.
_ENDS = frozenset(["", "\n", *".!?:;"])
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxl]{1,7}")
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?[-–—\[(|]*\s*(?:[a-z]{1,2}-)?(?:\d{1,4}|[ivxl]{1,7})\s*[-–—\])|]*"
    r"(?:\s*(?:of|/|von|sur|de)\s*\d{1,4})?$"
)
_NUMBERED_PAGE = re.compile(r"(?:\b(?:page|seite|p[áa]gina)|[|/–—-])\s*\d+\W*$")
# Text that browsers add to printed pages (address and time), page counts, and links to the table of contents.
_PRINTED = re.compile(
    r"(?:https?|file)://\S+|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},?\s+\d{1,2}:\d{2}(?:\s*[ap]m)?"
    r"|\d+\s*(?:/|of)\s*\d+|^(?:table of )?contents$"
)


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """A line near the top or bottom of a page.

    ``literal`` is the text of the line in lower case. ``shape`` is ``literal`` with "#" in place of every number, and
    ``numbers`` contains these numbers. ``counts`` says that the line is only a page number, and ``roman`` that this
    page number is Roman. Only a line with ``is_candidate`` can be a header or footer. ``goes_on`` says that the line
    continues the sentence of the line above.
    """

    start: int
    end: int
    literal: str
    shape: str
    numbers: tuple[int, ...]
    counts: bool
    roman: bool
    is_candidate: bool
    goes_on: bool

    @property
    def is_numbered_title(self) -> bool:
        """Whether the line has a number that is not marked as that of a page."""
        return bool(self.numbers) and not self.counts and not _NUMBERED_PAGE.search(self.literal)


@dataclass(frozen=True, slots=True)
class Edges:
    """The first lines of a page from the top down, and its last lines from the bottom up."""

    page_index: int
    top: tuple[EdgeLine, ...]
    bottom: tuple[EdgeLine, ...]


def find_edges(page_index: int, text: str) -> Edges:
    """Return the first and last lines of a page, which may be headers or footers; a watermark is neither."""
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
    counts = _PAGE_NUMBER.match(literal) is not None
    roman = counts and _ROMAN.search(literal) is not None
    short = len(literal) <= _MAX_CHARS and len(literal.split()) <= _MAX_WORDS
    above = match.string[: match.start()]
    goes_on = match[0][:1].islower() and above[-2:-1] not in _ENDS
    # Exclude lines with few letters, except page numbers, because the head of many tables is a row of years or figures.
    is_candidate = short and (counts or sum(char.isalpha() for char in shape) >= 3)
    return EdgeLine(match.start(), match.end(), literal, shape, numbers, counts, roman, is_candidate, goes_on)


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
    """Return the headers and footers of a page: repeated lines without any other line between them and the page edge.

    Parameters
    ----------
    page : Edges
    neighbours : list of Edges
        Edges of the pages before and after ``page``.
    """
    top = [(edges.page_index - page.page_index, edges.top) for edges in neighbours]
    bottom = [(edges.page_index - page.page_index, edges.bottom) for edges in neighbours]
    footer = _repeated_lines(page.bottom, bottom)
    while footer and footer[-1].goes_on:
        footer = footer[:-1]
    return HeadersFooters(_repeated_lines(page.top, top), footer)


class HeaderHistory:
    """Track the headers and footers of a document, to leave out those that an earlier page contains.

    Parameters
    ----------
    known : str
        Text, such as the document's name. Lines that contain only words of this text are left out on every page.
    """

    def __init__(self, known: str) -> None:
        self._known = known.casefold()
        self._lines: dict[str, list[tuple[int, EdgeLine]]] = {}

    def lines_to_skip(self, page_index: int, running: HeadersFooters) -> HeadersFooters:
        """Return the headers and footers to leave out: the lines between the page edge and the first new line.

        A line is new if no earlier page contains it, unless it is a page number or has only words of ``known``.
        """
        return HeadersFooters(
            self._lines_before_new(page_index, running.top), self._lines_before_new(page_index, running.bottom)
        )

    def _lines_before_new(self, page_index: int, lines: tuple[EdgeLine, ...]) -> tuple[EdgeLine, ...]:
        new = (number for number, line in enumerate(lines) if self._is_new(page_index, line))
        first = next(new, len(lines))
        for line in lines[first:]:
            self._lines.setdefault(line.shape, []).append((page_index, line))
        return lines[:first]

    def _is_new(self, page_index: int, line: EdgeLine) -> bool:
        words = ALPHANUMERIC.findall(_PRINTED.sub("", line.literal))
        if line.counts or all(word in self._known for word in words if word != str(page_index + 1)):
            return False
        earlier = self._lines.get(line.shape, ())
        return not any(_is_repeated(line, (other,), index - page_index) for index, other in earlier)


def _repeated_lines(
    lines: tuple[EdgeLine, ...], others: list[tuple[int, tuple[EdgeLine, ...]]]
) -> tuple[EdgeLine, ...]:
    for number, line in enumerate(lines):
        repeats = sum(_is_repeated(line, other, distance) for distance, other in others)
        if repeats < _repeats_needed(line, len(others)):
            return lines[:number]
    return lines


def _repeats_needed(line: EdgeLine, others: int) -> int:
    # Require several repeats, because the title of a table that continues for three pages is not a header. Fewer
    # repeats are enough for a number that increases by one on each page, because it is almost always a page number.
    if others <= 2:
        # The only page has the number 1.
        return others or int(not line.counts or line.numbers != (1,))
    return 2 if line.counts else min(4, others - 1)


def _is_repeated(line: EdgeLine, others: tuple[EdgeLine, ...], distance: int) -> bool:
    """Return whether a page ``distance`` pages away has the same line, except for the page number.

    ``others`` contains the lines of that page.
    """
    if not line.is_candidate:
        return False
    if line.roman and not line.numbers:
        return any(other.roman for other in others)
    return any(
        other.shape == line.shape
        and len(other.numbers) == len(line.numbers)
        and all(there - here in (0, distance) for here, there in zip(line.numbers, other.numbers, strict=True))
        for other in others
    )
