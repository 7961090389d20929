"""Choose the headings of each page of a document, and find the path of each: the headings that contain it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import ge
from typing import NamedTuple

from rag_core.parsing.layout.headings import skip_header_or_footer
from rag_core.text.outline import clean_title
from rag_core.text.sections import SectionNumber, is_caption, parse_section_number
from rag_core.text.sentences import SECTION_LABEL
from rag_core.text.words import ALPHANUMERIC
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import Heading, HeadingLine, Page

# A heading is larger than another heading if the ratio of their sizes is at least this.
_LARGER = 1.06
# Maximum number of characters between a label, such as "Note 12", and the rest of the heading below.
_MAX_BELOW_LABEL = 3
# The end of an entry of a table of contents, with and without leaders.
_LEADER = re.compile(r"(?:\.{3,}|…|(?:\. ){3,})\s*\d{1,4}$")
_PAGE_NUMBER = re.compile(r"(?<![\d.,/–-])\d{1,4}$")
# A table of contents without leaders has at least this many entries.
_MIN_ENTRIES = 3
# A word with a number, such as "Schedule 3".
_NUMBERED_WORD = re.compile(r"[^\W\d]+ [\d.]+")
# A heading at the top of more pages is a page header.
_MAX_TOPS = 2
# Lines that are more often on a page are labels of a figure or form.
_MAX_ON_PAGE = 2
# The first character of a heading, and the minimum share of letters.
_FIRST = re.compile(r"[^\W_]|[§“”\"'‘«„¿¡\[]")
_MIN_LETTER_SHARE = 0.6
# A remark before a text, as in "Note:", has at most this many words.
_MAX_REMARK_WORDS = 4
# The rank of a section number without a noun; see `parse_section_number`.
_PLAIN_RANK = 4
_LETTERED = re.compile(r"[A-Z][.)]\s")
_POSTCODE = re.compile(r"(?<!\d)\d{5}(?!\d)")
# A part of a heading needs this many words to be recognized as the heading.
_MIN_PART_WORDS = 3


@dataclass(frozen=True, slots=True)
class _OpenHeading:
    """A heading that may contain later headings.

    ``line`` is `None` for a bookmark whose title is not on its page, and for the parents of a bookmark.
    """

    title: str
    line: HeadingLine | None
    is_bookmark: bool = False

    @property
    def number(self) -> SectionNumber | None:
        return parse_section_number(self.title)


class _FoundHeading(NamedTuple):
    """A heading of a page; ``path`` is that of its bookmark, or empty without a bookmark."""

    line: HeadingLine
    title: str
    path: str = ""


class HeadingPaths:
    """Find the headings of a document; call `find` for every page in order.

    Parameters
    ----------
    outline : sequence of (page_index, path)
        Outline of the file; see `Sections`.
    """

    def __init__(self, outline: Sequence[tuple[int, str]] = ()) -> None:
        self._bookmarks: dict[int, list[str]] = {}
        if len({title for _, title in outline}) > 1:
            for page, path in outline:
                self._bookmarks.setdefault(page, []).append(path)
        self._open: list[_OpenHeading] = []
        self._tops: Counter[str] = Counter()

    def find(self, page: Page, lines: Sequence[HeadingLine]) -> tuple[Heading, ...]:
        """Return the headings of a page in order: its bookmarks, and the lines that are headings.

        ``page.skip`` contains the headers and footers that earlier pages have too.
        """
        found = [_FoundHeading(line, title) for line, title in _join_labels(page.text, _choose_lines(page, lines))]
        position = 0
        for path in self._bookmarks.get(page.page_index, ()):
            bookmark = _find_bookmark(page.text, path, position, found)
            found = [*(heading for heading in found if heading.line != bookmark.line), bookmark]
            position = bookmark.line.start
        found.sort(key=lambda heading: heading.line.start)
        if found and not found[0].path and self._is_repeated(found[0].title):
            found.pop(0)
        return tuple(Heading(heading.line.start, heading.line.end, self._open_heading(heading)) for heading in found)

    def _is_repeated(self, title: str) -> bool:
        """Count the first heading of a page, and return whether it is a page header or repeats an open heading.

        The heading is a page header if it was counted on more than ``_MAX_TOPS`` pages. Only the two innermost open
        headings are compared.
        """
        self._tops[title] += 1
        return self._tops[title] > _MAX_TOPS or any(heading.title == title for heading in self._open[-2:])

    def _open_heading(self, found: _FoundHeading) -> str:
        """Close the open headings that do not contain a new heading, open the new heading, and return its path."""
        line = found.line
        if found.path:
            *outer, title = found.path.split(HEADING_SEPARATOR)
            self._open = [_OpenHeading(name, None, is_bookmark=True) for name in outer]
            self._open.append(_OpenHeading(title, line if line.size else None, is_bookmark=True))
            return found.path
        heading = _OpenHeading(found.title, line)
        while self._open and not _contains(self._open[-1], heading):
            self._open.pop()
        self._open.append(heading)
        return HEADING_SEPARATOR.join(heading.title for heading in self._open)


def _contains(outer: _OpenHeading, inner: _OpenHeading) -> bool:
    """Return whether a heading contains a later heading that is not a bookmark."""
    above, below = outer.line, inner.line
    if outer.is_bookmark or above is None or below is None:
        return True
    is_larger, is_smaller = above.size > _LARGER * below.size, below.size > _LARGER * above.size
    if outer.number and inner.number and (outer.number[0] != inner.number[0] or not is_larger):
        return outer.number < inner.number
    if is_larger or is_smaller:
        return is_larger
    # At the same size, bold type and capitals show the outer heading.
    outer_style, inner_style = (above.bold, outer.title.isupper()), (below.bold, inner.title.isupper())
    return outer_style != inner_style and all(map(ge, outer_style, inner_style))


def _choose_lines(page: Page, lines: Sequence[HeadingLine]) -> Iterator[HeadingLine]:
    """Yield the lines that are headings, except in headers, footers, tables, tables of contents and prose."""
    moved = (line._replace(start=skip_header_or_footer(line.start, page.skip)) for line in lines)
    kept = [line for line in moved if line.start < line.end]
    texts = [page.text[line.start : line.end] for line in kept]
    counts = Counter(texts)
    is_contents = sum(_PAGE_NUMBER.search(text) is not None for text in texts) >= _MIN_ENTRIES
    for line, text in zip(kept, texts, strict=True):
        is_numbered = _PAGE_NUMBER.search(text) and not _NUMBERED_WORD.fullmatch(text)
        is_entry = _LEADER.search(text) or (is_contents and is_numbered)
        is_other = is_entry or counts[text] > _MAX_ON_PAGE or not clean_title(text) or is_caption(text)
        if not is_other and _is_title_like(text) and not _is_in_prose(page.text, line) and not _is_in_table(page, line):
            yield line


def _is_title_like(text: str) -> bool:
    """Return whether a line reads like a heading.

    It does if it has a section number. It also does if it begins like a heading, consists mostly of letters, and is
    neither an address nor a remark.
    """
    if parse_section_number(text):
        return True
    letters = sum(map(str.isalpha, text))
    is_remark = text.endswith(":") and len(text.split()) <= _MAX_REMARK_WORDS and not _LETTERED.match(text)
    if _POSTCODE.search(text):
        return False
    return bool(_FIRST.match(text)) and letters >= _MIN_LETTER_SHARE * len(text.replace(" ", "")) and not is_remark


def _is_in_table(page: Page, line: HeadingLine) -> bool:
    """Return whether a line is in a row of a table.

    A bold line with a noun and a number, as in "Item 5", does not count, nor does a bold line with a number such as
    "2.1" in a table without headers: such headings are sometimes read as rows.
    """
    rank, depth = parse_section_number(page.text[line.start : line.end]) or (_PLAIN_RANK, 0)
    return any(
        cell.start < line.end and line.start < cell.end
        for table in page.tables
        if not table.is_list and not (line.bold and (rank < _PLAIN_RANK or (depth and not table.header_rows)))
        for row in table.rows
        for cell in row.cells
        if cell.spans
    )


def _is_in_prose(text: str, line: HeadingLine) -> bool:
    """Return whether the sentence of a line begins above the line or continues below."""
    after, before = text[line.end :], text[: line.start]
    goes_on = not after.startswith("\n\n") and after.lstrip()[:1].islower()
    return goes_on or (not before.endswith("\n\n") and before.rstrip()[-1:] in (",", ";"))


def _join_labels(text: str, lines: Iterable[HeadingLine]) -> Iterator[tuple[HeadingLine, str]]:
    """Yield headings with their titles; a label such as "Note 12" and the heading below it are one heading."""
    label: HeadingLine | None = None
    for line in lines:
        title = _read_title(text, line)
        if label and line.start - label.end <= _MAX_BELOW_LABEL and not parse_section_number(title):
            line, label = line._replace(start=label.start, size=max(label.size, line.size)), None
            yield line, _read_title(text, line)
            continue
        if label:
            yield label, _read_title(text, label)
        label = line if SECTION_LABEL.fullmatch(title) else None
        if not label:
            yield line, title
    if label:
        yield label, _read_title(text, label)


def _read_title(text: str, line: HeadingLine) -> str:
    return clean_title(" ".join(text[line.start : line.end].replace(HEADING_SEPARATOR, " ").split()))


def _find_bookmark(text: str, path: str, position: int, found: Sequence[_FoundHeading]) -> _FoundHeading:
    """Return the heading on a page to which a bookmark points.

    The first that exists is returned:

    1. a heading among ``found``, anywhere on the page, that has the title of the bookmark and no bookmark yet;
    2. a line at or after ``position`` that contains only the title;
    3. an empty span at ``position``.
    """
    title = path.rpartition(HEADING_SEPARATOR)[2]
    wanted = ALPHANUMERIC.findall(title.casefold())
    for heading in found:
        words = ALPHANUMERIC.findall(heading.title.casefold())
        shorter, longer = sorted((wanted, words), key=len)
        rest = longer[: len(longer) - len(shorter)]
        # The number of a heading is missing in some bookmarks, and the page may divide the heading.
        is_numbered = longer[len(rest) :] == shorter and all(word.isdigit() or len(word) == 1 for word in rest)
        is_divided = len(shorter) >= _MIN_PART_WORDS and longer[: len(shorter)] == shorter
        if not heading.path and shorter and (is_numbered or is_divided):
            return heading._replace(title=title, path=path)
    written = r"[\W_]+".join(map(re.escape, wanted))
    pattern = re.compile(rf"^[\W\d_]*{written}[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
    match = pattern.search(text, position) if wanted else None
    return _FoundHeading(HeadingLine(*(match.span() if match else (position, position))), title, path)
