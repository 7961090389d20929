"""From a generated text with ``[1]`` in it to citations that can be checked.

A marker survives only if it numbers a passage that was retrieved and a sentence of that passage
shares words with the statement the marker stands behind; that sentence becomes the quote.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.sentences import sentence_spans
from rag_core.types import Citation, Passage

_OPEN, _CLOSE = "[\\[\uff3b\u3010\u3014]", "[\\]\uff3d\u3011\u3015]"
_LIST = r"\d+(?:\s*(?:[,;\uFF0C\u3001-]|\u2013|\u2014|\u2010|\u2011|\uFF0D|&|and)\s*\d+)*"
# The dagger is how OpenAI's own file search writes its markers: 【1†source】.
_MARKER = re.compile(rf"{_OPEN}\s*\^?(?:passages?\s+)?({_LIST})\s*(?:\u2020[^\[\]\u3011\n]*)?{_CLOSE}", re.I)
_RANGE = re.compile(r"(\d+)(?:\s*[-\u2013\u2014\u2010\u2011\uFF0D]\s*(\d+))?")
_NORMAL = re.compile(r"\[(\d+)\]")
_GROUP = re.compile(r"\[\d+\](?:[ \t]*\[\d+\])*")
# Chinese, Japanese and Korean are written without blanks: there each character counts as a word.
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*|[{_CJK}]|[^\W\d_{_CJK}]+")
_LONGEST_NUMBER = 6
# One content word or number; "the" and "of" are shared by any two sentences.
_LEAST_SHARED = 1.0


@dataclass(frozen=True, slots=True)
class _Evidence:
    """A sentence of a passage, as offsets into the passage's text, with the weight of its words."""

    start: int
    end: int
    weights: dict[str, float]


def resolve(text: str, passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
    """Put every marker of a generated text into the form ``[n]`` and back it with a quote.

    Parameters
    ----------
    text : str
        As generated. ``[1, 2]``, ``[1-3]``, ``【1】``, ``［１］`` and ``[passage 1]`` are understood.
    passages : Sequence[Passage]
        Those the text was generated from; a marker is a passage's rank.

    Returns
    -------
    text : str
        The same but for the markers: one that numbers no passage, or whose passage shares no
        content word or number with the statement nor with the sentences around it, is gone
        together with the blanks before it.
    citations : tuple[Citation, ...]
        In order of appearance, one for each marker and quote. Every ``[n]`` in the text has at
        least one. The quote is the sentence of the passage's first page that overlaps most with
        the statement, by Tversky's index over words, numbers weighing most.
    """
    by_rank = {passage.rank: passage for passage in passages}
    evidence = {rank: found for rank, passage in by_rank.items() if (found := _sentences_of(passage))}
    while True:
        text = _normalised(text, sorted(evidence))
        citations, unsupported = _cite(text, by_rank, evidence)
        if not unsupported:
            return text, citations
        text = _rewritten(text, [(start, end, "") for start, end in unsupported])


def _normalised(text: str, ranks: Sequence[int]) -> str:
    while True:
        edits = [
            (match.start(), match.end(), "".join(f"[{rank}]" for rank in _named(match[1], ranks)))
            for match in _MARKER.finditer(text)
        ]
        rewritten = _rewritten(text, edits)
        # Taking a marker out can leave another behind, as in "[[9]1]".
        if rewritten == text:
            return text
        text = rewritten


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


def _cite(
    text: str, by_rank: dict[int, Passage], evidence: dict[int, list[_Evidence]]
) -> tuple[tuple[Citation, ...], list[tuple[int, int]]]:
    citations: dict[tuple[int, int], Citation] = {}
    unsupported = []
    for start, end, statement, context in _statements(text):
        weights, wider = _weights(statement), _weights(context)
        for marker in _NORMAL.finditer(text, start, end):
            rank = int(marker[1])
            best = _best(weights, evidence[rank]) or _best(wider, evidence[rank])
            if best is None:
                unsupported.append(marker.span())
            else:
                citations.setdefault((rank, best.start), Citation.of(by_rank[rank], best.start, best.end))
    return tuple(citations.values()), unsupported


def _statements(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Each group of adjacent markers: start, end, the words it stands behind, the sentences around it.

    A marker in mid-sentence covers what follows the marker before it, unless that holds no word.
    """
    blank = _NORMAL.sub(lambda match: " " * len(match[0]), text)
    spans = sentence_spans(blank)
    starts = [start for start, _ in spans]
    previous = 0
    for group in _GROUP.finditer(text):
        last = len(blank[: group.start()].rstrip())
        at = max(bisect_left(starts, last) - 1, 0)
        begin = starts[at] if starts else 0
        inner = max(begin, previous)
        if not _TOKEN.search(blank, inner, last):
            inner = begin
        around = spans[max(at - 1, 0) : at + 2]
        context = blank[around[0][0] : around[-1][1]] if around else ""
        yield group.start(), group.end(), blank[inner:last], context
        previous = group.end()


def _sentences_of(passage: Passage) -> list[_Evidence]:
    # A citation has one page, and offsets count from ``start`` on the first only.
    part = passage.first_page_text
    return [_Evidence(start, end, _weights(part[start:end])) for start, end in sentence_spans(part)]


def _weights(text: str) -> dict[str, float]:
    """Words of a text and what each is worth: numbers most, short words (mostly function words) least."""
    weights = {}
    for token in _TOKEN.findall(text):
        word = token.casefold()
        if token[0].isdigit():
            weights[word.replace(",", "")] = 3.0
        elif len(token) > 3 or not token.isascii():
            weights[word.removesuffix("s")] = 1.0
        else:
            weights[word] = 1.0 if len(token) > 1 and token.isupper() else 0.2
    return weights


def _best(statement: dict[str, float], candidates: Sequence[_Evidence]) -> _Evidence | None:
    """The candidate closest to the statement by Tversky's index, the first of equals, if any is close."""
    total = sum(statement.values())

    def closeness(candidate: _Evidence) -> float:
        common = sum(weight for word, weight in statement.items() if word in candidate.weights)
        # What the statement says beyond the sentence counts against it in full, the converse little:
        # a table row or a long sentence says more than any one statement.
        surplus = sum(candidate.weights.values()) - common
        return common / (total + 0.2 * surplus) if common >= _LEAST_SHARED else 0.0

    best = max(candidates, key=closeness, default=None)
    return best if best is not None and closeness(best) > 0 else None
