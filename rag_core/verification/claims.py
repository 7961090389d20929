"""Split a generated text into statements with their citation markers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from rag_core.text.sentences import find_sentence_spans
from rag_core.text.words import tokenize
from rag_core.types.answers import MARKER
from rag_core.verification.citation_markers import LEADING_WORDS
from rag_core.verification.refusals import FIGURE, contains_refusal

_GROUP = re.compile(rf"{MARKER.pattern}(?:[ \t]*{MARKER.pattern})*")
# Markdown before and after a sentence. ``_BEFORE`` also matches punctuation after the markers of the previous sentence.
_BEFORE = re.compile(r"(?:[\s|>#*_~`•·,;:.!?)\u2013\u2014-]|\d+[.)]\s)*")
_AFTER = re.compile(r"[\s|*_~`]*$")
_RULE = re.compile(r"[\s|:\-=*_#]*$")
_ROW = re.compile(r"^[ \t]*\|.*$", re.M)
# The header row of a Markdown table and the line of dashes below the header.
_HEAD = re.compile(r"[ \t]*\|.*\n[ \t]*[|:-][ \t|:-]*(?:\n|$)")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|(?:\*\*|__)[^*_]+(?:\*\*|__))\s*")
# Signs that a line in the format of a heading makes a statement, because it is a sentence or an answer in bold.
_ASSERTS = re.compile(
    r"[.!][*_]*\s*$|\b(?:is|are|was|were|has|have|had|will|would|can|cannot|could|must|does|do|did|not|never)\b"
    rf"|[$€£¥%]|\d[.,]\d|{FIGURE}{{3}}"
)
_BOLD_FIGURE = re.compile(rf"\s*[*_].*{FIGURE}")
_DIGIT = re.compile(r"\d")
# An item of a list, from the beginning of its line; the group is its indentation.
_ITEM = re.compile(r"([ \t]*)(?:[-*+•–]|\d+[.)])[ \t]+(?=\S)")
# The end of the line above an item. Without a colon, a number or "- 5" at the start of a line continues the sentence.
_ABOVE_ITEM = re.compile(rf"(?::[*_ \t]*(?=\n{_ITEM.pattern})|(?=\n[ \t]*[-*+•][ \t]+[^\s\d]))")
_DECORATION = " \t#*_`:"
_PARAGRAPH = re.compile(r"\n\s*\n")
# The boundary between two clauses that make different statements.
_TURN = re.compile(
    r"[,;:]?\s+(?:but|however|yet|though|although|while|whereas|nevertheless|nonetheless|except|only)\b,?\s*"
    r"|;\s+|\s[\u2013\u2014]\s",
    re.I,
)
_CONCEDING = re.compile(r"(?:even\s+)?(?:although|though|while|since|as)\b[^,]*,\s*", re.I)


@dataclass(frozen=True, slots=True)
class Introduction:
    """The text that introduces an item of a list.

    It consists of the line with a final colon or the heading above the list, if there is one, and of the outer items.
    """

    text: str


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The cells of the header row of a Markdown table."""

    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """The cells in one line."""
        return " | ".join(self.cells)


Context = Introduction | TableHeader


@dataclass(frozen=True, slots=True)
class ClaimSpan:
    """A statement of an answer: its span without markers, and the ranks that it cites.

    ``markers`` contains the start, end and rank of each marker. A statement without markers has the ``ranks`` of the
    next statement with markers in its paragraph, or of the nearest one before it if none follows. ``context`` is the
    introduction of a list for a statement in an item, and the header of a table for a row; ``None`` without either.
    """

    start: int
    end: int
    markers: tuple[tuple[int, int, int], ...]
    ranks: tuple[int, ...] = ()
    context: Context | None = None


def split_claims(text: str) -> list[ClaimSpan]:
    """Return the statements of a normalized text, in order.

    A statement is a sentence, the part of a sentence before a group of markers, or a row of a table. Clauses at its
    beginning and end that say that the sources lack a fact are left out. Questions, headings, lines that introduce a
    list, and the header and dividing lines of tables are statements only if they have markers.
    """
    claims = [
        claim
        for start, end in _find_paragraphs(text)
        for claim in _assign_markers(list(_find_claims(text, start, end)))
    ]
    statements = [_remove_refusals(text, claim) for claim in claims]
    return [
        replace(claim, context=_find_context(text, claim.start))
        for claim in statements
        if claim and (claim.markers or not _is_structural(text, claim))
    ]


