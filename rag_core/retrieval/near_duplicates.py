"""Passages that say the same in nearly the same words are shown once, so that the others get a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from rag_core.types import ChunkRow

# Words in a row that are compared as one. So many that in a chunk of the usual size a single other word
# in the middle keeps two apart: they may differ at their ends, where chunks of two documents are cut.
SHINGLE_WORDS = 8
RESEMBLANCE = 0.9
# Of the ranking, so many times the passages wanted are looked at.
LOOKED_AT = 3

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DIGITS = re.compile(r"\d+")
# Figures and negations, in which texts must agree whatever else they share.
# They begin where a word does, which, unlike for \b, is also after an underscore.
_TELLING = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]*\d[^\W_]*(?:['’][^\W_]+)?"
    r"|(?:no|not|nor|never|none|neither|without|cannot|[^\W\d_]+n['’]t)(?![^\W_]))"
)

Shingles = frozenset[tuple[str, ...]]


def fold_near_duplicates(chunks: Sequence[ChunkRow], wanted: int) -> dict[int, tuple[int, ...]]:
    """The first chunks of a ranking that differ, each with those further down that nearly repeat it.

    Two nearly repeat each other where the resemblance of their words, the Jaccard index of their sets of
    shingles, is at least 0.9 (Broder, "On the resemblance and containment of documents", SEQUENCES
    1997), and figures and negations are the same: one other number is other evidence. Chunks that
    overlap on their pages are parts of one text and are never folded.

    Parameters
    ----------
    chunks : sequence of ChunkRow
        Best first.
    wanted : int
        How many that differ are needed; only the first ``3 * wanted`` are compared.

    Returns
    -------
    dict of int to tuple of int
        At most ``wanted`` ids, best first, each with the ids folded into it, in order.
    """
    folded: dict[int, list[int]] = {}
    kept: dict[tuple[str, ...], list[ChunkRow]] = {}
    # Most texts have digits that no other has, so that few need a closer look; where none has any, as in prose,
    # their words tell nearly all apart, at a third of what it takes to compare them as resemblance does.
    words, telling, shingles = cache(_words), cache(_telling), cache(_shingles)
    for chunk in chunks[: LOOKED_AT * wanted]:
        alike = kept.setdefault(tuple(sorted(_DIGITS.findall(chunk.text))), [])
        better = next(
            (
                one
                for one in alike
                if _may_resemble(words(one.text), words(chunk.text))
                and not _overlap(one, chunk)
                and telling(one.text) == telling(chunk.text)
                and _resemble(shingles(one.text), shingles(chunk.text))
            ),
            None,
        )
        if better is not None:
            folded[better.id].append(chunk.id)
        else:
            folded[chunk.id] = []
            alike.append(chunk)
    for chunk in chunks[LOOKED_AT * wanted :]:
        if len(folded) >= wanted:
            break
        folded[chunk.id] = []
    return {one: tuple(repeats) for one, repeats in islice(folded.items(), wanted)}


@dataclass(frozen=True, slots=True)
class _Words:
    """How many words a text has, and which."""

    count: int
    distinct: frozenset[str]


def _words(text: str) -> _Words:
    found = _WORD.findall(text.lower())
    return _Words(len(found), frozenset(found))


def _may_resemble(one: _Words, other: _Words) -> bool:
    """Whether two texts can resemble each other, by the words that one has and the other lacks.

    Each of these begins a shingle that the other lacks as well, but for those among the last words, which begin
    none; and sets of a and b shingles that resemble each other by r differ in (1 - r) / (1 + r) * (a + b).
    """
    most = (1 - RESEMBLANCE) / (1 + RESEMBLANCE) * (one.count + other.count) + SHINGLE_WORDS
    return max(len(one.distinct), len(other.distinct)) - len(one.distinct & other.distinct) <= most


def _shingles(text: str) -> Shingles:
    words = _WORD.findall(text.lower())
    runs = zip(*(words[first:] for first in range(SHINGLE_WORDS)), strict=False)
    return frozenset(runs) or frozenset([tuple(words)])


def _telling(text: str) -> tuple[str, ...]:
    return tuple(sorted(_TELLING.findall(text.lower())))


def _resemble(one: Shingles, other: Shingles) -> bool:
    return len(one & other) >= RESEMBLANCE * len(one | other)


def _overlap(one: ChunkRow, other: ChunkRow) -> bool:
    return (
        one.version_id == other.version_id
        and (one.page_index, one.start) < (other.page_index_end, other.end)
        and (other.page_index, other.start) < (one.page_index_end, one.end)
    )
