"""Choose the headings of each page of a document, and find the headings that contain each of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_core.parsing.layout.headings import skip_margins
from rag_core.text.outline import clean_title
from rag_core.text.sections import SectionNumber, is_caption, parse_section_number
from rag_core.text.sentences import SECTION_LABEL
from rag_core.text.words import ALPHANUMERIC
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import Heading, HeadingLine, Page

# Sizes whose ratio is smaller are the same size.
_LARGER = 1.06
# Most characters between a label, such as "Note 12", and the heading below it, which are one heading.
_BELOW_LABEL = 3
# The end of a line of a table of contents, a label with a number, and the least number of lines of a table of contents
# without leaders.
_LEADER, _PAGE_NUMBER = re.compile(r"(?:\.{3,}|…|(?:\. ){3,})\s*\d{1,4}$"), re.compile(r"(?<![\d.,/–-])\d{1,4}$")
_LABEL = re.compile(r"[^\W\d]+ [\d.]+")
_FEWEST_ENTRIES = 3
# Most pages at whose top a heading is no header, and most times that a page has a heading.
_MAX_TOPS, _MAX_ON_PAGE = 2, 2
# The first character of a heading, and the least share of letters.
_FIRST, _LETTERS = re.compile(r"[^\W_]|[§“”\"'‘«„¿¡\[]"), 0.6
# Most words of a remark before a text, as in "Note:", and the rank of a number without a noun.
_REMARK_WORDS, _PLAIN = 4, 4
_LETTERED, _POSTCODE = re.compile(r"[A-Z][.)]\s"), re.compile(r"(?<!\d)\d{5}(?!\d)")
# Least number of words of a part of a heading.
_DIVIDED_WORDS = 3


@dataclass(frozen=True, slots=True)
class _Open:
    """A heading that may contain the following ones; ``line`` is `None` for a bookmark that is not on its page."""

    title: str
    line: HeadingLine | None
    is_bookmark: bool = False

    @property
    def number(self) -> SectionNumber | None:
        return parse_section_number(self.title)


class HeadingPaths:
    """Find the headings of a document; call `find` for every page in order.

    Parameters
    ----------
    outline : tuple of (page_index, path)
        Outline of the file; see `Sections`.
    """

    def __init__(self, outline: Sequence[tuple[int, str]] = ()) -> None:
        self._bookmarks: dict[int, list[str]] = {}
        if len({title for _, title in outline}) > 1:
            for page, path in outline:
                self._bookmarks.setdefault(page, []).append(path)
        self._open: list[_Open] = []
        self._tops: Counter[str] = Counter()

    def find(self, page: Page, lines: Sequence[HeadingLine]) -> tuple[Heading, ...]:
        """Return the headings of a page in order: its bookmarks, and the lines that are headings.

        ``page.skip`` contains the headers and footers that earlier pages have too.
        """
        found = [(line, title, "") for line, title in _join_labels(page.text, _choose(page, lines))]
        position = 0
        for path in self._bookmarks.get(page.page_index, ()):
            place = _find_bookmark(page.text, path, position, found)
            found = [*(one for one in found if one[0] != place[0]), place]
            position = place[0].start
        found.sort(key=lambda one: one[0].start)
        if found and not found[0][2] and self._repeats(found[0][1]):
            found.pop(0)
        return tuple(
            Heading(line.start, line.end, self._add_bookmark(path, line) if path else self._add(title, line))
            for line, title, path in found
        )

    def _repeats(self, title: str) -> bool:
        """Return whether the first heading of a page is that of a section that goes on, or a header of many pages."""
        self._tops[title] += 1
        return self._tops[title] > _MAX_TOPS or any(one.title == title for one in self._open[-2:])

    def _add(self, title: str, line: HeadingLine) -> str:
        heading = _Open(title, line)
        while self._open and not _contains(self._open[-1], heading):
            self._open.pop()
        self._open.append(heading)
        return HEADING_SEPARATOR.join(one.title for one in self._open)

    def _add_bookmark(self, path: str, line: HeadingLine) -> str:
        titles = path.split(HEADING_SEPARATOR)
        self._open = [_Open(title, None, is_bookmark=True) for title in titles]
        self._open[-1] = _Open(titles[-1], line if line.size else None, is_bookmark=True)
        return path


def _contains(outer: _Open, inner: _Open) -> bool:
    """Return whether a heading contains a later one, which is no bookmark."""
    above, below = outer.line, inner.line
    if outer.is_bookmark or above is None or below is None:
        return True
    is_larger, is_smaller = above.size > _LARGER * below.size, below.size > _LARGER * above.size
    if outer.number and inner.number and (outer.number[0] != inner.number[0] or not is_larger):
        return outer.number < inner.number
    if is_larger or is_smaller:
        return is_larger
    first, second = (above.bold, outer.title.isupper()), (below.bold, inner.title.isupper())
    return first != second and all(one >= other for one, other in zip(first, second, strict=True))


def _choose(page: Page, lines: Sequence[HeadingLine]) -> Iterator[HeadingLine]:
    """Yield the lines that are headings, without those of headers, footers, tables, tables of contents and prose."""
    moved = (one._replace(start=skip_margins(one.start, page.skip)) for one in lines)
    kept = [one for one in moved if one.start < one.end]
    texts = [page.text[one.start : one.end] for one in kept]
    counts = Counter(texts)
    is_contents = sum(_PAGE_NUMBER.search(one) is not None for one in texts) >= _FEWEST_ENTRIES
    for line, text in zip(kept, texts, strict=True):
        is_entry = _LEADER.search(text) or (is_contents and _PAGE_NUMBER.search(text) and not _LABEL.fullmatch(text))
        # Labels in figures and forms are repeated.
        is_other = is_entry or counts[text] > _MAX_ON_PAGE or not clean_title(text) or is_caption(text)
        if not is_other and _has_words(text) and not _is_in_prose(page.text, line) and not _is_in_table(page, line):
            yield line


def _has_words(text: str) -> bool:
    """Return whether a line begins like a heading, and has letters besides a number; an address does not."""
    if parse_section_number(text):
        return True
    letters = sum(map(str.isalpha, text))
    is_remark = text.endswith(":") and len(text.split()) <= _REMARK_WORDS and not _LETTERED.match(text)
    if _POSTCODE.search(text):
        return False
    return bool(_FIRST.match(text)) and letters >= _LETTERS * len(text.replace(" ", "")) and not is_remark


def _is_in_table(page: Page, line: HeadingLine) -> bool:
    """Return whether a line is in a row of a table; where tables have no header, a heading may be taken for a row."""
    rank, depth = parse_section_number(page.text[line.start : line.end]) or (_PLAIN, 0)
    return any(
        cell.start < line.end and line.start < cell.end
        for table in page.tables
        if not table.is_list and not (line.bold and (rank < _PLAIN or (depth and not table.header_rows)))
        for row in table.rows
        for cell in row.cells
        if cell.spans
    )


def _is_in_prose(text: str, line: HeadingLine) -> bool:
    """Return whether the sentence of a line begins above or goes on below it."""
    after, before = text[line.end :], text[: line.start]
    goes_on = not after.startswith("\n\n") and after.lstrip()[:1].islower()
    return goes_on or (not before.endswith("\n\n") and before.rstrip()[-1:] in (",", ";"))


def _join_labels(text: str, lines: Iterable[HeadingLine]) -> Iterator[tuple[HeadingLine, str]]:
    """Yield headings with their titles; a label such as "Note 12" and the heading below it are one heading."""
    label: HeadingLine | None = None
    for line in lines:
        title = _read_title(text, line)
        if label and line.start - label.end <= _BELOW_LABEL and not parse_section_number(title):
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


def _find_bookmark(
    text: str, path: str, position: int, found: Sequence[tuple[HeadingLine, str, str]]
) -> tuple[HeadingLine, str, str]:
    """Return where a bookmark is on its page, at or after a place; an empty span there if its title is not found."""
    title = path.rpartition(HEADING_SEPARATOR)[2]
    wanted = ALPHANUMERIC.findall(title.casefold())
    for line, other, other_path in found:
        words = ALPHANUMERIC.findall(other.casefold())
        shorter, longer = sorted((wanted, words), key=len)
        rest = longer[: len(longer) - len(shorter)]
        # The number of a heading is missing in some bookmarks, and the page may divide the heading.
        is_numbered = longer[len(rest) :] == shorter and all(one.isdigit() or len(one) == 1 for one in rest)
        is_divided = len(shorter) >= _DIVIDED_WORDS and longer[: len(shorter)] == shorter
        if not other_path and shorter and (is_numbered or is_divided):
            return line, title, path
    written = r"[\W_]+".join(map(re.escape, wanted))
    pattern = re.compile(rf"^[\W\d_]*{written}[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
    match = pattern.search(text, position) if wanted else None
    return HeadingLine(*(match.span() if match else (position, position))), title, path
