"""The markers of a generated text: ``[1]`` in its many forms, and the statements they stand behind."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.text.sentences import sentence_spans
from rag_core.text.words import words
from rag_core.verification.refusals import FIGURE, leaves_open

_OPEN, _CLOSE = "\\\\?[\\[\uff3b\u3010\u3014]", "\\\\?[\\]\uff3d\u3011\u3015]"
_LIST = r"\d+(?:\s*(?:[,;\uFF0C\u3001-]|\u2013|\u2014|\u2010|\u2011|\uFF0D|&|and)\s*\d+)*"
_PAGE = r"(?:\s*[,;:]\s*(?:pages?|pp?\.?|seiten?|s\.)\s*[\w\u2013-]+)?"
_MARKER = re.compile(
    # The dagger is how OpenAI's own file search writes its markers: 【1†source】. Some make a link of theirs.
    rf"{_OPEN}\s*[\^#]?(?:(?:passage|source|document|doc|reference|ref|citation)s?\b[\s.:]*)?({_LIST}){_PAGE}\s*"
    rf"(?:\u2020[^\[\]\u3011\n]*)?{_CLOSE}(?:\((?:#|/|https?:)[^()\s]*\))?"
    rf"|\((?:see\s+)?(?:passage|source)s?\s+({_LIST}){_PAGE}\)|<sup>\s*\[?({_LIST})\]?\s*</sup>",
    re.I,
)
_RANGE = re.compile(r"(\d+)(?:\s*[-\u2013\u2014\u2010\u2011\uFF0D]\s*(\d+))?")
_NORMAL = re.compile(r"\[(\d+)\]")
_GROUP = re.compile(r"\[\d+\](?:[ \t]*\[\d+\])*")
_LONGEST_NUMBER = 6
# What Markdown puts before and after a sentence, and the end of the one before a marker.
_BEFORE = re.compile(r"(?:[\s|>#*_~`•·,;:.!?)\u2013\u2014-]|\d+[.)]\s)*")
_AFTER = re.compile(r"[\s|*_~`]*$")
_RULE = re.compile(r"[\s|:\-=*_#]*$")
_ROW = re.compile(r"^[ \t]*\|.*$", re.M)
# The first row of a table and the rule below it.
_HEAD = re.compile(r"[ \t]*\|.*\n[ \t]*[|:-][ \t|:-]*(?:\n|$)")
# Words that lead to a marker and say nothing themselves, as in "According to [1]," and "Sources: [1][2]".
_LEADING = re.compile(
    r"(?:[\W_]|\b(?:according|also|as|by|cf|citations?|documents?|from|in|of|on|page|passages?(?:\s+\d+)?|per|"
    r"references?|reported|said|see|shown|sources?|stated|the|to|und|and|quellen?)\b)*",
    re.I,
)
_NUMBERED = re.compile(r"^\W*\d+[.)]\s|\b(?:pages?|pp?|seiten?|s)\b\.?\s*[\w\u2013-]+", re.I)
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|(?:\*\*|__)[^*_]+(?:\*\*|__))\s*")
# A line in the form of a heading that says something all the same: a sentence, or an answer in bold.
_ASSERTS = re.compile(
    r"[.!][*_]*\s*$|\b(?:is|are|was|were|has|have|had|will|would|can|cannot|could|must|does|do|did|not|never)\b"
    rf"|[$€£¥%]|\d[.,]\d|{FIGURE}{{3}}"
)
_BOLD_FIGURE = re.compile(rf"\s*[*_].*{FIGURE}")
_DIGIT = re.compile(r"\d")
_PARAGRAPH = re.compile(r"\n\s*\n")
# Where one clause ends and another begins that says something else.
_TURN = re.compile(
    r"[,;:]?\s+(?:but|however|yet|though|although|while|whereas|nevertheless|nonetheless|except|only)\b,?\s*"
    r"|;\s+|\s[\u2013\u2014]\s",
    re.I,
)
_CONCEDING = re.compile(r"(?:even\s+)?(?:although|though|while|since|as)\b[^,]*,\s*", re.I)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer: its span without markers, and the ranks that it cites.

    ``markers`` holds the spans of its own markers by rank; a statement without any borrows the
    ``ranks`` of the next one in its paragraph, or else of the one before.
    """

    start: int
    end: int
    markers: tuple[tuple[int, int, int], ...]
    ranks: tuple[int, ...]


