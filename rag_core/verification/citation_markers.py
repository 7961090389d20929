"""Citation markers in a generated text: ``[1]`` and the other forms that models write."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rag_core.types.answers import MARKER

_SUFFIX = re.compile(r"\.\w+$")
_OPEN, _CLOSE = "\\\\?[\\[\uff3b\u3010\u3014]", "\\\\?[\\]\uff3d\u3011\u3015]"
_LIST = r"\d+(?:\s*(?:[,;\uFF0C\u3001-]|\u2013|\u2014|\u2010|\u2011|\uFF0D|&|and)\s*\d+)*"
_PAGE = r"(?:\s*[,;:]\s*(?:pages?|pp?\.?|seiten?|s\.)\s*[\w\u2013-]+)?"
_MARKER = re.compile(
    # OpenAI's file search writes markers with a dagger, 【1†source】, and some models write markers as links.
    rf"{_OPEN}\s*[\^#]?(?:(?:passage|source|document|doc|reference|ref|citation)s?\b[\s.:]*)?({_LIST}){_PAGE}\s*"
    rf"(?:\u2020[^\[\]\u3011\n]*)?{_CLOSE}(?:\((?:#|/|https?:)[^()\s]*\))?"
    rf"|\((?:see\s+)?(?:passage|source)s?\s+({_LIST}){_PAGE}\)|<sup>\s*\[?({_LIST})\]?\s*</sup>",
    re.I,
)
_RANGE = re.compile(r"(\d+)(?:\s*[-\u2013\u2014\u2010\u2011\uFF0D]\s*(\d+))?")
_MAX_DIGITS = 6
# Words that only introduce a marker, as in "According to [1]," and "Sources: [1][2]".
LEADING_WORDS = re.compile(
    r"(?:[\W_]|\b(?:according|also|as|by|cf|citations?|documents?|from|in|of|on|page|passages?(?:\s+\d+)?|per|"
    r"references?|reported|said|see|shown|sources?|stated|the|to|und|and|quellen?)\b)*",
    re.I,
)
_NUMBERED = re.compile(r"^\W*\d+[.)]\s|\b(?:pages?|pp?|seiten?|s)\b\.?\s*[\w\u2013-]+", re.I)
# The punctuation at the end of a statement.
_FINAL_PUNCTUATION = re.compile(r"[.!?…:;,]+\Z")


def find_marker_place(text: str, start: int, end: int) -> int:
    """Return the offset at which to insert the markers of a statement that has none: before its final punctuation."""
    ending = _FINAL_PUNCTUATION.search(text, start, end)
    return ending.start() if ending and ending.start() > start else end


def normalize_markers(text: str, ranks: Sequence[int]) -> str:
    """Return a text with every marker rewritten as ``[n]``, once for each known rank in the marker.

    ``ranks`` are the known ranks. Markers without a known rank are removed together with the blanks before them.
    Accepted forms are ``[1, 2]``, ``[1-3]``, ``【1】``, ``［１］``, ``[passage 1]``, ``(source 1, p. 5)``,
    ``[1](#1)`` and ``<sup>1</sup>``.
    """
    while True:
        edits = [
            (
                match.start(),
                match.end(),
                "".join(f"[{rank}]" for rank in _parse_ranks(match[match.lastindex or 1], ranks)),
            )
            for match in _MARKER.finditer(text)
        ]
        rewritten = _replace_spans(text, edits)
        # Removing a marker can create another one, as in "[[9]1]".
        if rewritten == text:
            return text
        text = rewritten


def strip_source_list(text: str, documents: Collection[str]) -> str:
    """Return a normalized text without a list of sources at its end, since the application displays the citations.

    The lines of such a list contain only markers, passage and page numbers, names of ``documents``, and words that
    introduce sources. At least one line names a passage or a document. If the text above the list has no markers, the
    markers of the list are appended to this text.
    """
    names = {re.escape(name) for document in documents for name in (document, _SUFFIX.sub("", document)) if name}
    source = re.compile("|".join([r"\b(?:passage|source)\s+\d+", *sorted(names, key=len, reverse=True)]), re.I)
    lines = text.rstrip().split("\n")
    kept, listed = len(lines), False
    while kept > 1:
        line = MARKER.sub("", lines[kept - 1])
        if not LEADING_WORDS.fullmatch(_NUMBERED.sub("", source.sub("", line))):
            break
        listed = listed or source.search(line) is not None
        kept -= 1
    if not listed:
        return text
    above = "\n".join(lines[:kept]).rstrip()
    if MARKER.search(above):
        return above
    return " ".join([above, *(f"[{number}]" for number in dict.fromkeys(parse_markers("\n".join(lines[kept:]))))])


def parse_markers(text: str) -> list[int]:
    """Return the number in each marker of a normalized text, in order and with repetitions."""
    return [int(match[1]) for match in MARKER.finditer(text)]


def _parse_ranks(listed: str, ranks: Sequence[int]) -> list[int]:
    """Return the known ranks in a list such as ``1, 3-5``, in the order of the list, without duplicates."""
    named: dict[int, None] = {}
    for first, last in _RANGE.findall(listed):
        # Skip very long numbers, because int() rejects them and no passage has such a rank.
        if max(len(first), len(last)) <= _MAX_DIGITS:
            low, high = int(first), int(last or first)
            named |= dict.fromkeys(rank for rank in ranks if low <= rank <= high)
    return list(named)


def _replace_spans(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Return the text with each span (start, end) replaced by the text in the same edit; the edits are ascending.

    If a replacement is empty, the blanks before the span are removed. At the beginning of a line, the blanks after the
    span are removed as well.
    """
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
