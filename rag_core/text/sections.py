"""Find numbered sections, annexes and captions in the text of a document, by the form of their first lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_core.text.place_requests import NOUNS, SPELLED_NUMBER, parse_whole_number
from rag_core.types.places import PlaceKind
from rag_core.types.tables import Span

# Kinds of places whose first lines have the noun; one of a lower rank contains those of higher ranks.
_RANKS: dict[PlaceKind, int] = {"annex": 0, "part": 1, "chapter": 2, "article": 3, "item": 3, "section": 4, "note": 4}
_CAPTIONED: tuple[PlaceKind, ...] = ("table", "figure")
# A section without a noun, as in "4. Insurance", may be called by any of these.
UNNAMED: frozenset[PlaceKind] = frozenset(("section", "article", "chapter", "item", "note"))
_ANY = "|".join(f"(?P<{kind}>{NOUNS[kind]})" for kind in (*_RANKS, *_CAPTIONED))
_FIRST_LINE = re.compile(
    rf"^[ \t]*(?:(?:{_ANY})[ \t]*"
    rf"(?P<label>\d+(?:\.\d+)*[a-z]?|(?-i:[IVXLC]{{1,7}}|[A-Z](?:\.\d+)*)|(?P<word>{SPELLED_NUMBER}))|"
    r"(?P<number>\d{1,3}(?:\.\d{1,3})*)(?P<stop>[.)]?))(?![\w,;%/])(?!\.\d)[.:)]?[ \t]*[–—:-]?[ \t]*(?P<title>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
# The end of a line of a table of contents.
_CONTENTS_END = re.compile(r"(?:\.{3,}|…|(?:\. ){3,}|\s|[^\W\d_])\s*\d{1,4}$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# Most characters of a heading; a longer line is a sentence. How many numbers may be missing between two sections.
_MAX_HEADING, _MAX_GAP = 60, 3


@dataclass(frozen=True, slots=True)
class Section:
    """A section or a caption.

    Attributes
    ----------
    kind : PlaceKind or None
        ``None`` if the first line has no noun.
    label : str
        The number, in figures if it is written in words.
    heading, name : str
        The first line; its beginning if it is a whole sentence.
    page, start, end : int
        Index of the page of the first line, and its span.
    is_contents : bool
        Whether the first line is one of a table of contents.
    is_apart : bool
        Whether a blank line or the top of the page precedes it.
    spans : mapping of int to Span
        The text on each page, by its index.
    """

    kind: PlaceKind | None
    label: str
    heading: str
    name: str
    page: int
    start: int
    end: int
    is_contents: bool
    is_apart: bool
    spans: Mapping[int, Span] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """0 for section "2", 1 for section "2.1"."""
        return self.label.count(".")


def list_sections(texts: Mapping[int, str], skipped: Mapping[int, Sequence[Span]]) -> list[Section]:
    """Return the sections that begin with a number, and the captions, in order.

    Parameters
    ----------
    texts : mapping of int to str
        The text of each page of a document, by its index.
    skipped : mapping of int to sequence of Span
        Headers and footers of the pages.
    """
    found = [one for page in sorted(texts) for one in _find_first_lines(page, texts[page], skipped.get(page, ()))]
    repeated = {(one.kind, one.label) for one in found if not one.is_contents}
    found = [one for one in found if not one.is_contents or (one.kind, one.label) not in repeated]
    return [replace(one, spans=_find_spans(one, found[place + 1 :], texts, skipped)) for place, one in enumerate(found)]


def find_sections(sections: Sequence[Section], kind: PlaceKind, label: str) -> tuple[int, list[Section]]:
    """Return the sections that a noun and a label mean, and how loosely they match.

    The distance is 0 for sections with the noun, 1 for those with a number alone, and 2 for those with another noun.
    """
    wanted = _read_label(label)
    found = [one for one in sections if _read_label(one.label) == wanted]
    choices = [[one for one in found if one.kind == kind]]
    if kind in UNNAMED:
        others = ("article", "chapter", "item") if kind == "section" else ("section",)
        choices += [[one for one in found if one.kind is None], [one for one in found if one.kind in others]]
    distance, chosen = next((choice for choice in enumerate(choices) if choice[1]), (0, []))
    return distance, [one for one in chosen if one.is_apart] or chosen


def find_heading_before(text: str, start: int, kind: PlaceKind) -> str:
    """Return the heading of the section that contains a place of a page; empty if it begins on an earlier page."""
    before = [one for one in _find_first_lines(0, text, ()) if one.start <= start and not one.is_contents]
    found = [one for one in before if one.kind == kind or (one.kind is None and kind in UNNAMED)]
    found = found or [one for one in before if one.kind in UNNAMED]
    return found[-1].name if found else ""


def remove_spans(span: Span, removed: Sequence[Span]) -> list[Span]:
    """Return what is left of a span without others, in order.

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


