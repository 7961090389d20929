"""Find the sections and captions of a document, by its headings and by the form of numbered lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.text.place_requests import NOUNS, SPELLED_NUMBER, parse_whole_number
from rag_core.text.words import find_content_stems
from rag_core.types.documents import Heading
from rag_core.types.places import PlaceKind
from rag_core.types.tables import Span

# Ranks of the kinds of sections whose first line can begin with a noun. A section contains sections of higher ranks.
_RANKS: dict[PlaceKind, int] = {"annex": 0, "part": 1, "chapter": 2, "article": 3, "item": 3, "section": 4, "note": 4}
_CAPTIONED: tuple[PlaceKind, ...] = ("table", "figure")
# Kinds by which a question can name a section whose first line has a number but no noun, such as "4. Insurance".
UNNAMED: frozenset[PlaceKind] = frozenset(("section", "article", "chapter", "item", "note"))
_ANY = "|".join(f"(?P<{kind}>{NOUNS[kind]})" for kind in (*_RANKS, *_CAPTIONED))
_FIRST_LINE = re.compile(
    rf"^[ \t]*(?:(?:{_ANY})[ \t]*"
    rf"(?P<label>\d+(?:\.\d+)*[a-z]?|(?-i:[IVXLC]{{1,7}}|[A-Z](?:\.\d+)*)|(?P<word>{SPELLED_NUMBER}))|"
    r"(?P<number>\d{1,3}(?:\.\d{1,3})*)(?P<stop>[.)]?))(?![\w,;%/])(?!\.\d)[.:)]?[ \t]*[–—:-]?[ \t]*(?P<title>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
# The end of a line in a table of contents, with a page number.
_CONTENTS_END = re.compile(r"(?:\.{3,}|…|(?:\. ){3,}|\s|[^\W\d_])\s*\d{1,4}$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# Maximum number of characters of a heading. Longer lines are sentences.
_MAX_HEADING = 60
# Maximum difference of the numbers of two successive sections; some may be missing.
_MAX_GAP = 3


@dataclass(frozen=True, slots=True)
class Section:
    """A section or a caption.

    Attributes
    ----------
    kind : PlaceKind or None
        ``None`` if the first line has no noun such as "Chapter".
    label : str
        The number. Words such as "two" are converted to figures. Empty without a number.
    title : str
        The first line.
    name : str
        The first line, or only its noun and number if it is too long for a heading.
    page, start, end : int
        Index of the page of the first line, and the span of the line.
    is_contents : bool
        Whether the first line is in a table of contents.
    is_apart : bool
        Whether the first line is after a blank line or at the top of the page.
    level : int or None
        Level of the heading; ``None`` if the first line is not one of the document's headings.
    """

    kind: PlaceKind | None
    label: str
    title: str
    name: str
    page: int
    start: int
    end: int
    is_contents: bool = False
    is_apart: bool = True
    level: int | None = None

    @property
    def depth(self) -> int:
        """Depth of the number: 0 for section "2", 1 for section "2.1"."""
        return self.label.count(".")


@dataclass(frozen=True)
class PageText:
    """The text of a page, the spans of its headers and footers, and its headings."""

    text: str
    skipped: Sequence[Span] = ()
    headings: Sequence[Heading] = ()


class DocumentSections:
    """The sections and captions of a document.

    Parameters
    ----------
    pages : mapping of int to PageText
        The pages by index.
    find_tables : callable
        Function that takes indices of pages and returns the spans of the tables on each page.

    Attributes
    ----------
    listed : list of Section
        The sections and captions in order, without items of numbered lists.
    """

    def __init__(
        self, pages: Mapping[int, PageText], find_tables: Callable[[Collection[int]], Mapping[int, Sequence[Span]]]
    ) -> None:
        self._pages = pages
        found = [one for page in sorted(pages) for one in _find_first_lines(page, pages[page])]
        tables = find_tables({one.page for one in found if one.level is None})
        found = [
            one
            for one in found
            # A numbered line in a table is no section, but can be the caption of the table.
            if one.kind in _CAPTIONED or not any(start <= one.start < end for start, end in tables.get(one.page, ()))
        ]
        repeated = {(one.kind, one.label) for one in found if not one.is_contents}
        found = [one for one in found if not one.is_contents or (one.kind, one.label) not in repeated]
        self.listed = list(_remove_list_items(found))

    def find(self, kind: PlaceKind, label: str) -> tuple[int, list[Section]]:
        """Return the distance of the best match, and the sections with a label that match a kind best.

        The distance is 0 for sections with a noun of the kind, 1 for sections without a noun, and 2 for sections with
        another noun. If any of these sections are headings of the document, only the headings are returned; if any of
        the rest are ``is_apart``, only those. Without a match, return ``(0, [])``.
        """
        wanted = _normalize_label(label)
        found = [one for one in self.listed if one.label and _normalize_label(one.label) == wanted]
        choices = [[one for one in found if one.kind == kind]]
        if kind in UNNAMED:
            others = ("article", "chapter", "item") if kind == "section" else ("section",)
            choices += [[one for one in found if one.kind is None], [one for one in found if one.kind in others]]
        distance, chosen = next((choice for choice in enumerate(choices) if choice[1]), (0, []))
        for is_better in (lambda one: one.level is not None, lambda one: one.is_apart):
            chosen = [one for one in chosen if is_better(one)] or chosen
        return distance, chosen

    def find_by_title_words(self, stems: frozenset[str]) -> list[Section]:
        """Return the sections whose heading contains all of some word stems, and the fewest other content words."""
        found = [
            (len(words), one)
            for one in self.listed
            if stems and one.level is not None and stems <= (words := find_content_stems(one.title))
        ]
        fewest = min((count for count, _ in found), default=0)
        return [one for count, one in found if count == fewest]

    def find_ordered(self, kind: PlaceKind, position: int) -> list[Section]:
        """Return the section at a position among the outermost numbered sections of a kind; empty if there is none.

        The position is counted from 0, and -1 is the last. Several sections are returned if they have the same number.
        If the kind has fewer than two numbers, sections without a noun are counted instead; see `UNNAMED`.
        """
        outer = [one for one in self.listed if one.label and not one.depth and not one.is_contents]
        kinds: list[PlaceKind | None] = [kind, *([None] if kind in UNNAMED else [])]
        for chosen in kinds:
            labels = list(dict.fromkeys(one.label for one in outer if one.kind == chosen))
            if len(labels) > 1:
                return [one for one in outer if one.kind == chosen and one.label in labels[position:][:1]]
        return []

    def find_spans(self, section: Section) -> dict[int, Span]:
        """Return the span of a section, or of a caption, on each page where it has text besides headers and footers."""
        following = self.listed[self.listed.index(section) + 1 :]
        if section.kind in _CAPTIONED:
            last_page, last = section.page, _find_paragraph_end(self._pages[section.page].text, section.end)
        else:
            has_next = any(_is_beside(section, one) and one.label != section.label for one in following)
            after = next((one for one in following if _ends(section, one, has_next=has_next)), None)
            end_page = max(self._pages)
            last_page, last = (after.page, after.start) if after else (end_page, len(self._pages[end_page].text))
        spans = {
            page: (
                section.start if page == section.page else 0,
                last if page == last_page else len(self._pages[page].text),
            )
            for page in sorted(self._pages)
            if section.page <= page <= last_page
        }
        return {page: span for page, span in spans.items() if self._has_text(page, span)}

    def _has_text(self, page: int, span: Span) -> bool:
        content = self._pages[page]
        return any(content.text[start:end].strip() for start, end in remove_spans(span, content.skipped))


def _find_paragraph_end(text: str, start: int) -> int:
    """Return the offset of the first blank line after ``start``, or the end of the text."""
    end = text.find("\n\n", start)
    return len(text) if end < 0 else end


def find_section_name(content: PageText, start: int, kind: PlaceKind) -> str:
    """Return the name of the section at an offset of a page; empty if the section begins on an earlier page.

    A section of the kind ``kind`` is preferred to other numbered sections.
    """
    before = [one for one in _find_first_lines(0, content) if one.start <= start and not one.is_contents]
    kinds = {kind, None} if kind in UNNAMED else {kind}
    numbered = [one for one in before if one.label and one.kind in kinds]
    numbered = numbered or [one for one in before if one.label and one.kind in UNNAMED]
    last = numbered[-1] if numbered else None
    inside = [one for one in before if one.level is not None and (last is None or one.start > last.start)]
    ends = [one for one in inside if last is None or (last.level is not None and (one.level or 0) <= last.level)]
    section = inside[-1] if ends else last
    return section.name if section else ""


# The rank and the depth of a section; see `parse_section_number`.
SectionNumber = tuple[int, int]


def parse_section_number(title: str) -> SectionNumber | None:
    """Return the rank and the depth of the number with which a title begins.

    Return ``None`` if the title does not begin with a number or a noun with a number, and for captions.

    A section with a lower pair contains sections with higher pairs.

    >>> parse_section_number("Part II Sails") < parse_section_number("2 Masts") < parse_section_number("2.1 Booms")
    True
    """
    match = _FIRST_LINE.match(title)
    kind = _find_kind(match) if match else None
    if not match or kind in _CAPTIONED or _has_other_word(match):
        return None
    return _RANKS[kind or "section"], (match["label"] or match["number"]).count(".")


def is_caption(title: str) -> bool:
    """Return whether a line begins as a caption does: with a noun for a table or a figure, and a number in figures."""
    match = _FIRST_LINE.match(title)
    return match is not None and _find_kind(match) in _CAPTIONED and not match["word"]


def find_captions(text: str) -> list[tuple[PlaceKind, Span]]:
    """Return the kind and the span of each paragraph of a page that begins like a caption of a figure or a table.

    >>> find_captions("Trade grew.\\n\\nFig. 2: Exports\\nby year\\n\\nSee figure 3.")
    [('figure', (13, 36))]
    >>> find_captions("図3 売上の推移")
    [('figure', (0, 8))]
    >>> find_captions("Figure 2 shows exports.")
    []
    """
    found: list[tuple[PlaceKind, Span]] = []
    for match in _FIRST_LINE.finditer(text):
        kind = _find_kind(match)
        # Without a sign after the number, a word in lower case continues a sentence.
        between = match.string[match.end("label") : match.start("title")] if kind else ""
        is_sentence = match["title"][:1].islower() and not between.strip()
        if kind in _CAPTIONED and not _has_other_word(match) and not is_sentence:
            found.append((kind, (match.start(), _find_paragraph_end(text, match.end()))))
    return found


def remove_spans(span: Span, removed: Sequence[Span]) -> list[Span]:
    """Return the parts of a span that are not in other spans, in order.

    >>> remove_spans((0, 9), [(0, 2), (5, 6)])
    [(2, 5), (6, 9)]
    """
    left = []
    position, last = span
    for start, end in sorted(removed):
        if position < end and start < last:
            left.append((position, start))
            position = end
    return [(start, end) for start, end in [*left, (position, last)] if start < end]


def _find_first_lines(page: int, content: PageText) -> list[Section]:
    """Return the sections and captions whose first line is on a page, in order."""
    found = [_create_from_heading(page, one, content.text) for one in content.headings]
    known = [(one.start, one.end) for one in content.headings]
    for match in _FIRST_LINE.finditer(content.text):
        is_known = any(start <= match.start() < end or start <= match.start("title") < end for start, end in known)
        if not is_known and not any(start <= match.start() < end for start, end in content.skipped):
            before = content.text[: match.start()].rstrip(" \t")
            is_apart = not before or before.endswith("\n\n")
            section = _build_section(match, page, match.span(), is_apart=is_apart)
            if section.label != "0" and _may_be_heading(match, section.kind, "" if is_apart else before):
                found.append(section)
    return sorted(found, key=lambda one: one.start)


def _create_from_heading(page: int, heading: Heading, text: str) -> Section:
    # A bookmark of the file may lack the number that is in the text.
    line = " ".join(text[heading.start : heading.end].split()) or heading.title
    matches = map(_FIRST_LINE.fullmatch, (line, heading.title))
    match = next((one for one in matches if one and not _has_other_word(one)), None)
    if match is None:
        return Section(None, "", line, line, page, heading.start, heading.end, level=heading.level)
    return replace(_build_section(match, page, (heading.start, heading.end)), level=heading.level, is_contents=False)


def _has_other_word(match: re.Match[str]) -> bool:
    """Return whether the noun is followed by a word that is not a number, as in "Part of the plan"."""
    return bool(match["word"]) and not parse_whole_number(match["word"])


def _build_section(match: re.Match[str], page: int, span: Span, *, is_apart: bool = True) -> Section:
    """Return the section whose first line was matched. See `Section` for ``is_apart``."""
    kind = _find_kind(match)
    group = "label" if kind else "number"
    label = str(parse_whole_number(match["word"])) if match["word"] else match[group]
    title = " ".join(match[0].split())
    name = title if len(title) <= _MAX_HEADING else " ".join(match.string[match.start() : match.end(group)].split())
    return Section(kind, label, title, name, page, *span, bool(_CONTENTS_END.search(match["title"].strip())), is_apart)


def _find_kind(match: re.Match[str]) -> PlaceKind | None:
    return next((one for one in (*_RANKS, *_CAPTIONED) if match[one]), None)


def _remove_list_items(found: Sequence[Section]) -> Iterator[Section]:
    """Yield the sections without the items of numbered lists.

    Only lines whose number has one level, and no noun, can be items. If headings of the document have such numbers, all
    these lines are items. Otherwise, a line is an item if it looks different from the section before, whose first line
    is short, and starts or continues a count.
    """
    is_numbered = any(one.level is not None and one.label and one.kind is None and not one.depth for one in found)
    main: Section | None = None
    item = 0
    for one in found:
        if one.level is None and one.kind is None and not one.depth and one.label:
            number, is_alike = int(one.label), main is None or _find_shape(main) == _find_shape(one)
            starts_count = main is not None and number <= int(main.label)
            if is_numbered or (not is_alike and _is_short(main) and (starts_count or number == item + 1)):
                item = number
                continue
            main, item = one, -1
        yield one


def _find_shape(one: Section) -> tuple[bool, bool]:
    """Return whether a sign follows the number, and whether the line is short; headings of a document agree in both."""
    return one.title[len(one.label) : len(one.label) + 1] in (".", ")"), _is_short(one)


def _is_short(one: Section | None) -> bool:
    return one is not None and len(one.title) <= _MAX_HEADING and not one.title.endswith((".", ";", ","))


def _may_be_heading(match: re.Match[str], kind: PlaceKind | None, before: str) -> bool:
    """Return whether a numbered line can be the heading of a section and not a line of prose.

    ``before`` is the text before the line; it is empty after a blank line and at the top of the page.
    """
    title = match["title"].strip()
    last = before.rstrip("\n").rpartition("\n")[2]
    # As in "… in accordance with\nSchedule 3."
    continues_sentence = (last[-1:].islower() or last.endswith(",")) and (not title or len(last) > _MAX_HEADING)
    if title[:1].islower() or continues_sentence:
        return False
    return kind is not None or ((not before or bool(match["stop"]) or "." in match["number"]) and title[:1].isalpha())


def _ends(one: Section, other: Section, *, has_next: bool) -> bool:
    """Return whether the section ``one`` ends where the section ``other`` begins.

    If ``has_next``, a section with the next number follows later, so a heading without a number is inside ``one``.
    """
    if other.kind in _CAPTIONED or (other.label and (other.kind, other.label) == (one.kind, one.label)):
        return False
    if one.level is not None and other.level is not None:
        if other.level < one.level or not one.label:
            return other.level <= one.level
        if other.level > one.level:
            return _is_above(one, other)
    elif one.level is not None and other.kind is None:
        return False
    if not other.label:
        return not has_next
    return _is_beside(one, other) or _is_above(one, other)


def _is_above(one: Section, other: Section) -> bool:
    """Return whether sections of the kind of ``other`` contain sections of the kind of ``one``."""
    return other.kind is not None and _RANKS[other.kind] < (_RANKS[one.kind] if one.kind else _RANKS["article"])


def _is_beside(one: Section, other: Section) -> bool:
    """Return whether ``other`` can be the section that follows ``one``. Items of lists inside ``one`` cannot."""
    if not one.label or not other.label or other.kind != one.kind or other.depth > one.depth:
        return False
    return other.kind is not None or _follows(one.label, other.label) or other.level is not None


def _follows(label: str, other: str) -> bool:
    """Return whether the number ``other`` is one of the next numbers after ``label``."""
    pairs = zip(map(int, label.split(".")), map(int, other.split(".")), strict=False)
    first, second = next((pair for pair in pairs if pair[0] != pair[1]), (0, 0))
    return first < second <= first + _MAX_GAP


def _normalize_label(label: str) -> str:
    """Return a label in lower case, and a Roman numeral as a number."""
    if not re.fullmatch("[ivxlc]+", label, re.IGNORECASE):
        return label.casefold()
    values = [_ROMAN[letter] for letter in label.casefold()]
    return str(sum(-one if one < two else one for one, two in zip(values, [*values[1:], 0], strict=True)))