def normalised(text: str, ranks: Sequence[int]) -> str:
    """Put every marker into the form ``[n]``; one that names no rank given goes with the blanks before it.

    ``[1, 2]``, ``[1-3]``, ``【1】``, ``［１］``, ``[passage 1]``, ``(source 1, p. 5)``, ``[1](#1)`` and
    ``<sup>1</sup>`` are understood.
    """
    while True:
        edits = [
            (match.start(), match.end(), "".join(f"[{rank}]" for rank in _named(match[match.lastindex or 1], ranks)))
            for match in _MARKER.finditer(text)
        ]
        rewritten = _rewritten(text, edits)
        # Taking a marker out can leave another behind, as in "[[9]1]".
        if rewritten == text:
            return text
        text = rewritten


def without(text: str, markers: Collection[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The text without the given spans and the blanks that go with them, and the spans that went."""
    removed: list[tuple[int, int]] = []
    for start, end in sorted(markers):
        while start > 0 and text[start - 1] in " \t" and (not removed or start > removed[-1][1]):
            start -= 1
        if start == 0 or text[start - 1] == "\n":
            end = len(text) - len(text[end:].lstrip(" \t"))
        removed.append((start, end))
    kept, position = [], 0
    for start, end in removed:
        kept.append(text[position:start])
        position = end
    return "".join([*kept, text[position:]]), removed


def unlisted(text: str, documents: Collection[str]) -> str:
    """A normalised text without a list of sources at its end: an answer's own are shown with it.

    Its lines hold nothing but markers and numbers of passages, pages, and names of these documents. Where no
    other markers are, they stand for the text above.
    """
    names = {re.escape(name) for one in documents for name in (one, one.removesuffix(".pdf")) if name}
    source = re.compile("|".join([r"\b(?:passage|source)\s+\d+", *sorted(names, key=len, reverse=True)]), re.I)
    lines = text.rstrip().split("\n")
    kept, listed = len(lines), False
    while kept > 1:
        line = _NORMAL.sub("", lines[kept - 1])
        if not _LEADING.fullmatch(_NUMBERED.sub("", source.sub("", line))):
            break
        listed = listed or source.search(line) is not None
        kept -= 1
    if not listed:
        return text
    above = "\n".join(lines[:kept]).rstrip()
    if _NORMAL.search(above):
        return above
    return " ".join([above, *(f"[{number}]" for number in dict.fromkeys(markers_in("\n".join(lines[kept:]))))])


def markers_in(text: str) -> list[int]:
    """The numbers of the markers of a normalised text, in order."""
    return [int(match[1]) for match in _NORMAL.finditer(text)]


def claims(text: str) -> list[Claim]:
    """The statements of a normalised text, in order.

    A statement is a sentence, or the part of one that a group of markers stands behind. Headings,
    lines that introduce a list, rules of tables and what is said to be left open by the sources are none.
    """
    found = [claim for start, end in _paragraphs(text) for claim in _lent(list(_claims(text, start, end)))]
    told = [_beside_what_is_open(text, claim) for claim in found]
    return [claim for claim in told if claim and (claim.markers or not _says_nothing(text, claim))]


def _claims(text: str, begin: int, finish: int) -> Iterator[Claim]:
    # Blanks in place of markers, so that they part no sentence and each offset stays.
    blank = _NORMAL.sub(lambda match: " " * len(match[0]), text[begin:finish])
    cuts: list[tuple[int, list[tuple[int, int, int]]]] = []
    for group in _GROUP.finditer(text, begin, finish):
        markers = [(*one.span(), int(one[1])) for one in _NORMAL.finditer(text, *group.span())]
        cuts.append((group.start(), markers))
    ends = sorted({begin + end for _, end in sentence_spans(blank)} | set(_row_edges(text, begin, finish)))
    position = begin
    while cuts or ends:
        group_start = cuts[0][0] if cuts else finish + 1
        # Markers behind the full stop belong to the sentence before it.
        if ends and ends[0] <= group_start and not (cuts and not text[ends[0] : group_start].strip()):
            end, markers = ends.pop(0), []
        else:
            end, markers = cuts.pop(0)
            while ends and ends[0] <= end:
                ends.pop(0)
        start, stop = _trimmed(text, position, end)
        after = markers[-1][1] if markers else end
        position = max(position, after)
        if start < stop and words(text[start:stop]) and not (markers and _LEADING.fullmatch(text, start, stop)):
            yield Claim(start, stop, tuple(markers), tuple(rank for _, _, rank in markers))
        elif markers:
            # A marker before the words that it stands for, as in "[1] Net sales fell" or "In [1], net sales fell".
            yield Claim(start, start, tuple(markers), tuple(rank for _, _, rank in markers))


def _row_edges(text: str, begin: int, finish: int) -> Iterator[int]:
    """Where the rows of Markdown's tables begin and end."""
    for row in _ROW.finditer(text, begin, finish):
        yield from row.span()


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    before = _BEFORE.match(text, start, end)
    start = before.end() if before else start
    after = _AFTER.search(text, start, end)
    return start, after.start() if after else end


def _lent(found: list[Claim]) -> Iterator[Claim]:
    """Statements with the markers they rest on; markers without words go to the statement behind them."""
    merged: list[Claim] = []
    held: tuple[tuple[int, int, int], ...] = ()
    for claim in found:
        if claim.start == claim.end:
            held += claim.markers
            continue
        markers = (*held, *claim.markers)
        merged.append(Claim(claim.start, claim.end, markers, tuple(rank for _, _, rank in markers)))
        held = ()
    if held and merged:
        last = merged.pop()
        markers = (*last.markers, *held)
        merged.append(Claim(last.start, last.end, markers, tuple(rank for _, _, rank in markers)))
    elif held:
        yield Claim(held[0][0], held[0][0], held, ())
    for position, claim in enumerate(merged):
        lenders = [*merged[position:], *merged[:position][::-1]]
        ranks = next((one.ranks for one in lenders if one.markers), ())
        yield Claim(claim.start, claim.end, claim.markers, ranks)


def _beside_what_is_open(text: str, claim: Claim) -> Claim | None:
    """A statement without the clauses that say what the sources leave open, which stands in none.

    Of one that says nothing else, ``None``; with markers of its own it stays, for its markers to be judged.
    """
    clauses = list(_clauses(text, claim.start, claim.end))
    told = [(start, end) for start, end in clauses if not leaves_open(text[start:end])]
    if len(told) == len(clauses) or (not told and claim.markers):
        return claim
    return replace(claim, start=told[0][0], end=told[-1][1]) if told else None


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    conceding = _CONCEDING.match(text, start, end)
    for turn in sorted([*_TURN.finditer(text, start, end), *([conceding] if conceding else [])], key=re.Match.end):
        stop = turn.end() if turn is conceding else turn.start()
        if start < stop:
            yield start, stop
            start = turn.end()
    if start < end:
        yield start, end


def _says_nothing(text: str, claim: Claim) -> bool:
    said = text[claim.start : claim.end]
    begin = text.rfind("\n", 0, claim.start) + 1
    if _RULE.fullmatch(said) or said.endswith("?") or _HEAD.match(text, begin):
        return True
    line = text[begin:].partition("\n")[0]
    introduces = line.rstrip(" *_").endswith(":") and not _DIGIT.search(line)
    asserts = _ASSERTS.search(line) or _BOLD_FIGURE.match(line)
    return introduces or (_HEADING.fullmatch(line) is not None and not asserts)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Paragraphs, each with the heading above it, and with what names its sources below it."""
    position = 0
    for gap in _PARAGRAPH.finditer(text):
        following = _PARAGRAPH.search(text, gap.end())
        below = text[gap.end() : following.start() if following else len(text)]
        if _NORMAL.search(below) and _LEADING.fullmatch(_NORMAL.sub("", below)):
            continue
        if _HEADING.fullmatch(text, text.rfind("\n", 0, gap.start()) + 1, gap.start()):
            continue
        yield position, gap.start()
        position = gap.end()
    yield position, len(text)


def _named(listed: str, ranks: Sequence[int]) -> list[int]:
    """The ranks that ``1, 3-5`` names, in its order, each once."""
    named: dict[int, None] = {}
    for first, last in _RANGE.findall(listed):
        # int() refuses digits by the thousand, and no passage has such a rank.
        if max(len(first), len(last)) <= _LONGEST_NUMBER:
            low, high = int(first), int(last or first)
            named |= dict.fromkeys(rank for rank in ranks if low <= rank <= high)
    return list(named)


def _rewritten(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Replace spans; one replaced by nothing takes blanks along, those before it or else a line's first."""
    pieces, position = [], 0
    for start, end, replacement in edits:
        before = text[position:start]
        if not replacement:
            before = before.rstrip(" \t")
            if text[:start].rstrip(" \t")[-1:] in ("", "\n"):
                end = len(text) - len(text[end:].lstrip(" \t"))
        pieces += [before, replacement]
        position = end
    return "".join([*pieces, text[position:]])
