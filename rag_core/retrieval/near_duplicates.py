"""Fold near duplicates into the best chunk among them, so that a result does not repeat the same text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from rag_core.types.chunks import ChunkRow

# Number of words per shingle, which is a sequence of consecutive words. With this number, one different word in the
# middle of a chunk of the usual size prevents folding, because the word is part of many shingles. A different word at
# the start or end of a chunk does not prevent folding. Such differences are common, because chunks of two documents are
# cut at different places.
SHINGLE_WORDS = 8
RESEMBLANCE = 0.9
# Number of chunks that are compared, as a multiple of the number of distinct chunks that the caller wants.
COMPARED_PER_WANTED = 3

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DIGITS = re.compile(r"\d+")
# Numbers and negations, which must be the same in near duplicates. The pattern begins with a lookbehind instead of \b,
# because \b does not match between an underscore and a letter or digit.
_FIGURES_AND_NEGATIONS = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]*\d[^\W_]*(?:['’][^\W_]+)?"
    r"|(?:no|not|nor|never|none|neither|without|cannot|[^\W\d_]+n['’]t)(?![^\W_]))"
)

Shingles = frozenset[tuple[str, ...]]


def fold_near_duplicates(chunks: Sequence[ChunkRow], wanted: int) -> dict[int, tuple[int, ...]]:
    """Return the first distinct chunks of a ranking, each with its near duplicates at lower ranks.

    Two chunks are near duplicates if their resemblance is at least `RESEMBLANCE` and their numbers and negations are
    the same. Numbers and negations must be the same because a text with a different number is different evidence. The
    resemblance is the Jaccard index of the sets of shingles (Broder, "On the resemblance and containment of documents",
    SEQUENCES 1997). Chunks that overlap on their pages are never folded.

    Parameters
    ----------
    chunks : sequence of ChunkRow
        Best first.
    wanted : int
        Maximum number of distinct chunks to return. Only the first ``COMPARED_PER_WANTED * wanted`` chunks are
        compared; chunks at lower ranks are never folded.

    Returns
    -------
    dict of int to tuple of int
        The ids of the distinct chunks, best first. Each id is mapped to the ids of its near duplicates, best first.
    """
    folded: dict[int, list[int]] = {}
    kept: dict[tuple[str, ...], list[ChunkRow]] = {}
    # Cheap checks come first: most texts differ in their digits.
    figures, shingles = cache(_find_figures), cache(_find_shingles)
    for chunk in chunks[: COMPARED_PER_WANTED * wanted]:
        same_digits = kept.setdefault(tuple(sorted(_DIGITS.findall(chunk.text))), [])
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
    return {one: tuple(repeats) for one, repeats in islice(folded.items(), wanted)}


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