def describe_context(context: Context | None) -> str:
    """Return words to put before a statement: the introduction of its list, or the columns of its table.

    They end with a colon and a blank. Without a context, they are empty.
    """
    if isinstance(context, TableHeader):
        return f"In a table with the columns {context.text}: "
    return f"{context.text}: " if context else ""


def _find_context(text: str, start: int) -> Context | None:
    """Return the context of the line that contains the offset ``start``.

    The context of a row is the header of its table, and that of a list item is its introduction. It is ``None`` for
    other lines, and for rows and items without a context.
    """
    *above, line = text[: text.find("\n", start) if "\n" in text[start:] else len(text)].split("\n")
    if _ROW.match(line):
        return _find_header(above)
    item = _ITEM.match(line)
    return _find_introduction(above, len(item[1])) if item else None


def _find_introduction(above: Sequence[str], indent: int) -> Introduction | None:
    """Return the text that introduces a list item, given the lines above the item and its indentation, or ``None``."""
    found: list[str] = []
    for one in reversed(above):
        other = _ITEM.match(one)
        if other and len(other[1]) < indent:
            indent = len(other[1])
            found.insert(0, one[other.end() :])
        elif one.strip() and not other and not one[0].isspace():
            plain = MARKER.sub("", one).rstrip(" \t*_")
            if plain.endswith(":"):
                # Only the last sentence of the line introduces the list.
                begin, end = find_sentence_spans(plain)[-1]
                found.insert(0, plain[begin:end])
            elif _HEADING.fullmatch(one):
                found.insert(0, plain)
            break
    text = ": ".join(filter(None, (MARKER.sub("", one).strip(_DECORATION) for one in found)))
    return Introduction(text) if text else None


def _find_header(above: Sequence[str]) -> TableHeader | None:
    """Return the header row of the table with which the lines end; ``None`` without a table that has a header."""
    table = list(takewhile(_ROW.match, reversed(above)))
    if len(table) < 2 or not _RULE.fullmatch(table[-2]):
        return None
    return TableHeader(tuple(one.strip() for one in table[-1].strip().strip("|").split("|")))


def _find_claims(text: str, begin: int, finish: int) -> Iterator[ClaimSpan]:
    """Yield the statements of a paragraph, without ranks; markers before a statement are yielded as an empty span."""
    # Markers are replaced by as many blanks, so that they do not split sentences and the offsets stay valid.
    blank = MARKER.sub(lambda match: " " * len(match[0]), text[begin:finish])
    cuts: list[tuple[int, list[tuple[int, int, int]]]] = []
    for group in _GROUP.finditer(text, begin, finish):
        markers = [(*marker.span(), int(marker[1])) for marker in MARKER.finditer(text, *group.span())]
        cuts.append((group.start(), markers))
    rows = [row.span() for row in _ROW.finditer(text, begin, finish)]
    parts = pairwise([begin, *(one.end() for one in _ABOVE_ITEM.finditer(text, begin, finish)), finish])
    sentence_ends = (
        start + offset for start, end in parts for _, offset in find_sentence_spans(blank[start - begin : end - begin])
    )
    # A row is one statement, also if a full stop is in it.
    outside = {end for end in sentence_ends if not any(first < end < last for first, last in rows)}
    ends = sorted(outside.union(*rows))
    position = begin
    while cuts or ends:
        group_start = cuts[0][0] if cuts else finish + 1
        # Markers after a full stop belong to the sentence that the full stop ends.
        if ends and ends[0] <= group_start and not (cuts and not text[ends[0] : group_start].strip()):
            end, markers = ends.pop(0), []
        else:
            end, markers = cuts.pop(0)
            while ends and ends[0] <= end:
                ends.pop(0)
        start, stop = _trim_markdown(text, position, end)
        after = markers[-1][1] if markers else end
        position = max(position, after)
        if start < stop and tokenize(text[start:stop]) and not (markers and LEADING_WORDS.fullmatch(text, start, stop)):
            yield ClaimSpan(start, stop, tuple(markers))
        elif markers:
            # The marker precedes its statement, as in "[1] Net sales fell" or "In [1], net sales fell". The next
            # statement takes over the markers of this empty span.
            yield ClaimSpan(start, start, tuple(markers))


