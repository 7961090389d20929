"""Find the headings of a page, and the section in which the page begins, from the headings or the outline."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from statistics import median

from rag_core.parsing.layout.lines import Line
from rag_core.text.outline import MAX_HEADING, shorten_heading
from rag_core.text.sentences import SECTION_LABEL
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import HeadingLine, Page, blank_spans
from rag_core.types.tables import Span

_MAX_CHARACTERS = 110
# A heading is larger than the usual text by at least this factor, unless it is bold, numbered or in capitals.
_LARGER = 1.12
_NUMBERED = re.compile(
    r"^(?:(?:item|part|chapter|section|note|article|exhibit|appendix|schedule|annex|kapitel|chapitre)\s+"
    r"[\divxlca]+[a-z]?\b|\d+(?:\.\d+){1,3}\.?\s+[A-Z])",
    re.IGNORECASE,
)
_NO_LETTERS = re.compile(r"[\W\d_]+")
# Maximum number of characters between a label, such as "Note 12", and the rest of the heading below.
_MAX_BELOW_LABEL = 80
# A heading in one of the first lines is the heading of the whole page.
_TOP_LINES = 6
# On a page with at most this many lines, a heading may be most of the text.
_FEW_LINES = 12
_MIN_ROW_CELLS = 3
# More headings at the foot of a page are a list or an address.
_MAX_FOOT_HEADINGS = 2


def find_headings(lines: list[Line], spans: list[tuple[int, int]]) -> tuple[HeadingLine, ...]:
    """Return the headings of a page in order; a heading of several lines has one span.

    ``spans`` contains the start and the end of each line in the text of the page. Headings of more than
    ``_MAX_CHARACTERS`` characters are left out.
    """
    if not lines:
        return ()
    body, bold = _measure_style(lines)
    # The numbers of the first and the last line of each heading.
    headings: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        if 1 < len(lines) <= _FEW_LINES:
            body, bold = _measure_style(lines[:number] + lines[number + 1 :])
        if not _is_heading(line, body, bold):
            continue
        continues = headings and number == headings[-1][1] + 1 and _continues_heading(lines[number - 1], line)
        if continues and spans[number][1] - spans[headings[-1][0]][0] <= 2 * MAX_HEADING:
            headings[-1] = (headings[-1][0], number)
        else:
            headings.append((number, number))
    found = (
        HeadingLine(spans[first][0], spans[last][1], round(lines[first].size, 1), lines[first].bold)
        for first, last in headings
    )
    return tuple(heading for heading in found if heading.end - heading.start <= _MAX_CHARACTERS)


def _measure_style(lines: list[Line]) -> tuple[float, bool]:
    """Return the usual size of the text of lines, and whether most of it is bold."""
    sizes = [size for line in lines for size in [line.size] * max(len(line.text) // 8, 1)]
    bold_length = sum(len(line.text) for line in lines if line.bold)
    return median(sizes), bold_length > 0.5 * sum(len(line.text) for line in lines)


def _is_heading(line: Line, body: float, all_bold: bool) -> bool:
    """Return whether a line is a heading.

    ``body`` is the usual size of the text of the page, and ``all_bold`` says whether most of the text is bold.
    """
    text = line.text
    # Do the cheap tests first, because they rule out most lines.
    if not 3 <= len(text) <= 120 or text[0].islower() or text.endswith((",", ";")):
        return False
    letters = len(_NO_LETTERS.sub("", text))
    is_numbered = _NUMBERED.match(text) is not None
    # "Note 2 — Inventories" is not a table row, although its dash looks like a figure.
    is_row = line.tabular and not (is_numbered and sum(run.cells for run in line.runs) < _MIN_ROW_CELLS)
    if letters < 3 or letters < 0.5 * len(text.replace(" ", "")) or is_row:
        return False
    words = text.split()
    larger = body > 0 and line.size >= _LARGER * body
    if text.endswith(":") and len(words) > 6:
        return False
    if len(words) == 1 and len(text) < 8 and not larger and not text.isupper() and (not line.bold or all_bold):
        return False
    if is_numbered and len(text) <= MAX_HEADING and not text.endswith(".") and _is_title_case(words):
        return True
    if text.endswith(".") and not text.isupper():
        return False
    return larger or (line.bold and not all_bold) or (text.isupper() and len(words) > 1 and len(text) <= MAX_HEADING)


def _is_title_case(words: list[str]) -> bool:
    """Return whether most of the longer words begin with a capital, and the last word does not lead to another word.

    So a line of a sentence that begins with "Section 5 of the plan" is not a heading.
    """
    longer = [word for word in words if len(word) > 3 and word[0].isalpha()]
    is_complete = words[-1] not in ("or", "and", "of")
    return is_complete and sum(word[0].isupper() for word in longer) >= 0.6 * len(longer)


def _continues_heading(first: Line, second: Line) -> bool:
    is_near = second.box[3] - first.box[3] < 1.8 * max(second.size, 1.0)
    return is_near and abs(first.size - second.size) < 0.5 and first.bold == second.bold


class Sections:
    """Find the section in which each page begins; call `find_heading` for every page in order.

    Parameters
    ----------
    outline : sequence of (page_index, path)
        Outline of the file. An outline with fewer than two different titles is ignored, because it only names the
        document.
    """

    def __init__(self, outline: Sequence[tuple[int, str]] = ()) -> None:
        is_useful = len({title for _, title in outline}) > 1
        entries = sorted(outline, key=lambda entry: entry[0]) if is_useful else []
        self._pages = [index for index, _ in entries]
        self._titles = [title for _, title in entries]
        self._current = self._foot = ""
        self._running: Counter[str] = Counter()

    def find_heading(
        self, page_index: int, text: str, headings: Sequence[Span], skip: Sequence[Span], foot: Span | None = None
    ) -> str:
        """Return the path of the section in which a page begins, or of a heading on the page; empty without either.

        With an outline, the path is that of an outline entry. Otherwise, the first case that applies decides:

        1. A page header names a section: the section, and the first heading of the page if there is one.
        2. The first heading is in the first lines, or no page before has a heading: the first heading.
        3. The last heading of the pages before.

        A heading at the foot of the page before is added in front of the path if the first lines contain a heading;
        otherwise it replaces the path. It is ignored if the path contains it.

        Parameters
        ----------
        page_index : int
        text : str
            Text of the page.
        headings : sequence of Span
            The headings in the text.
        skip : sequence of Span
            The headers and footers in the text.
        foot : Span, optional
            The headings at the foot of the page, which belong to the text of the next page.
        """
        all_titles = _read_titles(text, headings, skip)
        titles = [title for title in all_titles if not foot or title[0] < foot[0]]
        above, self._foot = self._foot, HEADING_SEPARATOR.join(title for _, title in all_titles[len(titles) :])
        before, self._current = self._current, (all_titles[-1][1] if all_titles else self._current)
        section = self._find_section_header(text, headings, skip, page_index)
        is_top = bool(titles) and titles[0][0] <= _find_top_end(text, skip)
        found = section or before
        if self._pages:
            found = self._find_entry(page_index, self._foot)
        elif titles and (section or not before or is_top):
            found = HEADING_SEPARATOR.join(filter(None, (section, titles[0][1])))
        if above and above.casefold() not in found.casefold():
            found = HEADING_SEPARATOR.join((above, found)) if is_top else above
        return shorten_heading(found)

    def _find_section_header(self, text: str, headings: Sequence[Span], skip: Sequence[Span], page_index: int) -> str:
        """Return the page header that names a section; empty if there is none.

        Such a page header looks like a heading, and most pages up to this page do not have it.
        """
        section = ""
        for start, end in skip:
            line = _read_line(text, (start, end))
            self._running[line] += 1
            is_heading = any(first < end and start < last for first, last in headings)
            if is_heading and self._running[line] < 0.4 * (page_index + 1) and line.casefold() != "table of contents":
                section = line
        return section

    def _find_entry(self, page_index: int, foot: str) -> str:
        """Return the first outline entry of a page, or else the entry before; empty if there is none.

        The entry of the heading ``foot`` at the foot of the page does not count.
        """
        first = bisect_left(self._pages, page_index)
        if first < len(self._pages) and self._pages[first] == page_index:
            is_foot = foot and self._titles[first].rpartition(HEADING_SEPARATOR)[2].casefold() in foot.casefold()
            if not is_foot:
                return self._titles[first]
        return self._titles[first - 1] if first else ""


def find_foot_headings(page: Page, headings: Sequence[Span]) -> Span | None:
    """Return the span of one or two headings below the other text of a page; `None` if there are no such headings.

    ``page.skip`` contains the headers and footers. Except on the first page, a heading may be the whole text.
    """
    body = blank_spans(page.text, page.skip)
    foot = last = len(body.rstrip())
    first = len(headings)
    while first and headings[first - 1][1] == foot and _names_section(page, headings[first - 1]):
        first -= 1
        foot = len(body[: headings[first][0]].rstrip())
    title_length = sum(end - start for start, end in headings)
    # The headings of a cover are most of its text.
    is_heading = 2 * title_length < len(body.strip()) if foot else page.page_index > 0
    return (headings[first][0], last) if 0 < len(headings) - first <= _MAX_FOOT_HEADINGS and is_heading else None


def _names_section(page: Page, heading: Span) -> bool:
    """Return whether a heading is outside tables and does not end in a digit, except in a label such as "Note 12".

    Rows of lists and of tables of contents often end in a number.
    """
    title = _read_line(page.text, heading)
    in_table = any(table.start < heading[1] and heading[0] < table.end for table in page.tables)
    return not in_table and (not title[-1].isdigit() or SECTION_LABEL.fullmatch(title) is not None)


def skip_header_or_footer(start: int, skip: Sequence[Span]) -> int:
    """Return an offset, or the end of the header or footer that contains the offset."""
    return max((end for begin, end in skip if begin <= start < end), default=start)


def _read_titles(text: str, headings: Sequence[Span], skip: Sequence[Span]) -> list[tuple[int, str]]:
    """Return the offset and the text of each heading without headers and footers.

    A label, such as "Note 12", and the heading below are joined.
    """
    titles: list[tuple[int, str]] = []
    last = 0
    for first, end in headings:
        start = skip_header_or_footer(first, skip)
        if start >= end:
            continue
        title = _read_line(text, (start, end))
        if titles and start - last <= _MAX_BELOW_LABEL and SECTION_LABEL.fullmatch(titles[-1][1]):
            titles[-1] = (titles[-1][0], f"{titles[-1][1]}{HEADING_SEPARATOR}{title}")
        else:
            titles.append((start, title))
        last = end
    return titles


def _read_line(text: str, span: Span) -> str:
    return " ".join(text[slice(*span)].split())


def _find_top_end(text: str, skip: Sequence[Span]) -> int:
    """Return the offset at which the last of the first `_TOP_LINES` lines begins; 0 for a page without lines.

    Lines in the spans ``skip`` do not count.
    """
    starts = [
        match.start()
        for match in re.finditer(r"[^\n]+", text)
        if not any(start <= match.start() < end for start, end in skip)
    ]
    return starts[min(_TOP_LINES, len(starts)) - 1] if starts else 0
