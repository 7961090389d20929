"""Fold near duplicates of a chunk into this chunk, so that a result does not repeat the same text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from rag_core.types.chunks import ChunkRow

# Number of consecutive words of a shingle. One different word in the middle of a chunk of the usual size is part of
# enough shingles to prevent folding. A different word at the start or the end of a chunk, where chunks of two documents
# often differ, is not.
SHINGLE_WORDS = 8
# Minimum Jaccard index of the shingles of near duplicates.
RESEMBLANCE = 0.9
# Number of compared chunks for each wanted distinct chunk.
COMPARED_PER_WANTED = 3
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DIGITS = re.compile(r"\d+")
# Numbers and negations. The pattern does not begin with \b, which would not match after an underscore.
_FIGURES_AND_NEGATIONS = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]*\d[^\W_]*(?:['’][^\W_]+)?"
    r"|(?:no|not|nor|never|none|neither|without|cannot|[^\W\d_]+n['’]t)(?![^\W_]))"
)

Shingles = frozenset[tuple[str, ...]]


def fold_near_duplicates(chunks: Sequence[ChunkRow], wanted: int) -> dict[int, tuple[int, ...]]:
    """Return the first distinct chunks of a ranking, with their near duplicates at lower ranks.

    Two chunks are near duplicates if their resemblance is at least `RESEMBLANCE`, and if their numbers and negations
    are the same. The resemblance is the Jaccard index of the sets of shingles (Broder, "On the resemblance and
    containment of documents", SEQUENCES 1997). Chunks that overlap on their pages are never folded.

    Parameters
    ----------
    chunks : sequence of ChunkRow
        Best first.
    wanted : int
        Maximum number of distinct chunks. Only the first ``COMPARED_PER_WANTED * wanted`` chunks are compared; the
        chunks after these count as distinct.

    Returns
    -------
    dict of int to tuple of int
        The ids of the distinct chunks, best first, each with the ids of its near duplicates, best first.
    """
    folded: dict[int, list[int]] = {}
    by_digits: dict[tuple[str, ...], list[ChunkRow]] = {}
    # Digits are compared first, because this is fast and most texts differ in them.
    figures, shingles = cache(_find_figures), cache(_find_shingles)
    for chunk in chunks[: COMPARED_PER_WANTED * wanted]:
        same_digits = by_digits.setdefault(tuple(sorted(_DIGITS.findall(chunk.text))), [])
        original = next(
            (
                one
                for one in same_digits
                if not _has_overlap(one, chunk)
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
    return {chunk_id: tuple(duplicates) for chunk_id, duplicates in islice(folded.items(), wanted)}


def _find_shingles(text: str) -> Shingles:
    words = _WORD.findall(text.lower())
    shingles = zip(*(words[first:] for first in range(SHINGLE_WORDS)), strict=False)
    return frozenset(shingles) or frozenset([tuple(words)])


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
