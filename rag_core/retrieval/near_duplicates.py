"""Fold near-duplicate chunks, so that a result does not repeat the same text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from rag_core.types import ChunkRow

# Words per shingle. One different word in the middle of a chunk of the usual size prevents folding; differences at the
# ends, where chunks of two documents are cut, do not.
SHINGLE_WORDS = 8
RESEMBLANCE = 0.9
# Number of chunks to compare, as a multiple of the number wanted.
COMPARED_PER_WANTED = 3

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DIGITS = re.compile(r"\d+")
# Numbers and negations, which must be the same in duplicates.
# The lookbehind, unlike \b, also matches after an underscore.
_FIGURES_AND_NEGATIONS = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]*\d[^\W_]*(?:['’][^\W_]+)?"
    r"|(?:no|not|nor|never|none|neither|without|cannot|[^\W\d_]+n['’]t)(?![^\W_]))"
)

Shingles = frozenset[tuple[str, ...]]


def fold_near_duplicates(chunks: Sequence[ChunkRow], wanted: int) -> dict[int, tuple[int, ...]]:
    """Return the first distinct chunks of a ranking, each with its near duplicates further down.

    Two chunks are near duplicates if their resemblance, the Jaccard index of their sets of shingles, is at least
    0.9 (Broder, "On the resemblance and containment of documents", SEQUENCES 1997), and their numbers and
    negations are the same, since a different number is different evidence. Chunks that overlap on their pages are
    never folded.

    Parameters
    ----------
    chunks : sequence of ChunkRow
        Best first.
    wanted : int
        Number of distinct chunks; only the first ``3 * wanted`` chunks are compared.

    Returns
    -------
    dict of int to tuple of int
        At most ``wanted`` ids, best first, each with the ids folded into it, in order.
    """
    folded: dict[int, list[int]] = {}
    kept: dict[tuple[str, ...], list[ChunkRow]] = {}
    # Cheap checks first: the digits tell most texts apart, and in prose without digits the sets of words do.
    words, figures, shingles = cache(_count_words), cache(_find_figures), cache(_find_shingles)
    for chunk in chunks[: COMPARED_PER_WANTED * wanted]:
        same_digits = kept.setdefault(tuple(sorted(_DIGITS.findall(chunk.text))), [])
        original = next(
            (
                one
                for one in same_digits
                if _may_resemble(words(one.text), words(chunk.text))
                and not _has_overlap(one, chunk)
                and figures(one.text) == figures(chunk.text)
                and _is_near_duplicate(shingles(one.text), shingles(chunk.text))
            ),
            None,
        )
        if original is not None:
            folded[original.id].append(chunk.id)
        else:
            folded[chunk.id] = []
            same_digits.append(chunk)
    for chunk in chunks[COMPARED_PER_WANTED * wanted :]:
        if len(folded) >= wanted:
            break
        folded[chunk.id] = []
    return {one: tuple(repeats) for one, repeats in islice(folded.items(), wanted)}


@dataclass(frozen=True, slots=True)
class _WordCount:
    """The number of words of a text, and the set of its words."""

    count: int
    distinct: frozenset[str]


def _count_words(text: str) -> _WordCount:
    words = _WORD.findall(text.lower())
    return _WordCount(len(words), frozenset(words))


def _may_resemble(one: _WordCount, other: _WordCount) -> bool:
    """Return whether two texts can reach `RESEMBLANCE`, judged by their sets of words.

    Each word that only one text has starts a shingle that only this text has, except for the last words, which start
    none. Sets of a and b shingles with the resemblance r differ in (1 - r) / (1 + r) * (a + b) shingles.
    """
    most = (1 - RESEMBLANCE) / (1 + RESEMBLANCE) * (one.count + other.count) + SHINGLE_WORDS
    return max(len(one.distinct), len(other.distinct)) - len(one.distinct & other.distinct) <= most


def _find_shingles(text: str) -> Shingles:
    words = _WORD.findall(text.lower())
    runs = zip(*(words[first:] for first in range(SHINGLE_WORDS)), strict=False)
    return frozenset(runs) or frozenset([tuple(words)])


def _find_figures(text: str) -> tuple[str, ...]:
    return tuple(sorted(_FIGURES_AND_NEGATIONS.findall(text.lower())))


def _is_near_duplicate(one: Shingles, other: Shingles) -> bool:
    return len(one & other) >= RESEMBLANCE * len(one | other)


def _has_overlap(one: ChunkRow, other: ChunkRow) -> bool:
    return (
        one.version_id == other.version_id
        and (one.page_index, one.start) < (other.page_index_end, other.end)
        and (other.page_index, other.start) < (one.page_index_end, one.end)
    )