def _trim_markdown(text: str, start: int, end: int) -> tuple[int, int]:
    before = _BEFORE.match(text, start, end)
    start = before.end() if before else start
    after = _AFTER.search(text, start, end)
    return start, after.start() if after else end


def _assign_markers(claims: list[ClaimSpan]) -> Iterator[ClaimSpan]:
    """Yield the statements of a paragraph, each with the ranks of the passages that it cites.

    - Markers before a statement, as in "[1] Net sales fell", are in an empty span and are moved to that statement. If
      no statement follows, they are moved to the last one; without any statement, the empty span is yielded.
    - A statement without markers gets the ranks of the next statement that has markers, or else of the nearest one
      before.
    """
    merged: list[ClaimSpan] = []
    pending: tuple[tuple[int, int, int], ...] = ()
    for claim in claims:
        if claim.start == claim.end:
            pending += claim.markers
            continue
        merged.append(replace(claim, markers=(*pending, *claim.markers)))
        pending = ()
    if pending and merged:
        merged[-1] = replace(merged[-1], markers=(*merged[-1].markers, *pending))
    elif pending:
        yield ClaimSpan(pending[0][0], pending[0][0], pending)
    for position, claim in enumerate(merged):
        neighbours = [*merged[position:], *merged[:position][::-1]]
        markers = next((neighbour.markers for neighbour in neighbours if neighbour.markers), ())
        yield replace(claim, ranks=tuple(rank for _, _, rank in markers))


def _remove_refusals(text: str, claim: ClaimSpan) -> ClaimSpan | None:
    """Return a statement without clauses that say that the sources lack a fact, since no source can support these.

    Such clauses are removed at the beginning and the end of the statement. If no clause is left, return ``None``, or
    the unchanged statement if it has markers, so that the markers are checked.
    """
    clauses = list(_split_clauses(text, claim.start, claim.end))
    kept = [(start, end) for start, end in clauses if not contains_refusal(text[start:end])]
    if len(kept) == len(clauses) or (not kept and claim.markers):
        return claim
    return replace(claim, start=kept[0][0], end=kept[-1][1]) if kept else None


def _split_clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    conceding = _CONCEDING.match(text, start, end)
    for turn in sorted([*_TURN.finditer(text, start, end), *([conceding] if conceding else [])], key=re.Match.end):
        stop = turn.end() if turn is conceding else turn.start()
        if start < stop:
            yield start, stop
            start = turn.end()
    if start < end:
        yield start, end


def _is_structural(text: str, claim: ClaimSpan) -> bool:
    """Return whether a span is a question, heading, introduction of a list, or header or dividing line of a table."""
    said = text[claim.start : claim.end]
    begin = text.rfind("\n", 0, claim.start) + 1
    if _RULE.fullmatch(said) or said.endswith("?") or _HEAD.match(text, begin):
        return True
    line = text[begin:].partition("\n")[0]
    introduces = line.rstrip(" *_").endswith(":") and not _DIGIT.search(line)
    asserts = _ASSERTS.search(line) or _BOLD_FIGURE.match(line)
    return introduces or (_HEADING.fullmatch(line) is not None and not asserts)


def _find_paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of paragraphs; a heading above, and a paragraph of markers below, belong to a paragraph."""
    position = 0
    for gap in _PARAGRAPH.finditer(text):
        following = _PARAGRAPH.search(text, gap.end())
        below = text[gap.end() : following.start() if following else len(text)]
        if MARKER.search(below) and LEADING_WORDS.fullmatch(MARKER.sub("", below)):
            continue
        if _HEADING.fullmatch(text, text.rfind("\n", 0, gap.start()) + 1, gap.start()):
            continue
        yield position, gap.start()
        position = gap.end()
    yield position, len(text)
