"""Group token matches by whole words of the question and of the passage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rag_core.types.explanations import TokenMatch, TokenMatches

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Word:
    """A word of the question, with its share of all weights and its matches in the passage.

    ``spans`` are the offsets, in the embedded text of the passage, of the words that match the tokens of this word.
    ``similarity`` is the mean similarity of these tokens, weighted by their weights.
    """

    text: str
    weight: float
    similarity: float
    spans: tuple[tuple[int, int], ...]


def group_matches_by_word(matches: TokenMatches) -> list[Word]:
    """Return the words of the question that have a weight, each with its matches, in the order of the question."""
    words = []
    for match in _WORD.finditer(matches.question):
        tokens = [one for one in matches.matches if match.start() <= one.start < match.end() and one.weight > 0]
        weight = sum(one.weight for one in tokens)
        if tokens:
            similarity = sum(one.weight * one.similarity for one in tokens) / weight
            spans = tuple(dict.fromkeys(_find_whole_word(matches.text, one) for one in tokens))
            words.append(Word(match.group(), weight, similarity, spans))
    return words


def split_into_segments(text: str, words: list[Word]) -> Iterator[dict[str, Any]]:
    """Yield the text in segments, each with the keys ``s``, ``n`` and ``words``.

    ``s`` is the text of the segment. ``n`` is the contribution of the segment to the score, divided by the largest
    contribution. ``words`` are the positions of the words of the question that match the segment.
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
        # The spans of words do not overlap. The span of a token that is not a word may lie inside the previous span,
        # and is skipped then.
        if at < end:
            span = (start, end)
            yield {"s": text[max(at, start) : end], "n": strength[span] / most, "words": meeting[span]}
        at = max(at, end)
    if at < len(text):
        yield {"s": text[at:], "n": 0.0, "words": []}


def _find_whole_word(text: str, match: TokenMatch) -> tuple[int, int]:
    start, end = match.chunk_start, match.chunk_end
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
