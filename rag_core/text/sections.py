"""Find numbered sections, annexes and captions in the text of a document, by the form of their first lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.text.place_requests import NOUNS
from rag_core.types.places import PlaceKind
from rag_core.types.tables import Span

# Kinds of places whose first lines have the noun, and the kinds that end one of them: those that contain it.
_OUTER: dict[PlaceKind, frozenset[PlaceKind]] = {
    "section": frozenset(("article", "chapter", "part", "annex", "item")),
    "article": frozenset(("chapter", "part", "annex")),
    "chapter": frozenset(("part", "annex")),
    "part": frozenset(("annex",)),
    "annex": frozenset(),
    "item": frozenset(("part", "annex")),
    "note": frozenset(("annex",)),
}
_CAPTIONED: tuple[PlaceKind, ...] = ("table", "figure")
# A section without a noun, as in "4. Insurance", may be called by any of these.
UNNAMED: frozenset[PlaceKind] = frozenset(("section", "article", "chapter", "item", "note"))
_ANY = "|".join(f"(?P<{kind}>{NOUNS[kind]})" for kind in (*_OUTER, *_CAPTIONED))
_FIRST_LINE = re.compile(
    rf"^[ \t]*(?:(?:{_ANY})[ \t]*(?P<label>\d+(?:\.\d+)*[a-z]?|(?-i:[IVXLC]{{1,7}}|[A-Z](?:\.\d+)*))|"
    r"(?P<number>\d{1,3}(?:\.\d{1,3})*)(?P<stop>[.)]?))(?![\w,;%/])(?!\.\d)[.:)]?[ \t]*[–—:-]?[ \t]*(?P<title>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
# The end of a line of a table of contents.
_CONTENTS_END = re.compile(r"(?:\.{3,}|…|(?:\. ){3,}|\s|[^\W\d_])\s*\d{1,4}$")
# Most characters of a heading; a longer line is a sentence. How many numbers may be missing between two sections.
_MAX_HEADING, _MAX_GAP = 60, 3


@dataclass(frozen=True, slots=True)
class Section:
    """A section or a caption.

    ``kind`` is ``None`` if its first line has no noun. ``heading`` is the first line, and ``name`` its beginning if it
    is a whole sentence. ``spans`` maps the index of each page to the part of its text. ``is_apart`` is true if a blank
    line or the top of the page precedes it.
    """

    kind: PlaceKind | None
    label: str
    heading: str
    name: str
    spans: Mapping[int, Span]
    is_apart: bool = True


@dataclass(frozen=True, slots=True)
class _Line:
    page: int
    start: int
    end: int
    kind: PlaceKind | None
    label: str
    heading: str
    is_contents: bool
    is_apart: bool

    @property
    def name(self) -> str:
        """The heading; of a line that is a whole sentence, only its beginning with the number."""
        if len(self.heading) <= _MAX_HEADING:
            return self.heading
        return self.heading[: self.heading.index(self.label) + len(self.label)]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", self.label))


def list_sections(texts: Mapping[int, str], skipped: Mapping[int, Sequence[Span]]) -> list[Section]:
    """Return the sections that begin with a number, and the captions, in order.

    Parameters
    ----------
    texts : mapping of int to str
        The text of each page of a document, by its index.
    skipped : mapping of int to sequence of Span
        Headers and footers of the pages.
    """
    lines = [line for page in sorted(texts) for line in _find_first_lines(page, texts[page], skipped.get(page, ()))]
    repeated = {(line.kind, line.label) for line in lines if not line.is_contents}
    lines = [line for line in lines if not line.is_contents or (line.kind, line.label) not in repeated]
    return [_build_section(line, lines[place + 1 :], texts, skipped) for place, line in enumerate(lines)]


def find_sections(sections: Sequence[Section], kind: PlaceKind, label: str) -> tuple[int, list[Section]]:
    """Return the sections that a noun and a label mean, and how far they are from what is asked for.

    The distance is 0 for sections with the noun, 1 for those with a number alone, and 2 for those with another noun.
    """
    wanted = label.casefold()
    found = [one for one in sections if one.label.casefold() == wanted]
    choices = [[one for one in found if one.kind == kind]]
    if kind in UNNAMED:
        others: dict[PlaceKind, tuple[PlaceKind, ...]] = {"section": ("article", "chapter", "item")}
        choices.append([one for one in found if one.kind is None])
        choices.append([one for one in found if one.kind in others.get(kind, ("section",))])
    distance, chosen = next((choice for choice in enumerate(choices) if choice[1]), (0, []))
    return distance, [one for one in chosen if one.is_apart] or chosen


def find_heading_before(text: str, start: int, kind: PlaceKind) -> str:
    """Return the heading of the section that contains a place of a page; empty if it begins on an earlier page."""
    lines = [line for line in _find_first_lines(0, text, ()) if line.start <= start and not line.is_contents]
    lines = [line for line in lines if line.kind == kind or (line.kind is None and kind in UNNAMED)] or [
        line for line in lines if line.kind in UNNAMED
    ]
    return lines[-1].name if lines else ""


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


def _find_first_lines(page: int, text: str, skipped: Sequence[Span]) -> list[_Line]:
    found = []
    for match in _FIRST_LINE.finditer(text):
        if any(start <= match.start() < end for start, end in skipped):
            continue
        kind: PlaceKind | None = next((one for one in (*_OUTER, *_CAPTIONED) if match[one]), None)
        title = match["title"].strip()
        if not _may_be_heading(text, match, kind, title):
            continue
        heading = " ".join(match[0].split())
        label = match["label"] or match["number"]
        is_contents = bool(title and _CONTENTS_END.search(title))
        is_apart = _is_apart(text, match.start())
        found.append(_Line(page, match.start(), match.end(), kind, label, heading, is_contents, is_apart))
    return found


def _may_be_heading(text: str, match: re.Match[str], kind: PlaceKind | None, title: str) -> bool:
    """Return whether a line that begins with a number is the first of a section rather than in the middle of prose."""
    before = text[: match.start()].rstrip(" \t")
    is_apart = not before or before.endswith("\n\n")
    last = before.rstrip("\n").rpartition("\n")[2]
    # "… in accordance with\nSchedule 3."
    goes_on = not is_apart and (last[-1:].islower() or last.endswith(",")) and (not title or len(last) > _MAX_HEADING)
    if title[:1].islower() or goes_on:
        return False
    if kind is not None:
        return True
    return (is_apart or bool(match["stop"]) or "." in match["number"]) and title[:1].isalpha()


def _is_apart(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t")
    return not before or before.endswith("\n\n")


def _build_section(
    line: _Line, following: Sequence[_Line], texts: Mapping[int, str], skipped: Mapping[int, Sequence[Span]]
) -> Section:
    if line.kind in _CAPTIONED:
        end = texts[line.page].find("\n\n", line.end)
        last_page, last = line.page, len(texts[line.page]) if end < 0 else end
    else:
        after = next((one for one in following if _ends(line, one)), None)
        last_page, last = (after.page, after.start) if after else (max(texts), len(texts[max(texts)]))
    spans = {
        page: (line.start if page == line.page else 0, last if page == last_page else len(texts[page]))
        for page in sorted(texts)
        if line.page <= page <= last_page
    }
    kept = {
        page: span
        for page, span in spans.items()
        if any(texts[page][start:end].strip() for start, end in remove_spans(span, skipped.get(page, ())))
    }
    return Section(line.kind, line.label, line.heading, line.name, kept, line.is_apart)


def _ends(line: _Line, other: _Line) -> bool:
    """Return whether a section ends where another one begins."""
    if other.kind in _CAPTIONED or (other.kind, other.label) == (line.kind, line.label):
        return False
    if other.kind is not None:
        inner = _OUTER[line.kind] if line.kind else frozenset(("annex", "part", "chapter"))
        return other.kind in inner or (other.kind == line.kind and _is_beside(line, other))
    return line.kind is None and _is_beside(line, other) and _follows(line.numbers, other.numbers)


def _is_beside(line: _Line, other: _Line) -> bool:
    return other.label.count(".") <= line.label.count(".")


def _follows(numbers: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """Return whether a section with some numbers may be the next one, so that the items of a list do not end it."""
    for one, other in zip(numbers, others, strict=False):
        if one != other:
            return one < other <= one + _MAX_GAP
    return False