def _find_first_lines(page: int, text: str, skipped: Sequence[Span]) -> Iterator[Section]:
    for match in _FIRST_LINE.finditer(text):
        kind: PlaceKind | None = next((one for one in (*_RANKS, *_CAPTIONED) if match[one]), None)
        group, title = ("label" if kind else "number"), match["title"].strip()
        label = str(parse_whole_number(match["word"])) if match["word"] else match[group]
        before = text[: match.start()].rstrip(" \t")
        is_apart = not before or before.endswith("\n\n")
        is_margin = any(start <= match.start() < end for start, end in skipped)
        if is_margin or label == "0" or not _may_be_heading(match, kind, title, "" if is_apart else before):
            continue
        heading = " ".join(match[0].split())
        name = heading if len(heading) <= _MAX_HEADING else " ".join(text[match.start() : match.end(group)].split())
        is_contents = bool(_CONTENTS_END.search(title))
        yield Section(kind, label, heading, name, page, *match.span(), is_contents, is_apart)


def _may_be_heading(match: re.Match[str], kind: PlaceKind | None, title: str, before: str) -> bool:
    """Return whether a line that begins with a number is the first of a section rather than in the middle of prose.

    ``before`` is the text before it; it is empty if the line is apart.
    """
    last = before.rstrip("\n").rpartition("\n")[2]
    # "… in accordance with\nSchedule 3."
    goes_on = (last[-1:].islower() or last.endswith(",")) and (not title or len(last) > _MAX_HEADING)
    if title[:1].islower() or goes_on:
        return False
    return kind is not None or ((not before or bool(match["stop"]) or "." in match["number"]) and title[:1].isalpha())


def _find_spans(
    first: Section, following: Sequence[Section], texts: Mapping[int, str], skipped: Mapping[int, Sequence[Span]]
) -> dict[int, Span]:
    """Return what belongs to a section or a caption of each page, apart from pages with nothing but margins."""
    if first.kind in _CAPTIONED:
        end = texts[first.page].find("\n\n", first.end)
        last_page, last = first.page, len(texts[first.page]) if end < 0 else end
    else:
        after = next((one for one in following if _ends(first, one)), None)
        last_page, last = (after.page, after.start) if after else (max(texts), len(texts[max(texts)]))
    spans = {
        page: (first.start if page == first.page else 0, last if page == last_page else len(texts[page]))
        for page in sorted(texts)
        if first.page <= page <= last_page
    }
    return {
        page: span
        for page, span in spans.items()
        if any(texts[page][start:end].strip() for start, end in remove_spans(span, skipped.get(page, ())))
    }


def _ends(one: Section, other: Section) -> bool:
    """Return whether a section ends where another one begins."""
    if other.kind in _CAPTIONED or (other.kind, other.label) == (one.kind, one.label):
        return False
    is_beside = other.kind == one.kind and other.depth <= one.depth
    if other.kind is None:
        return is_beside and _follows(one.label, other.label)
    return is_beside or _RANKS[other.kind] < (_RANKS[one.kind] if one.kind else _RANKS["article"])


def _follows(label: str, other: str) -> bool:
    """Return whether a section may be the next one, so that the items of a list do not end it."""
    pairs = zip(map(int, label.split(".")), map(int, other.split(".")), strict=False)
    first, second = next((pair for pair in pairs if pair[0] != pair[1]), (0, 0))
    return first < second <= first + _MAX_GAP


def _read_label(label: str) -> str:
    """Return a label in lower case; a Roman numeral in figures."""
    if not re.fullmatch("[ivxlc]+", label, re.IGNORECASE):
        return label.casefold()
    values = [_ROMAN[letter] for letter in label.casefold()]
    return str(sum(-one if one < two else one for one, two in zip(values, [*values[1:], 0], strict=True)))
