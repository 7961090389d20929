"""Group token matches by whole words of the question and of the passage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rag_core.types import TokenMatch, TokenMatches

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Word:
    """A word of the question, with its share of the weights and its matches in the passage.

    ``spans`` are offsets into the embedded text, for each of its tokens with a weight; ``similarity``
    is their weighted mean.
    """

    text: str
    weight: float
    similarity: float
    spans: tuple[tuple[int, int], ...]


def group_matches_by_word(matches: TokenMatches) -> list[Word]:
    """Return the words of the question that have weight, in their order."""
    words = []
    for match in _WORD.finditer(matches.question):
        tokens = [one for one in matches.matches if match.start() <= one.start < match.end() and one.weight > 0]
        weight = sum(one.weight for one in tokens)
        if tokens:
            similarity = sum(one.weight * one.similarity for one in tokens) / weight
            spans = tuple(dict.fromkeys(_whole_word(matches.text, one) for one in tokens))
            words.append(Word(match.group(), weight, similarity, spans))
    return words


def split_into_segments(text: str, words: list[Word]) -> Iterator[dict[str, Any]]:
    """Yield the text in pieces ``{"s", "n", "words"}``.

    ``n`` is the contribution of a piece to the score, relative to the largest, from 0 to 1. ``words``
    are the positions of the question's words that match it.
    """
    strength: dict[tuple[int, int], float] = {}
    meeting: dict[tuple[int, int], list[int]] = {}
    for position, word in enumerate(words):
        for span in word.spans:
            strength[span] = strength.get(span, 0.0) + max(0.0, word.weight * word.similarity) / len(word.spans)
            meeting.setdefault(span, []).append(position)
    most = max(strength.values(), default=0.0) or 1.0
    at = 0
    for start, end in sorted(strength):
        if at < start:
            yield {"s": text[at:start], "n": 0.0, "words": []}
        # Words do not overlap, but a token that is not a word may be inside the previous span.
        if at < end:
            span = (start, end)
            yield {"s": text[max(at, start) : end], "n": strength[span] / most, "words": meeting[span]}
        at = max(at, end)
    if at < len(text):
        yield {"s": text[at:], "n": 0.0, "words": []}


def _whole_word(text: str, match: TokenMatch) -> tuple[int, int]:
    start, end = match.chunk_start, match.chunk_end
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
