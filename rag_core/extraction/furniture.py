"""Running headers and footers: lines at the edge of a page that its neighbours repeat."""

from __future__ import annotations

import re
from dataclasses import dataclass

_EDGE_LINES = 4
_LONGEST = 160
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?[-–—\[(|]*\s*(?:[a-z]{1,2}-)?(?:\d{1,4}|[ivxl]{1,7})\s*[-–—\])|]*(?:\s*(?:of|/|von|sur|de)\s*\d{1,4})?$"
)


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """A line near the top or bottom of a page: where it stands, what it says, and the shape of that.

    ``shape`` is the text with every number replaced, so that "Page 3 of 9" equals "Page 4 of 9".
    """

    start: int
    end: int
    literal: str
    shape: str


@dataclass(frozen=True, slots=True)
class Edges:
    """The first lines of a page, downwards, and its last lines, upwards."""

    top: tuple[EdgeLine, ...]
    bottom: tuple[EdgeLine, ...]


def edges_of(text: str) -> Edges:
    """The lines of a page in which furniture is looked for."""
    lines = [match for match in re.finditer(r"[^\n]+", text) if match[0].strip()]
    half = (len(lines) + 1) // 2
    top = tuple(_edge_line(match) for match in lines[: min(_EDGE_LINES, half)])
    last = lines[max(half, len(lines) - _EDGE_LINES) :]
    return Edges(top, tuple(_edge_line(match) for match in reversed(last)))


def _edge_line(match: re.Match[str]) -> EdgeLine:
    literal = " ".join(match[0].casefold().split())
    shape = "#" if _PAGE_NUMBER.match(literal) else _DIGITS.sub("#", literal)
    return EdgeLine(match.start(), match.end(), literal, shape)


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
    spans = _running(page.top, [edges.top for edges in neighbours])
    spans += _running(page.bottom, [edges.bottom for edges in neighbours])
    return tuple(sorted(set(spans)))


def _running(lines: tuple[EdgeLine, ...], others: list[tuple[EdgeLine, ...]]) -> list[tuple[int, int]]:
    # Two more pages that say the same, or one where the document is so short that there are no more than two.
    needed = 2 if len(others) > 2 else 1
    spans = []
    for line in lines:
        if sum(_repeats(line, other) for other in others) < needed:
            break
        spans.append((line.start, line.end))
    return spans


def _repeats(line: EdgeLine, others: tuple[EdgeLine, ...]) -> bool:
    if len(line.literal) > _LONGEST or not others:
        return False
    if line.shape == "#":
        # A page number changes; a figure that is the same on every page is not one, but is furniture too.
        return any(other.shape == "#" for other in others[:2])
    letters = sum(char.isalpha() for char in line.shape)
    if letters < 3:  # a row of years or figures heads many tables
        return False
    return any(
        other.literal == line.literal or (other.shape == line.shape and letters >= 4) for other in others
    )
