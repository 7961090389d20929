"""Running headers and footers: lines at the edge of a page that its neighbours repeat."""

from __future__ import annotations

import re
from dataclasses import dataclass

_EDGE_LINES = 4
_LONGEST = 120
_MOST_WORDS = 16
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxl]{1,7}")
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?[-–—\[(|]*\s*(?:[a-z]{1,2}-)?(?:\d{1,4}|[ivxl]{1,7})\s*[-–—\])|]*"
    r"(?:\s*(?:of|/|von|sur|de)\s*\d{1,4})?$"
)


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """A line near the top or bottom of a page: where it stands, what it says, and the shape of that.

    ``shape`` is the text with every number replaced; ``numbers`` are the numbers.
    """

    start: int
    end: int
    literal: str
    shape: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edges:
    """The first lines of a page, downwards, and its last lines, upwards."""

    page_index: int
    top: tuple[EdgeLine, ...]
    bottom: tuple[EdgeLine, ...]


def edges_of(page_index: int, text: str) -> Edges:
    """The lines of a page in which furniture is looked for."""
    lines = [match for match in re.finditer(r"[^\n]+", text) if match[0].strip()]
    half = (len(lines) + 1) // 2
    first = lines[: min(_EDGE_LINES, half)]
    last = lines[max(half, len(lines) - _EDGE_LINES) :]
    return Edges(
        page_index,
        tuple(_edge_line(match) for match in first),
        tuple(_edge_line(match) for match in reversed(last)),
    )


def _edge_line(match: re.Match[str]) -> EdgeLine:
    literal = " ".join(match[0].casefold().split())
    numbers = tuple(int(number) for number in _DIGITS.findall(literal)[:6] if len(number) < 10)
    return EdgeLine(match.start(), match.end(), literal, _DIGITS.sub("#", literal), numbers)


def running_spans(page: Edges, neighbours: list[Edges]) -> tuple[tuple[int, int], ...]:
    """Spans of a page's lines that are furniture.

    Parameters
    ----------
    page : Edges
    neighbours : list of Edges
        Of the pages around it, without it.

    Returns
    -------
    tuple of (start, end)
        Ascending. Only lines without another line between them and the edge of the page count.
    """
    top = [(edges.page_index - page.page_index, edges.top) for edges in neighbours]
    bottom = [(edges.page_index - page.page_index, edges.bottom) for edges in neighbours]
    return tuple(sorted({*_running(page.top, top), *_running(page.bottom, bottom)}))


def _running(lines: tuple[EdgeLine, ...], others: list[tuple[int, tuple[EdgeLine, ...]]]) -> list[tuple[int, int]]:
    spans = []
    for line in lines:
        repeats = sum(_repeats(line, other, distance) for distance, other in others)
        if repeats < _needed(line, len(others)):
            break
        spans.append((line.start, line.end))
    return spans


def _needed(line: EdgeLine, others: int) -> int:
    # The title of a table that goes on for three pages is no running header; a number that counts the pages
    # hardly ever is anything else.
    if others <= 2:
        return max(others, 1)
    return 2 if _PAGE_NUMBER.match(line.literal) else min(4, others - 1)


def _repeats(line: EdgeLine, others: tuple[EdgeLine, ...], distance: int) -> bool:
    """Whether a page ``distance`` pages away has the line, with nothing but its page number changed."""
    if len(line.literal) > _LONGEST or len(line.literal.split()) > _MOST_WORDS:
        return False
    if not line.numbers and _PAGE_NUMBER.match(line.literal) and _ROMAN.search(line.literal):
        return any(_PAGE_NUMBER.match(other.literal) and _ROMAN.search(other.literal) for other in others)
    if sum(char.isalpha() for char in line.shape) < 3 and not _PAGE_NUMBER.match(line.literal):
        return False  # a row of years or figures heads many tables
    return any(
        other.shape == line.shape
        and len(other.numbers) == len(line.numbers)
        and all(there - here in (0, distance) for here, there in zip(line.numbers, other.numbers, strict=True))
        for other in others
    )
