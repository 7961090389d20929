"""Lines that look like headings, and from them or the outline the section that a page begins in."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from statistics import median

from rag_core.extraction.lines import Line

LONGEST = 80
_LARGER = 1.12
_NUMBERED = re.compile(
    r"^(?:(?:item|part|chapter|section|note|article|exhibit|appendix|schedule|annex|kapitel|chapitre)\s+"
    r"[\divxlca]+[a-z]?\b|\d+(?:\.\d+){1,3}\.?\s+[A-Z])",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]")
_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}|\s\d{1,4}$")
_TOP_LINES = 6
_SEPARATOR = " › "


def heading_lines(lines: list[Line], spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans of the headings among the lines of a page, ascending; a heading over two lines is one span."""
    if not lines:
        return ()
    sizes = [line.size for line in lines for _ in range(max(len(line.text) // 8, 1))]
    body = median(sizes)
    bold = sum(len(line.text) for line in lines if line.bold) > 0.5 * sum(len(line.text) for line in lines)
    found: list[tuple[int, int]] = []
    last = -2
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else None
        if not _is_heading(line, following, body, bold):
            continue
        same = number == last + 1 and _alike(lines[last], line)
        if same and spans[number][1] - found[-1][0] <= 2 * LONGEST:
            found[-1] = (found[-1][0], spans[number][1])
        else:
            found.append(spans[number])
        last = number
    return tuple(found)


def _is_heading(line: Line, following: Line | None, body: float, all_bold: bool) -> bool:
    text = line.text
    letters = _LETTERS.findall(text)
    if not 3 <= len(text) <= 120 or len(letters) < 3 or len(letters) < 0.5 * len(text.replace(" ", "")):
        return False
    if line.tabular or text.endswith((",", ";")) or _LEADERS.search(text) or text[0].islower():
        return False
    if following is not None and following.tabular and line.size <= _LARGER * body:
        return False
    if _NUMBERED.match(text) and len(text) <= LONGEST and not text.endswith("."):
        return True
    if text.endswith(".") and not text.isupper():
        return False
    if body and line.size >= _LARGER * body:
        return True
    if line.bold and not all_bold:
        return True
    return text.isupper() and len(text.split()) >= 2 and len(text) <= LONGEST


def _alike(first: Line, second: Line) -> bool:
    near = second.box[3] - first.box[3] < 1.8 * max(second.size, 1.0)
    return near and abs(first.size - second.size) < 0.5 and first.bold == second.bold


def shorten(heading: str) -> str:
    """At most `LONGEST` characters: a path loses its outer parts first, then its end."""
    parts = " ".join(heading.split()).split(_SEPARATOR)
    while len(parts) > 1 and len(_SEPARATOR.join(parts)) > LONGEST:
        parts.pop(0)
    text = _SEPARATOR.join(parts)
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


class Sections:
    """The section each page begins in; pages are asked for in order.

    Parameters
    ----------
    outline : tuple of (page_index, path)
        Of the file; one that names fewer than two places says no more than the title, and is left aside.
    """

    def __init__(self, outline: tuple[tuple[int, str], ...] = ()) -> None:
        useful = len({title for _, title in outline}) > 1
        entries = sorted(outline, key=lambda entry: entry[0]) if useful else []
        self._pages = [index for index, _ in entries]
        self._titles = [title for _, title in entries]
        self._current = ""

    def heading(
        self,
        page_index: int,
        text: str,
        headings: tuple[tuple[int, int], ...],
        skip: tuple[tuple[int, int], ...],
    ) -> str:
        """Heading of a page from the outline, its own first lines, or the page before it."""
        own = [span for span in headings if not any(start <= span[0] < end for start, end in skip)]
        before, self._current = self._current, (_flat(text, own[-1]) if own else self._current)
        if self._pages:
            return shorten(self._from_outline(page_index))
        if own and (not before or own[0][0] <= _top_end(text, skip)):
            return shorten(_flat(text, own[0]))
        return shorten(before)

    def _from_outline(self, page_index: int) -> str:
        first = bisect_left(self._pages, page_index)
        if first < len(self._pages) and self._pages[first] == page_index:
            return self._titles[first]
        last = bisect_right(self._pages, page_index) - 1
        return self._titles[last] if last >= 0 else ""


def _flat(text: str, span: tuple[int, int]) -> str:
    return " ".join(text[span[0] : span[1]].split())


def _top_end(text: str, skip: tuple[tuple[int, int], ...]) -> int:
    """Offset at which the first lines of the page, running headers aside, end."""
    kept = [
        match.start()
        for match in re.finditer(r"[^\n]+", text)
        if not any(start <= match.start() < end for start, end in skip)
    ]
    return kept[min(_TOP_LINES, len(kept)) - 1] if kept else 0
